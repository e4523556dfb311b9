//! Other balancers whose tables have changed lately, by their answers to heartbeats.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Duration;

use crate::heartbeat::{Conclusion, Liveness};

/// The balancers whose tables have changed, also after they have died: flows that they placed move
/// to this one then.
#[derive(Clone, Debug, Default)]
pub(super) struct PeerTables {
    /// Those that answer so.
    now: BTreeSet<IpAddr>,
    /// The time at which each of them was last known to do so.
    last: BTreeMap<IpAddr, Duration>,
}

impl PeerTables {
    /// Takes in the conclusions of heartbeats at a time.
    pub(super) fn update(&mut self, conclusions: &BTreeMap<IpAddr, Conclusion>, time: Duration) {
        let alive = conclusions.iter().filter(|(_, known)| known.liveness == Liveness::Alive);
        let (changed, same): (Vec<_>, Vec<_>) = alive.partition(|(_, known)| known.tables_changed);
        self.last.extend(self.now.iter().map(|address| (*address, time)));
        for (address, _) in same {
            self.last.remove(address);
        }
        self.now = changed.into_iter().map(|(address, _)| *address).collect();
    }

    /// True if the tables of one have changed, or had when it was last heard, at most `age` ago.
    pub(super) fn have_changed(&self, time: Duration, age: Duration) -> bool {
        !self.now.is_empty() || self.last.values().any(|last| time.saturating_sub(*last) <= age)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn seconds(number: u64) -> Duration {
        Duration::from_secs(number)
    }

    fn heard(known: &[(u8, Liveness, bool)]) -> BTreeMap<IpAddr, Conclusion> {
        let known = known.iter();
        known
            .map(|&(n, liveness, tables_changed)| {
                (IpAddr::from([10, 0, 0, n]), Conclusion { liveness, tables_changed })
            })
            .collect()
    }

    #[test]
    fn a_change_counts_until_its_balancer_says_otherwise() {
        let mut tables = PeerTables::default();
        assert!(!tables.have_changed(seconds(0), HOUR));
        tables
            .update(&heard(&[(1, Liveness::Alive, true), (2, Liveness::Alive, false)]), seconds(1));
        assert!(tables.have_changed(seconds(9000), HOUR));
        tables.update(&heard(&[(1, Liveness::Alive, false)]), seconds(9000));
        assert!(!tables.have_changed(seconds(9000), HOUR));
    }

    #[test]
    fn the_change_of_a_balancer_that_dies_counts_for_as_long_as_its_flows_live() {
        let mut tables = PeerTables::default();
        tables.update(&heard(&[(1, Liveness::Alive, true)]), seconds(1));
        tables.update(&heard(&[(1, Liveness::Dead, true)]), seconds(5000));
        tables.update(&heard(&[]), seconds(5001));
        assert!(tables.have_changed(seconds(8600), HOUR));
        assert!(!tables.have_changed(seconds(8601), HOUR));
    }
}
