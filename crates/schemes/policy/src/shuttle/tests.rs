//! Traces of one switch. Times in nanoseconds, T_p = 200 us, gap = 100 us, T_fail = 600 us; a queue
//! of 65536 bytes counts as a full link.

use alloc::vec::Vec;

use super::*;
use crate::{
    Ingress, MpHula, MpHulaConfig, MptcpId, Shim, mix,
    testing::{FakePorts, Random, at, packet, switch_info, tor_info},
};

const US: Nanos = 1_000;
const GAP: Nanos = 100 * US;
const UP: [Port; 4] = [Port(2), Port(3), Port(4), Port(5)];
const FAR: Tor = Tor(3);

/// Half a link, by the estimator and by a probe.
const HALF: u16 = 1 << 15;
const HALF_PROBE: u16 = 1 << 7;

fn config(best_k: u8) -> ShuttleConfig {
    ShuttleConfig {
        hula: HulaConfig {
            probe_period: Time::nanos(200 * US),
            fail_after: Some(Time::nanos(600 * US)),
            flowlet_gap: Time::nanos(GAP),
            flowlet_slots: 64,
            tau: Some(Time::nanos(100 * US)),
            util_bits: 8,
            ..HulaConfig::default()
        },
        tables: MptcpTablesConfig {
            best_k,
            mapping_rows: 64,
            association_slots: 64,
            association_idle: Time::millis(10),
        },
        rules: ShuttleRules { range: 1, ..ShuttleRules::default() },
    }
}

fn shim(id: u64, subflow: u8) -> Option<Shim> {
    Some(Shim { id: MptcpId(id), subflow: Subflow::new(subflow).unwrap() })
}

fn with(best_k: u8, edit: impl FnOnce(&mut ShuttleRules)) -> ShuttleConfig {
    let mut config = config(best_k);
    edit(&mut config.rules);
    config
}

/// A switch above the ToRs with fake ports. Its packets have shims added by ToRs.
struct Rig {
    shuttle: Shuttle,
    ports: FakePorts,
    random: Random,
}

impl Rig {
    fn new(config: &ShuttleConfig) -> Rig {
        let shuttle = Shuttle::new(config, &switch_info(1));
        Rig { shuttle, ports: FakePorts::default(), random: Random(1) }
    }

    /// A switch that has heard of `remote` on ports 2, 3, ...
    fn knowing(config: &ShuttleConfig, remote: &[u16]) -> Rig {
        let mut rig = Rig::new(config);
        for (port, util) in (2..).zip(remote) {
            rig.hear(0, port, *util);
        }
        rig
    }

    /// Receives a probe of ToR 3 on `port` with `util`.
    fn hear(&mut self, now: Nanos, port: u16, util: u16) -> Option<Probe> {
        let probe = Probe { tor: FAR, util };
        let arrival = ProbeArrival { port: Port(port), probe, is_next_hop: true };
        self.shuttle.probe(at(now), &arrival, &mut self.ports)
    }

    /// Output port of a packet of `flow` to ToR 3.
    fn send(&mut self, now: Nanos, flow: u32, shim: Option<Shim>) -> u16 {
        let mut packet = Header { ingress: Ingress::Fabric, shim, ..packet(flow, FAR.0) };
        let step = self.random.step(now);
        let port = self.shuttle.forward(step, &mut packet, &UP, &mut self.ports);
        assert_eq!(packet.shim, shim, "between ToRs a shim stays as it is");
        port.0
    }

    /// Flowlets of 10,000 that take port 2.
    fn share_of_port_2(&mut self) -> u32 {
        let mut taken = 0;
        for n in 0..10_000u32 {
            let now = u64::from(n + 1) * (GAP + 1);
            taken += u32::from(self.send(now, 0, None) == 2);
        }
        taken
    }

    fn forget_flowlets(&mut self) {
        self.shuttle.mptcp.forget_flowlets(&self.shuttle.config.hula);
    }

    fn remote(&self) -> Vec<(u16, u16)> {
        self.shuttle.remote_figures(FAR).map(|(port, remote)| (port.0, remote)).collect()
    }
}

/// Four standard deviations of a binomial distribution about `expected` of 10,000.
fn assert_near(taken: u32, expected: f64) {
    let deviation = (expected * (1.0 - expected / 10_000.0)).sqrt();
    assert!((f64::from(taken) - expected).abs() < 4.0 * deviation, "{taken} is not {expected}");
}

#[test]
fn the_remote_figure_is_kept_apart_and_the_least_of_the_paths_goes_on() {
    let mut rig = Rig::new(&config(2));
    rig.ports.util[3] = 40 << 8;
    assert_eq!(rig.hear(0, 2, 50), Some(Probe { tor: FAR, util: 50 }));
    assert_eq!(rig.hear(1, 3, 20), None, "within the window");
    assert_eq!(rig.remote(), [(2, 50), (3, 20)], "without the own link");
    assert_eq!(rig.hear(200 * US, 3, 20), Some(Probe { tor: FAR, util: 40 }), "its own link, now");
    rig.ports.util[3] = 60 << 8;
    assert_eq!(rig.hear(400 * US, 3, 20), Some(Probe { tor: FAR, util: 50 }), "the other path");
}

