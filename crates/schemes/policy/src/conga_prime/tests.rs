//! Switches of a fabric with two pods: ToRs 0 and 1 in the first, 2 and 3 in the second.

use alloc::vec;

use super::*;
use crate::{
    Nanos,
    testing::{FakePorts, Random, at, chi_square, packet, switch_info, tor_info},
};

const UP: [Port; 2] = [Port(2), Port(3)];
const GAP: Nanos = 100_000;
const FULL: u16 = u16::MAX;

fn config() -> CongaPrimeConfig {
    CongaPrimeConfig {
        flowlet_gap: Time::nanos(GAP),
        flowlet_slots: 1024,
        tau: Time::nanos(160_000),
        metric_bits: 3,
        metric_age: Time::millis(10),
        detection: Detection::EverySwitch,
    }
}

fn detecting(detection: Detection, info: &SwitchInfo) -> CongaPrime {
    let same_pod = vec![true, true, false, false];
    let config = CongaPrimeConfig { detection, ..config() };
    CongaPrime::new(&config, &SwitchInfo { same_pod, ..info.clone() })
}

fn in_first_pod(info: &SwitchInfo) -> CongaPrime {
    detecting(Detection::EverySwitch, info)
}

/// Number of flowlets by each of two uplinks, for 1000 flowlets of different flows from ToR 0 to
/// `dst`.
fn spread(mut tor: CongaPrime, dst: u16, ports: &mut FakePorts) -> [u32; 2] {
    let (mut counts, mut random) = ([0; 2], Random(1));
    for flow in 0..1000u32 {
        let step = random.step(u64::from(flow) * 2 * GAP);
        let mut packet = packet(mix(flow, 5), dst);
        counts[usize::from(tor.forward(step, &mut packet, &UP, ports).0 - 2)] += 1;
    }
    counts
}

fn port_3_full() -> FakePorts {
    let mut ports = FakePorts::default();
    ports.util[3] = FULL;
    ports
}

#[test]
fn inside_the_pod_it_steers_and_across_pods_it_hashes() {
    let inside = spread(in_first_pod(&tor_info(0)), 1, &mut port_3_full());
    assert_eq!(inside, [1000, 0], "to ToR 1: congestion counts");
    let across = spread(in_first_pod(&tor_info(0)), 2, &mut port_3_full());
    assert!(chi_square(&across) < 10.83, "to ToR 2: congestion is not seen: {across:?}");
}

#[test]
fn without_pods_everything_is_hashed() {
    let counts = spread(CongaPrime::new(&config(), &tor_info(0)), 1, &mut port_3_full());
    assert!(chi_square(&counts) < 10.83, "p < 0.001 for 1 degree: {counts:?}");
}

#[test]
fn each_flowlet_of_a_flow_across_pods_is_hashed_anew() {
    let (mut tor, mut random) = (in_first_pod(&tor_info(0)), Random(1));
    let mut ports = FakePorts::default();
    let mut send = |now| tor.forward(random.step(now), &mut packet(9, 3), &UP, &mut ports);
    let mut counts = [0; 2];
    for i in 0..1000 {
        let begin = i * 3 * GAP;
        let port = send(begin);
        assert_eq!(send(begin + GAP), port, "the same flowlet");
        counts[usize::from(port.0 - 2)] += 1;
    }
    assert!(chi_square(&counts) < 10.83, "p < 0.001 for 1 degree: {counts:?}");
}

#[test]
fn tiers_choose_independently_though_both_count_the_same_flowlets() {
    let mut tor = in_first_pod(&tor_info(0));
    let mut aggregation = in_first_pod(&switch_info(77));
    let mut ports = FakePorts::default();
    let mut counts = [0u32; 4];
    for i in 0..4000 {
        let mut packet = packet(9, 3);
        let first = tor.forward(at(i * 2 * GAP), &mut packet, &UP, &mut ports);
        packet.ingress = Ingress::Fabric;
        let second = aggregation.forward(at(i * 2 * GAP), &mut packet, &UP, &mut ports);
        counts[usize::from((first.0 - 2) * 2 + second.0 - 2)] += 1;
    }
    assert!(chi_square(&counts) < 16.27, "p < 0.001 for 3 degrees: {counts:?}");
}

