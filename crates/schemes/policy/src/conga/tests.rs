//! Two leaves and two spines, packet by packet. Leaf `l` reaches spine `s` by port `s`; spine `s`
//! reaches leaf `l` by port `l`.

use alloc::vec::Vec;

use heddle_units::Time;

use super::{
    tag::{PathMetric, Tag},
    *,
};
use crate::{
    Nanos, Tor,
    testing::{FakePorts, Random, at, chi_square, packet, switch_info, tor_info},
};

const UPLINKS: [Port; 2] = [Port(0), Port(1)];
const US: Nanos = 1_000;
const GAP: Nanos = 500 * US;
const AGE: Nanos = 10_000 * US;
/// A link that reads 7 of 7.
const FULL: u16 = u16::MAX;
/// A link that reads 4 of 7.
const HALF: u16 = 4 << 13;

fn config() -> CongaConfig {
    CongaConfig {
        flowlet_gap: Time::nanos(GAP),
        flowlet_slots: 65_536,
        tau: Time::nanos(160 * US),
        metric_bits: 3,
        metric_age: Time::nanos(AGE),
    }
}

struct Switch {
    conga: Conga,
    ports: FakePorts,
}

fn switch(info: &SwitchInfo) -> Switch {
    Switch { conga: Conga::new(&config(), info), ports: FakePorts::default() }
}

struct Fabric {
    leaves: [Switch; 2],
    spines: [Switch; 2],
    random: Random,
}

impl Fabric {
    fn new() -> Fabric {
        Fabric {
            leaves: [0, 1].map(|leaf| switch(&tor_info(leaf))),
            spines: [10, 11].map(|salt| switch(&switch_info(salt))),
            random: Random(1),
        }
    }

    /// Sends a packet of `flow` from leaf `from` to the other, and returns its spine.
    fn send(&mut self, now: Nanos, flow: u32, from: usize) -> usize {
        let to = 1 - from;
        let (src_tor, dst_tor) = (Tor(from as u16), Tor(to as u16));
        let mut packet = Header { src_tor, ..packet(flow, dst_tor.0) };
        let step = self.random.step(now);
        let Switch { conga, ports } = &mut self.leaves[from];
        let spine = usize::from(conga.forward(step, &mut packet, &UPLINKS, ports).0);
        packet.ingress = Ingress::Fabric;
        let Switch { conga, ports } = &mut self.spines[spine];
        conga.forward(step, &mut packet, &[Port(to as u16)], ports);
        self.leaves[to].conga.egress(step, &mut packet);
        assert_eq!(packet.tag, 0, "the host sees no tag");
        spine
    }

    /// Number of new flows from leaf 0 by each spine, one packet each.
    fn spread(&mut self, now: Nanos, flows: core::ops::Range<u32>) -> [u32; 2] {
        let mut counts = [0; 2];
        for flow in flows {
            counts[self.send(now, mix(flow, 99), 0)] += 1;
        }
        counts
    }
}

#[test]
fn an_idle_fabric_is_shared_at_random() {
    let counts = Fabric::new().spread(0, 0..1000);
    assert!(chi_square(&counts) < 10.83, "p < 0.001 for 1 degree: {counts:?}");
}

#[test]
fn a_congested_own_uplink_is_avoided_at_once() {
    let mut fabric = Fabric::new();
    fabric.leaves[0].ports.util[1] = HALF;
    assert_eq!(fabric.spread(0, 0..50), [50, 0]);
}

#[test]
fn feedback_steers_around_congestion_that_the_leaf_cannot_see() {
    let mut fabric = Fabric::new();
    fabric.spines[1].ports.util[1] = HALF;
    let before = fabric.spread(0, 0..50);
    assert!(before[1] > 10, "leaf 0 knows nothing: {before:?}");

    fabric.send(1, 500, 1);
    fabric.send(2, 501, 1);
    assert_eq!(fabric.spread(3, 50..100), [50, 0], "two packets took both metrics home");

    fabric.spines[0].ports.util[1] = FULL;
    fabric.spread(GAP, 100..101);
    fabric.send(GAP, 502, 1);
    assert_eq!(fabric.spread(GAP + 1, 200..250), [0, 50], "7 by spine 0 against 4 by spine 1");
}