#[test]
fn a_remote_figure_of_a_half_makes_a_hop_a_fifth_as_likely() {
    // Weights (1 - 0.5)^2 = 1/4 and 1: one flowlet of five.
    assert_near(Rig::knowing(&config(2), &[HALF_PROBE, 0]).share_of_port_2(), 2_000.0);
}

#[test]
fn the_own_utilisation_counts_as_it_is_now() {
    let mut rig = Rig::knowing(&config(2), &[0, 0]);
    assert_near(rig.share_of_port_2(), 5_000.0);
    rig.ports.util[2] = HALF;
    let mut rig = Rig { random: Random(2), ..rig };
    rig.forget_flowlets();
    assert_near(rig.share_of_port_2(), 2_000.0);
    rig.forget_flowlets();
    rig.hear(0, 3, HALF_PROBE);
    assert_near(rig.share_of_port_2(), 5_000.0);
}

#[test]
fn the_own_queue_adds_to_the_cost_and_a_full_hop_is_almost_never_taken() {
    let mut rig = Rig::knowing(&config(2), &[0, 0]);
    rig.ports.queue[2] = 32_768;
    assert_near(rig.share_of_port_2(), 2_000.0);
    rig.forget_flowlets();
    rig.ports.queue[2] = 65_536;
    assert!(rig.share_of_port_2() <= 2, "one in 65537");
    rig.forget_flowlets();
    rig.ports.queue[3] = 200_000;
    assert_near(rig.share_of_port_2(), 5_000.0);
}

/// A range of two full links, as scenarios have it by default.
fn two_links(best_k: u8) -> ShuttleConfig {
    with(best_k, |rules| rules.range = 2)
}

#[test]
fn a_figure_of_two_links_has_the_queue_in_half_the_units() {
    let mut rig = Rig::new(&two_links(2));
    rig.ports.util[2] = HALF;
    rig.ports.queue[2] = 32_768;
    // (1/2 + 1/2) of 2.
    assert_eq!(rig.hear(0, 2, 50), Some(Probe { tor: FAR, util: 128 }));
    rig.ports.queue[2] = 65_536;
    assert_eq!(rig.hear(200 * US, 2, 50), Some(Probe { tor: FAR, util: 192 }), "1.5 of 2");
    rig.ports.queue[2] = u32::MAX;
    assert_eq!(rig.hear(400 * US, 2, 50), Some(Probe { tor: FAR, util: 255 }), "no more than 2");
    assert_eq!(rig.hear(600 * US, 3, 50), Some(Probe { tor: FAR, util: 50 }), "the other path");
    assert_eq!(rig.remote(), [(2, 50), (3, 50)], "without the own link");
}

#[test]
fn two_links_tell_full_hops_apart() {
    // Costs of 1 and 1.5 links are weights of (1 - 1/2)^2 and (1 - 3/4)^2: 4 to 1.
    let mut rig = Rig::knowing(&two_links(2), &[192, 128]);
    assert_near(rig.share_of_port_2(), 2_000.0);
    // An own queue of half a link makes the other alike; an utilisation below the remote figure
    // counts nothing.
    rig.forget_flowlets();
    rig.ports.queue[3] = 32_768;
    rig.ports.util[3] = HALF;
    assert_near(rig.share_of_port_2(), 5_000.0);
}

#[test]
fn of_two_draws_the_less_loaded_port_counts() {
    // The remote figure hides the own load, so both hops weigh the same; port 2 is taken if both
    // draws say so.
    let mut rig = Rig::knowing(&with(2, |rules| rules.draws = 2), &[HALF_PROBE; 2]);
    rig.ports.util[2] = HALF / 2;
    assert_near(rig.share_of_port_2(), 2_500.0);
}

#[test]
fn the_least_cost_is_taken_without_draws_and_of_equals_the_first() {
    let least = with(3, |rules| rules.choice = ShuttleChoice::Least);
    let mut rig = Rig::knowing(&least, &[30, 20, 20]);
    assert_eq!(rig.send(1, 10, None), 3);
    rig.ports.util[3] = 25 << 8;
    assert_eq!(rig.send(2, 11, None), 4);
    rig.ports.queue[4] = 65_536;
    assert_eq!(rig.send(3, 12, None), 3);
}

