//! The k best next hops towards each ToR, best first (MP-HULA section 2.3).
//!
//! The paper's text compares the least of the known figures and the probe's with every table, which would fill the tables with
//! copies of one figure. What it means, and what is done here, for a probe that makes the path by a port `m` full:
//!
//! - A hop already known takes `m`, up or down (under [`Update::Listing`] only if `m` is lower, as HULA's listing does).
//! - Another takes a free place, or the worst hop's if `m` is lower than its figure. Each hop is in the table once.
//! - The order is kept by as few moves as possible: of two equal hops the one that was ahead stays ahead, as in HULA a tie
//!   keeps the best hop.
//! - Hops not refreshed for longer than T_fail are dropped first. HULA's one entry gives way to the next probe of any other hop;
//!   in a table with room for every hop nobody else wants the place, and a dead hop with a low figure would stay first for ever.
//!
//! With k = 1 this is HULA's rule, decision for decision.

use alloc::{boxed::Box, vec};

use crate::{HulaConfig, Nanos, Port, Tor, Update, hula::SendWindow};

/// Switch bytes per hop: utilisation (2), port (2), time of the update (6).
const BYTES_PER_HOP: usize = 10;

/// Switch bytes per destination ToR: the last-sent time.
const BYTES_PER_TOR: usize = 6;

/// A next hop as probes tell of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Hop {
    port: Port,
    util: u16,
    updated: Nanos,
}

/// How many hops towards a ToR are known, and when its probe was sent on.
#[derive(Clone, Copy, Debug)]
struct Known {
    hops: usize,
    window: SendWindow,
}

/// For each destination ToR, its best next hops.
#[derive(Clone, Debug)]
pub(crate) struct BestHops {
    k: usize,
    /// `k` places for each ToR; those in use are in front, in ascending order.
    places: Box<[Hop]>,
    known: Box<[Known]>,
}

impl BestHops {
    /// Empty tables for `tors` ToRs and `k` hops each, at least 1.
    pub fn new(tors: usize, k: usize) -> BestHops {
        let k = k.max(1);
        let unknown = Known { hops: 0, window: SendWindow::OPEN };
        BestHops {
            k,
            places: vec![Hop::default(); tors * k].into_boxed_slice(),
            known: vec![unknown; tors].into_boxed_slice(),
        }
    }

    /// The hops towards `tor` with their utilisations, best first. Distinct, and at most k.
    pub fn ranked(&self, tor: Tor) -> impl Iterator<Item = (Port, u16)> {
        let tor = usize::from(tor.0);
        let hops = self.known.get(tor).map_or(0, |known| known.hops);
        self.places.iter().skip(tor * self.k).take(hops).map(|hop| (hop.port, hop.util))
    }

    /// Takes in that the path to `tor` by `port` is `util` full. The utilisation of the best path then; `None` for a ToR that does
    /// not exist.
    pub fn offer(
        &mut self,
        now: Nanos,
        tor: Tor,
        port: Port,
        util: u16,
        config: &HulaConfig,
    ) -> Option<u16> {
        let tor = usize::from(tor.0);
        let known = self.known.get_mut(tor)?;
        let places = self.places.get_mut(tor * self.k..)?.get_mut(..self.k)?;
        known.hops = drop_stale(&mut places[..known.hops], now, config.fail_after);
        let news = Hop { port, util, updated: now };
        if let Some(place) = claim_place(places, &mut known.hops, news, config.update) {
            places[place] = news;
            restore_order(&mut places[..known.hops], place);
        }
        Some(places[0].util)
    }

    /// Whether a probe of `tor` may be sent on now ([`SendWindow::claim`]).
    pub fn claim_window(&mut self, now: Nanos, tor: Tor, period: Nanos) -> bool {
        let known = self.known.get_mut(usize::from(tor.0));
        known.is_some_and(|known| known.window.claim(now, period))
    }

    /// Bytes that a switch needs for the tables.
    pub fn state_bytes(&self) -> usize {
        self.places.len() * BYTES_PER_HOP + self.known.len() * BYTES_PER_TOR
    }
}

/// Moves the hops heard of within `fail_after` to the front, in their order, and counts them.
fn drop_stale(hops: &mut [Hop], now: Nanos, fail_after: Nanos) -> usize {
    let mut kept = 0;
    for i in 0..hops.len() {
        if now.saturating_sub(hops[i].updated) <= fail_after {
            hops[kept] = hops[i];
            kept += 1;
        }
    }
    kept
}

/// The place that `news` takes among `places`, the first `known` of them in use; `None` if it changes nothing.
fn claim_place(places: &[Hop], known: &mut usize, news: Hop, update: Update) -> Option<usize> {
    let own = places[..*known].iter().position(|hop| hop.port == news.port);
    if let Some(place) = own {
        return (update == Update::Refresh || news.util < places[place].util).then_some(place);
    }
    if *known < places.len() {
        *known += 1;
        return Some(*known - 1);
    }
    (news.util < places[*known - 1].util).then_some(*known - 1)
}

/// Moves the hop at `place`, the only one that may be out of order, past those that are strictly better or worse.
fn restore_order(hops: &mut [Hop], mut place: usize) {
    while place > 0 && hops[place].util < hops[place - 1].util {
        hops.swap(place, place - 1);
        place -= 1;
    }
    while place + 1 < hops.len() && hops[place + 1].util < hops[place].util {
        hops.swap(place, place + 1);
        place += 1;
    }
}

#[cfg(test)]
mod tests;
