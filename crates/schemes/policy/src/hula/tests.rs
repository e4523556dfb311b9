//! Traces of one switch: probes as input, flowlets as output. Times in nanoseconds, T_p = 200 us,
//! gap = 100 us.

use super::*;
use crate::{
    Ecmp,
    testing::{FakePorts, Random, at, packet, switch_info, tor_info},
};

const US: Nanos = 1_000;
const T_P: Nanos = 200 * US;
const T_FAIL: Nanos = 3 * T_P;
const GAP: Nanos = 100 * US;
const UP: [Port; 2] = [Port(2), Port(3)];
const FAR: Tor = Tor(3);

fn config() -> HulaConfig {
    HulaConfig {
        probe_period: Time::nanos(T_P),
        fail_after: Some(Time::nanos(T_FAIL)),
        flowlet_gap: Time::nanos(GAP),
        flowlet_slots: 64,
        tau: Some(Time::nanos(2 * T_P)),
        util_bits: 8,
        ..HulaConfig::default()
    }
}

/// A switch with fake ports.
struct Rig {
    hula: Hula,
    ports: FakePorts,
}

impl Rig {
    fn new(config: &HulaConfig, info: &SwitchInfo) -> Rig {
        Rig { hula: Hula::new(config, info), ports: FakePorts::default() }
    }

    fn aggregation() -> Rig {
        Rig::new(&config(), &switch_info(1))
    }

    fn hear(&mut self, now: Nanos, arrival: ProbeArrival) -> Option<Probe> {
        self.hula.probe(at(now), &arrival, &mut self.ports)
    }

    /// Best hop and its utilisation after a probe of ToR 3 on `port` with `util`.
    fn best_after(&mut self, now: Nanos, port: u16, util: u16) -> (u16, u16) {
        self.hear(now, arrival(port, FAR, util));
        let (best, util) = self.hula.best_hop(FAR).unwrap();
        (best.0, util)
    }

    /// Output port of a packet of `flow` to ToR 3.
    fn send(&mut self, now: Nanos, flow: u32, hops: &[Port]) -> Port {
        self.hula.forward(at(now), &mut packet(flow, FAR.0), hops, &mut self.ports)
    }
}

fn arrival(port: u16, tor: Tor, util: u16) -> ProbeArrival {
    ProbeArrival { port: Port(port), probe: Probe { tor, util }, is_next_hop: true }
}

#[test]
fn a_lower_probe_replaces_and_a_higher_or_equal_one_does_not() {
    let mut rig = Rig::aggregation();
    assert_eq!(rig.best_after(0, 2, 50), (2, 50), "the first is taken, whatever it says");
    assert_eq!(rig.best_after(1, 3, 60), (2, 50), "higher, from another hop");
    assert_eq!(rig.best_after(2, 3, 50), (2, 50), "a tie keeps the best hop");
    assert_eq!(rig.best_after(3, 3, 49), (3, 49), "lower");
}

#[test]
fn the_best_hop_refreshes_its_own_figure_up_and_down() {
    let mut rig = Rig::aggregation();
    assert_eq!(rig.best_after(0, 2, 50), (2, 50));
    assert_eq!(rig.best_after(T_P, 2, 90), (2, 90), "up");
    assert_eq!(rig.best_after(T_P + 1, 3, 80), (3, 80), "so that another can win");
    assert_eq!(rig.best_after(2 * T_P, 3, 10), (3, 10), "down");
}

#[test]
fn the_printed_listing_keeps_a_stale_low_figure_until_it_ages() {
    let mut rig = Rig::new(&HulaConfig { update: Update::Listing, ..config() }, &switch_info(1));
    assert_eq!(rig.best_after(0, 2, 10), (2, 10));
    for i in 1..=3 {
        assert_eq!(rig.best_after(i * T_P - 1, 2, 200), (2, 10), "its own news is ignored");
        assert_eq!(rig.best_after(i * T_P, 3, 50), (2, 10), "a better hop loses to the past");
    }
    assert_eq!(rig.best_after(T_FAIL + 1, 3, 50), (3, 50));
}

#[test]
fn an_entry_not_refreshed_for_t_fail_is_replaced_by_any_probe() {
    let mut rig = Rig::aggregation();
    rig.best_after(0, 2, 10);
    assert_eq!(rig.best_after(T_FAIL, 3, 255), (2, 10));
    assert_eq!(rig.best_after(T_FAIL + 1, 3, 255), (3, 255));
}

#[test]
fn a_refreshed_entry_does_not_age() {
    let mut rig = Rig::aggregation();
    for i in 0..20 {
        rig.best_after(i * T_P, 2, 10);
        assert_eq!(rig.best_after(i * T_P + 1, 3, 20), (2, 10));
    }
}