#[test]
fn subflows_keep_apart_while_a_hop_is_free() {
    let mut roomy = config(3);
    roomy.hula.flowlet_slots = 1 << 16;
    let mut rig = Rig::knowing(&roomy, &[0; 3]);
    for id in 0..20 {
        let now = u64::from(id) * 2 * GAP;
        for port in 2..5 {
            rig.hear(now, port, 0);
        }
        let flow = id << 8;
        let mut taken = [1, 2, 3].map(|n| rig.send(now, flow + u32::from(n), shim(id.into(), n)));
        taken.sort_unstable();
        assert_eq!(taken, [2, 3, 4]);
        assert_eq!(rig.shuttle.counters().shared, u64::from(id));
        rig.send(now, flow + 4, shim(id.into(), 4));
        assert_eq!(rig.shuttle.counters().shared, u64::from(id) + 1, "no hop is free");
    }
}

#[test]
fn a_full_hop_that_is_free_goes_before_an_idle_one_that_is_not() {
    let mut rig = Rig::knowing(&config(2), &[0, 255]);
    let first = rig.send(1, 11, shim(7, 1));
    assert_eq!(rig.send(1, 12, shim(7, 2)), if first == 2 { 3 } else { 2 });
}

#[test]
fn the_first_subflow_may_be_free_and_all_may_be_alike() {
    let least = with(2, |rules| rules.choice = ShuttleChoice::Least);
    for (subflows, ports) in [
        (ShuttleSubflows::Apart, [2, 3]),
        (ShuttleSubflows::FirstFree, [2, 2]),
        (ShuttleSubflows::Alike, [2, 2]),
    ] {
        let mut config = least;
        config.rules.subflows = subflows;
        let mut rig = Rig::knowing(&config, &[0, 9]);
        let taken = [rig.send(1, 12, shim(7, 2)), rig.send(1, 11, shim(7, 1))];
        assert_eq!(taken, ports, "{subflows:?}: the second subflow, then the first");
    }
    for (subflows, port) in [(ShuttleSubflows::Alike, 2), (ShuttleSubflows::FirstFree, 3)] {
        let mut config = least;
        config.rules.subflows = subflows;
        let mut rig = Rig::knowing(&config, &[0, 9]);
        assert_eq!(rig.send(1, 11, shim(7, 1)), 2);
        assert_eq!(rig.send(1, 12, shim(7, 2)), port);
    }
}

#[test]
fn a_running_flowlet_stays_and_a_pause_longer_than_the_gap_ends_it() {
    let least = with(2, |rules| rules.choice = ShuttleChoice::Least);
    let mut rig = Rig::knowing(&least, &[10, 20]);
    assert_eq!(rig.send(1, 10, None), 2);
    rig.ports.queue[2] = 60_000;
    assert_eq!(rig.send(1 + GAP, 10, None), 2);
    assert_eq!(rig.send(2 + 2 * GAP, 10, None), 3);
}

#[test]
fn a_hop_without_probes_leaves_at_the_next_probe_after_t_fail() {
    let mut rig = Rig::knowing(&config(2), &[10, 20]);
    rig.hear(600 * US, 3, 20);
    assert_eq!(rig.remote(), [(2, 10), (3, 20)], "600 us are not longer than T_fail");
    rig.hear(600 * US + 1, 3, 30);
    assert_eq!(rig.remote(), [(3, 30)]);
    assert_eq!(rig.send(600 * US + 2, 10, None), 3);
}

#[test]
fn a_full_table_takes_a_lower_figure_in_place_of_the_highest() {
    let mut rig = Rig::knowing(&config(2), &[30, 40, 50]);
    assert_eq!(rig.remote(), [(2, 30), (3, 40)], "not lower");
    rig.hear(1, 4, 40);
    assert_eq!(rig.remote(), [(2, 30), (3, 40)], "equal");
    rig.hear(2, 4, 39);
    assert_eq!(rig.remote(), [(2, 30), (4, 39)]);
    rig.hear(3, 2, 99);
    assert_eq!(rig.remote(), [(2, 99), (4, 39)], "a hop's own probe counts, up or down");
}

#[test]
fn before_the_first_probe_the_ecmp_hash_selects() {
    let mut rig = Rig::new(&config(2));
    let port = rig.send(1, 10, None);
    assert_eq!(port, UP[crate::pick(mix(10, 1), 4)].0);
    assert_eq!(rig.shuttle.counters().fallbacks, 1);
}

#[test]
fn with_local_detection_ports_that_are_down_do_not_count() {
    let mut looking = config(3);
    looking.hula.local_detection = true;
    let mut rig = Rig::knowing(&looking, &[0; 3]);
    let port = rig.send(1, 10, None);
    rig.ports.down[usize::from(port)] = true;
    let other = rig.send(2, 10, None);
    assert_ne!(other, port, "the running flowlet moves");
    assert!((2..5).contains(&other));
}

#[test]
fn it_holds_what_mp_hula_holds() {
    let shuttle = config(4);
    let mp_hula =
        MpHulaConfig { hula: shuttle.hula, tables: shuttle.tables, ..MpHulaConfig::default() };
    for info in [switch_info(1), tor_info(2)] {
        let bytes = Shuttle::new(&shuttle, &info).state_bytes();
        assert_eq!(bytes, MpHula::new(&mp_hula, &info).state_bytes());
    }
}