#[test]
fn an_aggregation_switch_marks_packets_of_its_pod_on_their_way_down() {
    let [mut tor_0, mut tor_1] = [0, 1].map(|tor| in_first_pod(&tor_info(tor)));
    let mut aggregation = in_first_pod(&switch_info(77));
    let mut ports = FakePorts::default();
    let mut down = FakePorts { util: [FULL; 16], ..FakePorts::default() };

    // ToR 0 to ToR 1 by port 3: the aggregation switch's link to ToR 1 is full.
    let mut there = packet(9, 1);
    assert_eq!(tor_0.forward(at(0), &mut there, &[Port(3)], &mut ports), Port(3));
    there.ingress = Ingress::Fabric;
    aggregation.forward(at(0), &mut there, &[Port(1)], &mut down);
    tor_1.egress(at(0), &mut there);
    assert_eq!(there.tag, 0);

    // A packet in the other direction feeds it back. Port 3 has index 0 among the next hops, as
    // when the packet left.
    let mut back = Header { src_tor: Tor(1), ..packet(10, 0) };
    tor_1.forward(at(1), &mut back, &UP, &mut ports);
    tor_0.egress(at(1), &mut back);
    for flow in 0..50 {
        let step = at(2);
        let mut packet = packet(mix(flow, 5), 1);
        assert_eq!(tor_0.forward(step, &mut packet, &[Port(3), Port(2)], &mut ports), Port(2));
    }
}

#[test]
fn a_packet_across_pods_carries_no_tag() {
    let mut tor = in_first_pod(&tor_info(0));
    let mut packet = packet(9, 3);
    tor.forward(at(0), &mut packet, &UP, &mut port_3_full());
    assert_eq!(packet.tag, 0);
}

#[test]
fn a_tors_tables_grow_with_its_pod_alone() {
    let tor = in_first_pod(&tor_info(0));
    assert_eq!(tor.state_bytes(), 1024 * 12 + 2 * 41 / 2);
    assert_eq!(in_first_pod(&switch_info(77)).state_bytes(), 1024 * 12);
}

/// The source ToR starts a flowlet after a pause; the switch behind it sees the hash change, and
/// has no pauses of its own.
#[test]
fn one_hash_of_the_source_tor_serves_every_switch() {
    let once = |info: &SwitchInfo| detecting(Detection::SourceTor, info);
    let (mut tor, mut aggregation) = (once(&tor_info(0)), once(&switch_info(77)));
    let mut ports = FakePorts::default();
    let mut counts = [0u32; 4];
    let mut send = |now: Nanos, seen: Nanos| {
        let mut packet = packet(9, 3);
        let first = tor.forward(at(now), &mut packet, &UP, &mut ports);
        packet.ingress = Ingress::Fabric;
        let second = aggregation.forward(at(seen), &mut packet, &UP, &mut ports);
        (first, second, packet.tag)
    };
    for i in 0..4000 {
        let begin = i * 3 * GAP;
        let (first, second, hash) = send(begin, begin);
        assert_eq!(send(begin + GAP, begin + 2 * GAP), (first, second, hash), "a pause on the way");
        counts[usize::from((first.0 - 2) * 2 + second.0 - 2)] += 1;
    }
    assert!(chi_square(&counts) < 16.27, "p < 0.001 for 3 degrees: {counts:?}");
}

/// Inside the pod all is as in CONGA, and a packet from another pod leaves no hash behind.
#[test]
fn one_hash_leaves_traffic_inside_the_pod_alone() {
    let mut tor = detecting(Detection::SourceTor, &tor_info(0));
    let mut ports = port_3_full();
    let mut across = Header { src_tor: Tor(2), ingress: Ingress::Fabric, ..packet(9, 0) };
    across.tag = 7;
    tor.egress(at(0), &mut across);
    assert_eq!(across.tag, 0);
    assert_eq!(spread(tor, 1, &mut ports), [1000, 0], "to ToR 1: congestion counts");
}
