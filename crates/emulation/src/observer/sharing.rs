//! The links of a connection's subflows, and the time that they took to leave one that failed: of
//! fabrics whose hosts have an address for each subflow.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use serde::Serialize;

use super::Observed;
use crate::addresses::Addresses;

/// Nanoseconds in a span over which links are compared.
const SPAN: u64 = 100_000_000;
/// Frames that make a subflow count as sending in a span.
const LEAST: u64 = 3;

/// Links of connections with two sending subflows or more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sharing {
    /// Connections in a tenth of a second, with two subflows that sent at least three frames.
    pub samples: u64,
    /// Those whose subflows took different links for most of their frames.
    pub apart: u64,
}

/// A subflow whose link failed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Move {
    /// The subflow's sender.
    pub address: Ipv4Addr,
    /// Seconds from the failure until its first data on another link; `None` if there was none.
    pub seconds: Option<f64>,
}

impl Observed {
    /// The number of times that the subflows of a connection took different links between two times
    /// of the monotonic clock, in nanoseconds.
    pub fn sharing(&self, from: u64, to: u64) -> Sharing {
        let mut frames: BTreeMap<(Ipv4Addr, u64), BTreeMap<(Ipv4Addr, u32), u64>> = BTreeMap::new();
        for (&(subflow, hop, millis), &count) in &self.0 {
            let (address, link) = (*subflow.from.ip(), hop.link);
            let at = millis * 1_000_000;
            if (from..to).contains(&at) {
                let connection =
                    frames.entry((Addresses::host_of(address), at / SPAN)).or_default();
                *connection.entry((address, link)).or_default() += count;
            }
        }
        let mut sharing = Sharing::default();
        for links in frames.values().map(main_links).filter(|links| links.len() > 1) {
            sharing.samples += 1;
            let different: BTreeSet<u32> = links.values().copied().collect();
            sharing.apart += u64::from(different.len() == links.len());
        }
        sharing
    }

    /// The subflows that had data on a link in the half second before it failed, and the time until
    /// they had some on another.
    pub fn moves(&self, failed: u32, at: u64) -> Vec<Move> {
        let at = at / 1_000_000;
        let frames =
            || self.0.keys().map(|(subflow, hop, millis)| (*subflow.from.ip(), hop.link, *millis));
        let before = at.saturating_sub(500)..at;
        let on_it = frames().filter(|(_, link, millis)| *link == failed && before.contains(millis));
        let affected: BTreeSet<Ipv4Addr> = on_it.map(|frame| frame.0).collect();
        let moved = |address: Ipv4Addr| {
            let later = frames()
                .filter(|(own, link, millis)| *own == address && *link != failed && *millis > at);
            let first = later.map(|frame| frame.2).min();
            Move { address, seconds: first.map(|millis| (millis - at) as f64 / 1e3) }
        };
        affected.into_iter().map(moved).collect()
    }
}

/// The link that each sending subflow took most.
fn main_links(frames: &BTreeMap<(Ipv4Addr, u32), u64>) -> BTreeMap<Ipv4Addr, u32> {
    let mut most: BTreeMap<Ipv4Addr, (u64, u32)> = BTreeMap::new();
    for (&(address, link), &count) in frames {
        let best = most.entry(address).or_default();
        *best = (count, link).max(*best);
    }
    let sending = most.into_iter().filter(|(_, (count, _))| *count >= LEAST);
    sending.map(|(address, (_, link))| (address, link)).collect()
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddrV4;

    use super::super::{Hop, Subflow};
    use super::*;

    const A: Ipv4Addr = Ipv4Addr::new(10, 1, 1, 1);
    const B: Ipv4Addr = Ipv4Addr::new(10, 1, 1, 2);

    fn observed(seen: &[(Ipv4Addr, u32, u64, u64)]) -> Observed {
        let subflow = |a| Subflow { from: SocketAddrV4::new(a, 1), to: Ipv4Addr::LOCALHOST };
        let hop = |link| Hop { link, to: 0 };
        let seen = seen.iter().map(|&(a, link, at, count)| ((subflow(a), hop(link), at), count));
        Observed(seen.collect())
    }

    #[test]
    fn subflows_of_one_host_are_compared_by_their_main_links() {
        // Apart in the first span, together in the second, one subflow alone in the third.
        let seen = observed(&[
            (A, 1, 10, 5),
            (A, 2, 20, 1),
            (B, 2, 10, 5),
            (A, 1, 110, 5),
            (B, 1, 120, 5),
            (A, 1, 210, 5),
            (B, 2, 210, 2),
        ]);
        assert_eq!(seen.sharing(0, u64::MAX), Sharing { samples: 2, apart: 1 });
        assert_eq!(seen.sharing(100_000_000, u64::MAX), Sharing { samples: 1, apart: 0 });
    }

    #[test]
    fn a_move_is_the_first_data_on_another_link() {
        let seen = observed(&[(A, 1, 900, 5), (A, 2, 1030, 1), (B, 1, 990, 5), (B, 1, 1010, 1)]);
        let moves = seen.moves(1, 1_000_000_000);
        assert_eq!(moves[0], Move { address: A, seconds: Some(0.03) });
        assert_eq!(moves[1], Move { address: B, seconds: None });
        assert!(seen.moves(3, 1_000_000_000).is_empty());
    }
}
