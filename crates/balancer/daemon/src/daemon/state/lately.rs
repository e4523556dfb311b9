//! Statements of other balancers about themselves in their answers to heartbeats, now and lately.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Duration;

use crate::heartbeat::{Conclusion, Liveness};

/// The balancers of which something holds, also after they have died: flows that they placed move to
/// this one then.
#[derive(Clone, Debug, Default)]
pub(super) struct Lately {
    /// Those that answer so.
    now: BTreeSet<IpAddr>,
    /// The time at which each of them was last known to do so.
    last: BTreeMap<IpAddr, Duration>,
}

impl Lately {
    /// Takes in the conclusions of heartbeats at a time.
    pub(super) fn update(
        &mut self,
        conclusions: &BTreeMap<IpAddr, Conclusion>,
        holds: impl Fn(&Conclusion) -> bool,
        time: Duration,
    ) {
        let alive = conclusions.iter().filter(|(_, known)| known.liveness == Liveness::Alive);
        let (holding, others): (Vec<_>, Vec<_>) = alive.partition(|(_, known)| holds(known));
        self.last.extend(self.now.iter().map(|address| (*address, time)));
        for (address, _) in others {
            self.last.remove(address);
        }
        self.now = holding.into_iter().map(|(address, _)| *address).collect();
    }

    /// True if it holds of one, or did when that was last heard, at most `age` ago.
    pub(super) fn have(&self, time: Duration, age: Duration) -> bool {
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
                let conclusion = Conclusion { liveness, tables_changed, ..Conclusion::default() };
                (IpAddr::from([10, 0, 0, n]), conclusion)
            })
            .collect()
    }

    fn update(tables: &mut Lately, known: &[(u8, Liveness, bool)], time: Duration) {
        tables.update(&heard(known), |known| known.tables_changed, time);
    }

    #[test]
    fn a_change_counts_until_its_balancer_says_otherwise() {
        let mut tables = Lately::default();
        assert!(!tables.have(seconds(0), HOUR));
        update(&mut tables, &[(1, Liveness::Alive, true), (2, Liveness::Alive, false)], seconds(1));
        assert!(tables.have(seconds(9000), HOUR));
        update(&mut tables, &[(1, Liveness::Alive, false)], seconds(9000));
        assert!(!tables.have(seconds(9000), HOUR));
    }

    #[test]
    fn the_change_of_a_balancer_that_dies_counts_for_as_long_as_its_flows_live() {
        let mut tables = Lately::default();
        update(&mut tables, &[(1, Liveness::Alive, true)], seconds(1));
        update(&mut tables, &[(1, Liveness::Dead, true)], seconds(5000));
        update(&mut tables, &[], seconds(5001));
        assert!(tables.have(seconds(8600), HOUR));
        assert!(!tables.have(seconds(8601), HOUR));
    }
}