#[test]
fn the_mark_is_the_fullest_link_of_the_path() {
    let Fabric { leaves: [mut leaf, _], spines: [mut spine, _], .. } = Fabric::new();
    let mut mark_of = |own: u16, spines: u16| {
        (leaf.ports.util[0], spine.ports.util[1]) = (own << 13, spines << 13);
        let mut packet = packet(7, 1);
        leaf.conga.forward(at(0), &mut packet, &UPLINKS[..1], &mut leaf.ports);
        packet.ingress = Ingress::Fabric;
        spine.conga.forward(at(0), &mut packet, &[Port(1)], &mut spine.ports);
        Tag::decode(packet.tag).path
    };
    assert_eq!(mark_of(0, 0), Some(PathMetric { lbtag: 0, metric: 0 }));
    assert_eq!(mark_of(5, 2), Some(PathMetric { lbtag: 0, metric: 5 }));
    assert_eq!(mark_of(2, 6), Some(PathMetric { lbtag: 0, metric: 6 }));
}

#[test]
fn a_spine_leaves_a_packet_without_ce_alone() {
    let mut spine = switch(&switch_info(1));
    spine.ports.util[1] = FULL;
    let mut packet = Header { ingress: Ingress::Fabric, ..packet(7, 1) };
    spine.conga.forward(at(0), &mut packet, &[Port(1)], &mut spine.ports);
    assert_eq!(packet.tag, 0);
}

#[test]
fn a_flowlet_moves_only_for_a_strictly_better_uplink() {
    let mut fabric = Fabric::new();
    let spine = fabric.send(0, 7, 0);
    let mut now = 0;
    for _ in 0..50 {
        now += GAP + 1;
        assert_eq!(fabric.send(now, 7, 0), spine, "both are idle");
    }
    fabric.leaves[0].ports.util[spine] = 1 << 13;
    assert_eq!(fabric.send(now + GAP, 7, 0), spine, "not before a gap");
    assert_eq!(fabric.send(now + 2 * GAP + 1, 7, 0), 1 - spine);
    let counters = fabric.leaves[0].conga.counters();
    assert_eq!((counters.flowlets, counters.moves), (52, 1));
}

#[test]
fn a_congested_path_is_tried_again_when_its_metric_is_old() {
    let mut fabric = Fabric::new();
    fabric.spines[1].ports.util[1] = FULL;
    fabric.spread(0, 0..50);
    fabric.send(1, 500, 1);
    fabric.send(2, 501, 1);
    assert_eq!(fabric.spread(AGE, 50..100), [50, 0]);
    let retried = fabric.spread(AGE + 3, 100..150);
    assert!(retried[1] > 10, "{retried:?}");
}

#[test]
fn reverse_traffic_does_not_keep_an_old_metric_alive() {
    let mut fabric = Fabric::new();
    fabric.spines[1].ports.util[1] = FULL;
    fabric.spread(0, 0..50);
    for now in (0..=AGE).step_by(100 * US as usize) {
        fabric.send(now, 500, 1);
    }
    assert_eq!(fabric.spread(AGE, 50..100), [50, 0], "fed back again and again");
    for i in 1..=3 {
        fabric.send(AGE + i, 500, 1);
    }
    let retried = fabric.spread(AGE + 4, 100..150);
    assert!(retried[1] > 10, "but leaf 1 had not seen the path for its age: {retried:?}");
}

#[test]
fn more_than_16_uplinks_share_tags_and_are_all_used() {
    let mut leaf = Conga::new(&config(), &tor_info(0));
    let uplinks: Vec<Port> = (0..20).map(Port).collect();
    let (mut used, mut random) = ([false; 20], Random(1));
    for flow in 0..1000 {
        let (step, mut packet) = (random.step(0), packet(mix(flow, 5), 1));
        let port = leaf.forward(step, &mut packet, &uplinks, &mut FakePorts::default());
        used[usize::from(port.0)] = true;
    }
    assert_eq!(used, [true; 20]);
}

#[test]
fn a_leaf_of_512_holds_two_tables_of_the_papers_size() {
    let leaf = Conga::new(&config(), &SwitchInfo { tors: 512, ..tor_info(0) });
    assert_eq!(leaf.metric_bits(), 2 * 24_576, "512 ToRs, 16 uplinks, 3 bits (HULA section 2)");
    assert_eq!(leaf.state_bytes(), 65_536 * 8 + 512 * 41 / 2);
    assert_eq!(Conga::new(&config(), &switch_info(1)).state_bytes(), 0, "a spine");
}