#[test]
fn the_path_is_as_full_as_its_fullest_link() {
    let mut rig = Rig::aggregation();
    rig.ports.util[2] = 200 << 8;
    assert_eq!(rig.best_after(0, 2, 50), (2, 200), "this switch's own link, transmit side");
    assert_eq!(rig.best_after(1, 3, 120), (3, 120), "a link further on");
    rig.ports.util[3] = u16::MAX;
    assert_eq!(rig.best_after(2, 3, 0), (3, 255), "8 bits of the header");
}

#[test]
fn a_wider_field_has_a_finer_resolution() {
    let mut rig = Rig::new(&HulaConfig { util_bits: 16, ..config() }, &switch_info(1));
    rig.ports.util = [0x1234; 16];
    assert_eq!(rig.best_after(0, 2, 0), (2, 0x1234));
}

#[test]
fn the_probe_goes_on_with_the_best_figure_not_its_own() {
    let mut rig = Rig::aggregation();
    assert_eq!(rig.hear(0, arrival(2, FAR, 50)), Some(Probe { tor: FAR, util: 50 }));
    assert_eq!(rig.hear(T_P, arrival(3, FAR, 90)), Some(Probe { tor: FAR, util: 50 }));
}

#[test]
fn a_tor_learns_from_a_probe_and_ends_it() {
    let mut rig = Rig::new(&config(), &tor_info(0));
    assert_eq!(rig.hear(0, arrival(2, FAR, 50)), None);
    assert_eq!(rig.hula.best_hop(FAR), Some((Port(2), 50)));
}

#[test]
fn only_a_tor_sends_probes_of_its_own_and_it_ignores_them_when_they_come_back() {
    let mut tor = Rig::new(&config(), &tor_info(0));
    assert_eq!(tor.hula.originate(at(0)), Some(Probe { tor: Tor(0), util: 0 }));
    assert_eq!(tor.hear(5, arrival(2, Tor(0), 0)), None);
    assert_eq!(tor.hula.best_hop(Tor(0)), None);
    assert_eq!(Rig::aggregation().hula.originate(at(0)), None);
}

#[test]
fn a_probe_on_a_port_that_is_no_next_hop_is_counted_and_dropped() {
    let mut rig = Rig::aggregation();
    let stray = ProbeArrival { is_next_hop: false, ..arrival(2, FAR, 0) };
    assert_eq!(rig.hear(0, stray), None);
    assert_eq!(rig.hear(0, arrival(2, Tor(999), 0)), None, "no such ToR");
    assert_eq!(rig.hula.best_hop(FAR), None);
    assert_eq!(rig.hula.counters().probes, 2);
}

/// Number of probes forwarded of those that arrive at `times`.
fn passed(times: impl Iterator<Item = Nanos>) -> u64 {
    let mut rig = Rig::aggregation();
    times.filter_map(|now| rig.hear(now, arrival(2, FAR, 10))).count() as u64
}

#[test]
fn exactly_periodic_probes_all_pass() {
    assert_eq!(passed((0..1000).map(|i| i * T_P)), 1000);
}

#[test]
fn jitter_of_a_sixteenth_of_the_period_costs_nothing() {
    let mut random = Random(1);
    let jitter = T_P / 16;
    let late = |i| i * T_P + u64::from(random.step(0).rnd) % (2 * jitter);
    assert_eq!(passed((0..1000).map(late)), 1000);
}

#[test]
fn of_the_probes_on_many_paths_one_a_period_passes() {
    let mut random = Random(1);
    let arrivals = (0..1000).flat_map(|i| [0, 3, 11, 40].map(|path| i * T_P + path * US));
    assert_eq!(passed(arrivals.clone()), 1000);
    let jittered = arrivals.map(|time| time + u64::from(random.step(0).rnd) % (10 * US));
    let count = passed(jittered);
    assert!((1000..=1143).contains(&count), "between one a period and one a window: {count}");
}

#[test]
fn suppression_is_per_tor() {
    let mut rig = Rig::aggregation();
    for tor in 0..4 {
        assert!(rig.hear(0, arrival(2, Tor(tor), 10)).is_some(), "ToR {tor}");
        assert!(rig.hear(1, arrival(3, Tor(tor), 10)).is_none(), "ToR {tor}, the other path");
    }
}

