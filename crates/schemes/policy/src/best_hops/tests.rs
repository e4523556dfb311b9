//! Traces of one destination's table, and a simple model of it. Times in nanoseconds, T_fail = 600
//! us.

use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use heddle_units::Time;

const T_FAIL: Nanos = 600_000;
const FAR: Tor = Tor(3);

fn config(update: Update) -> HulaConfig {
    HulaConfig {
        probe_period: Time::nanos(T_FAIL / 3),
        fail_after: Some(Time::nanos(T_FAIL)),
        flowlet_gap: Time::nanos(100_000),
        flowlet_slots: 1,
        tau: Some(Time::nanos(1 << 19)),
        util_bits: 8,
        update,
        ..HulaConfig::default()
    }
}

/// The tables of 4 ToRs under one update rule.
struct Rig {
    table: HopTable,
    config: HulaConfig,
}

impl Rig {
    fn new(k: usize, update: Update) -> Rig {
        Rig { table: HopTable::new(4, k), config: config(update) }
    }

    /// ToR 3's hops, best first, after a probe of the path by `port`.
    fn after(&mut self, now: Nanos, port: u16, util: u16) -> Vec<(u16, u16)> {
        update(&mut self.table, now, FAR, (Port(port), util), &self.config);
        self.table.known(FAR).map(|(port, util)| (port.0, util)).collect()
    }
}

#[test]
fn the_best_k_of_the_hops_are_kept_in_order() {
    let mut rig = Rig::new(3, Update::Refresh);
    assert_eq!(rig.after(0, 1, 50), [(1, 50)]);
    assert_eq!(rig.after(1, 2, 30), [(2, 30), (1, 50)]);
    assert_eq!(rig.after(2, 3, 40), [(2, 30), (3, 40), (1, 50)]);
    assert_eq!(rig.after(3, 4, 60), [(2, 30), (3, 40), (1, 50)], "worse than the worst");
    assert_eq!(rig.after(4, 4, 35), [(2, 30), (4, 35), (3, 40)], "the worst gives way");
}

#[test]
fn the_papers_example() {
    // Section 2.3: k = 3, the second value is 65, a probe has 67: the third slot is replaced, the
    // other two stay.
    let mut rig = Rig::new(3, Update::Refresh);
    for (port, util) in [(1, 60), (2, 65), (3, 70)] {
        rig.after(0, port, util);
    }
    assert_eq!(rig.after(1, 4, 67), [(1, 60), (2, 65), (4, 67)]);
}

#[test]
fn a_known_hop_is_refreshed_up_and_down() {
    let mut rig = Rig::new(3, Update::Refresh);
    for (port, util) in [(1, 10), (2, 20), (3, 30)] {
        rig.after(0, port, util);
    }
    assert_eq!(rig.after(1, 1, 25), [(2, 20), (1, 25), (3, 30)]);
    assert_eq!(rig.after(2, 3, 5), [(3, 5), (2, 20), (1, 25)]);
    assert_eq!(rig.after(3, 3, 99), [(2, 20), (1, 25), (3, 99)]);
}

#[test]
fn the_listing_refreshes_only_downwards() {
    let mut rig = Rig::new(2, Update::Listing);
    rig.after(0, 1, 10);
    assert_eq!(rig.after(1, 2, 20), [(1, 10), (2, 20)]);
    assert_eq!(rig.after(2, 1, 90), [(1, 10), (2, 20)]);
    assert_eq!(rig.after(3, 2, 5), [(2, 5), (1, 10)]);
    assert_eq!(rig.after(T_FAIL + 1, 1, 90), [(2, 5), (1, 90)], "stale");
}