#[test]
fn a_flowlet_stays_until_a_gap_and_then_takes_the_best_hop() {
    let mut rig = Rig::aggregation();
    rig.best_after(0, 2, 10);
    assert_eq!(rig.send(1, 7, &UP), Port(2));
    rig.best_after(2, 3, 5);
    assert_eq!(rig.send(GAP, 7, &UP), Port(2), "pinned");
    assert_eq!(rig.send(2 * GAP, 7, &UP), Port(2), "a gap as long as the threshold");
    assert_eq!(rig.send(3 * GAP + 1, 7, &UP), Port(3), "moved");
    let counters = rig.hula.counters();
    assert_eq!((counters.flowlets, counters.moves, counters.fallbacks), (2, 1, 0));
}

#[test]
fn flows_that_collide_share_a_flowlet() {
    let mut rig = Rig::new(&HulaConfig { flowlet_slots: 1, ..config() }, &switch_info(1));
    rig.best_after(0, 2, 10);
    assert_eq!(rig.send(1, 7, &UP), Port(2));
    rig.best_after(2, 3, 5);
    assert_eq!(rig.send(3, 8, &UP), Port(2), "another flow, the same slot");
}

#[test]
fn a_collision_never_sends_a_packet_where_it_cannot_go() {
    let mut rig = Rig::new(&HulaConfig { flowlet_slots: 1, ..config() }, &switch_info(1));
    rig.best_after(0, 2, 10);
    assert_eq!(rig.send(1, 7, &UP), Port(2));
    assert_eq!(rig.send(2, 8, &[Port(0)]), Port(0), "down, while the slot says up");
    assert!([Port(0), Port(1)].contains(&rig.send(3, 9, &[Port(0), Port(1)])), "to another pod");
    assert_eq!(rig.send(4, 7, &UP), Port(2));
}

#[test]
fn before_the_first_probe_it_is_ecmp() {
    let mut hula = Rig::aggregation();
    let mut ecmp = Ecmp::new(&(), &switch_info(1));
    for i in 0..64 {
        let flow = mix(i, 5);
        let expected = ecmp.forward(at(0), &mut packet(flow, 3), &UP, &mut FakePorts::default());
        let after_a_gap = u64::from(i) * 2 * GAP;
        assert_eq!(hula.send(after_a_gap, flow, &UP), expected);
    }
    assert_eq!(hula.hula.counters().fallbacks, 64);
}

#[test]
fn with_every_port_down_it_is_ecmp_too() {
    let mut hula = Rig::new(&HulaConfig { local_detection: true, ..config() }, &switch_info(1));
    let mut ecmp = Ecmp::new(&(), &switch_info(1));
    hula.ports.down = [true; 16];
    for flow in (0..64).map(|i| mix(i, 5)) {
        let expected = ecmp.forward(at(0), &mut packet(flow, 3), &UP, &mut FakePorts::default());
        assert_eq!(hula.send(0, flow, &UP), expected);
    }
}

#[test]
fn a_tor_outside_the_fabric_is_reached_by_the_hash() {
    let mut rig = Rig::aggregation();
    let port = rig.hula.forward(at(0), &mut packet(7, 999), &UP, &mut rig.ports);
    assert!(UP.contains(&port));
    assert_eq!(rig.hula.counters().fallbacks, 1);
}

#[test]
fn a_dead_port_is_kept_until_probes_tell_unless_the_switch_looks() {
    for (local_detection, expected) in [(false, Port(2)), (true, Port(3))] {
        let mut rig = Rig::new(&HulaConfig { local_detection, ..config() }, &switch_info(1));
        rig.best_after(0, 2, 10);
        assert_eq!(rig.send(1, 7, &UP), Port(2));
        rig.ports.down[2] = true;
        assert_eq!(rig.send(2, 7, &UP), expected, "the running flowlet");
        for flow in 8..40 {
            assert_eq!(rig.send(3, flow, &UP), expected, "new flowlets");
        }
        let flowlets = rig.hula.counters().flowlets;
        assert_eq!(rig.send(4, 7, &[Port(2)]), Port(2), "nowhere else to go");
        assert_eq!(rig.hula.counters().flowlets, flowlets, "and nothing to choose");
    }
}

#[test]
fn it_holds_16_bytes_a_tor_and_8_a_flowlet() {
    let fabric = SwitchInfo { tors: 10_000, ..switch_info(1) };
    let hula = Hula::new(&HulaConfig { flowlet_slots: 4096, ..config() }, &fabric);
    assert_eq!(hula.state_bytes(), 160_000 + 32_768);
    // Section 2 puts CONGA at 600 Mbit for a fabric of 10 000 ToRs; section 3 HULA in the order of
    // its ToRs.
    let tables = hula.state_bytes() - 32_768;
    assert!(tables * 8 < 600_000_000 / 100);
}