#[test]
fn of_two_equal_hops_the_one_ahead_stays_ahead() {
    let mut rig = Rig::new(2, Update::Refresh);
    rig.after(0, 1, 50);
    assert_eq!(rig.after(1, 2, 50), [(1, 50), (2, 50)]);
    assert_eq!(rig.after(2, 3, 50), [(1, 50), (2, 50)], "a third as good finds no place");
    assert_eq!(rig.after(3, 1, 50), [(1, 50), (2, 50)]);
    assert_eq!(rig.after(4, 2, 40), [(2, 40), (1, 50)]);
    assert_eq!(rig.after(5, 2, 50), [(2, 50), (1, 50)], "up to a tie");
    assert_eq!(rig.after(6, 1, 60), [(2, 50), (1, 60)]);
    assert_eq!(rig.after(7, 1, 50), [(2, 50), (1, 50)], "down to a tie");
}

#[test]
fn a_dead_hop_is_removed_from_a_table_with_free_slots() {
    let mut rig = Rig::new(2, Update::Refresh);
    rig.after(0, 1, 5);
    rig.after(0, 2, 80);
    for now in [T_FAIL / 3, 2 * T_FAIL / 3, T_FAIL] {
        assert_eq!(rig.after(now, 2, 80), [(1, 5), (2, 80)], "hop 1 is silent since 0");
    }
    assert_eq!(rig.after(T_FAIL + 1, 2, 80), [(2, 80)]);
    assert_eq!(rig.after(T_FAIL + 2, 1, 5), [(1, 5), (2, 80)], "back again");
}

#[test]
fn tors_have_tables_of_their_own_and_those_outside_the_fabric_none() {
    let mut rig = Rig::new(2, Update::Refresh);
    assert_eq!(update(&mut rig.table, 0, Tor(0), (Port(1), 10), &rig.config), Some(10));
    assert_eq!(update(&mut rig.table, 0, Tor(4), (Port(1), 10), &rig.config), None);
    assert_eq!(rig.table.known(Tor(0)).count(), 1);
    assert_eq!([1, 2, 3, 4].map(|tor| rig.table.known(Tor(tor)).count()), [0; 4]);
    assert!(!rig.table.try_forward(0, Tor(4), 1));
}

#[test]
fn one_hop_a_tor_takes_hulas_16_bytes() {
    assert_eq!(HopTable::new(10_000, 1).state_bytes(), 160_000);
    assert_eq!(HopTable::new(10_000, 4).state_bytes(), 460_000);
}

/// A simple model of the table, ordered by a stable sort.
#[derive(Default)]
struct Model(Vec<(u16, u16, Nanos)>);

impl Model {
    fn update(&mut self, now: Nanos, port: u16, util: u16, k: usize, update: Update) {
        self.0.retain(|hop| now.saturating_sub(hop.2) <= T_FAIL);
        match self.0.iter_mut().find(|hop| hop.0 == port) {
            Some(hop) if update == Update::Refresh || util < hop.1 => *hop = (port, util, now),
            Some(_) => {}
            None => self.0.push((port, util, now)),
        }
        self.0.sort_by_key(|hop| hop.1);
        self.0.truncate(k);
    }
}

proptest! {
    #[test]
    fn it_agrees_with_the_model(
        k in 1usize..6,
        listing: bool,
        news in prop::collection::vec((0..3 * T_FAIL, 0u16..6, 0u16..8), 1..200),
    ) {
        let update = if listing { Update::Listing } else { Update::Refresh };
        let (mut rig, mut model) = (Rig::new(k, update), Model::default());
        let mut time = 0;
        for (wait, port, util) in news {
            time += wait / 8;
            let best = super::update(&mut rig.table, time, FAR, (Port(port), util), &rig.config);
            model.update(time, port, util, k, update);
            let hops: Vec<_> = rig.table.known(FAR).map(|(port, util)| (port.0, util)).collect();
            let expected: Vec<_> = model.0.iter().map(|hop| (hop.0, hop.1)).collect();
            prop_assert_eq!(&hops, &expected);
            prop_assert_eq!(best, hops.iter().map(|hop| hop.1).min(), "the lowest goes on");
            prop_assert!(hops.len() <= k && hops.is_sorted_by_key(|hop| hop.1));
            prop_assert!(hops.iter().all(|hop| hops.iter().filter(|other| other.0 == hop.0).count() == 1));
        }
    }
}
