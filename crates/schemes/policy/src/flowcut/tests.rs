//! Traces of a ToR and of a switch above it.

use super::*;
use crate::testing::{FakePorts, Random, at, chi_square, packet, switch_info, tor_info};
use ReceiveWindow::{Closed, Kept};

const HOPS: [Port; 4] = [Port(0), Port(1), Port(2), Port(3)];
const LOST_AFTER: Nanos = 5_000_000;
const FLOW: u32 = 9;

/// A switch and its ports.
struct Rig {
    switch: Flowcut,
    ports: FakePorts,
}

impl Rig {
    fn new(flow_slots: u32, drain: Option<Drain>, info: &SwitchInfo) -> Rig {
        let drain = drain.unwrap_or(Drain { ratio: 0, after: 0 });
        let config = FlowcutConfig {
            flow_slots,
            lost_after: Time::nanos(LOST_AFTER),
            drain_ratio: drain.ratio as u16,
            drain_after: Bytes(drain.after.into()),
        };
        Rig { switch: Flowcut::new(&config, info), ports: FakePorts::default() }
    }

    fn tor() -> Rig {
        Rig::new(64, None, &tor_info(0))
    }

    /// Makes `port` the only one with an empty queue.
    fn prefer(&mut self, port: u16) {
        self.ports.queue = [3_000; 16];
        self.ports.queue[usize::from(port)] = 0;
    }

    fn forward(&mut self, now: Nanos, mut header: Header, hops: &[Port]) -> (u16, u16) {
        let port = self.switch.forward(at(now), &mut header, hops, &mut self.ports);
        (port.0, header.tag)
    }

    fn sent(
        &mut self,
        now: Nanos,
        flow: u32,
        (seq, bytes, is_syn): (u32, u32, bool),
    ) -> (u16, u16) {
        let numbers = SequenceNumbers::Sent { seq, bytes, is_syn };
        self.switch.segment(at(now), &Segment { out_hash: flow, numbers });
        self.forward(now, packet(flow, 1), &HOPS)
    }

    /// A flow's SYN, number 0. Returns its port.
    fn syn(&mut self, now: Nanos, flow: u32) -> u16 {
        self.sent(now, flow, (0, 1, true)).0
    }

    /// A packet of 1000 bytes from `seq`. Returns its port.
    fn data(&mut self, now: Nanos, flow: u32, seq: u32) -> u16 {
        self.sent(now, flow, (seq, 1_000, false)).0
    }

    fn ack(&mut self, now: Nanos, flow: u32, ack: u32) -> ReceiveWindow {
        let numbers = SequenceNumbers::Acknowledged { ack };
        self.switch.segment(at(now), &Segment { out_hash: flow, numbers })
    }

    /// The port of a flow without an entry.
    fn hashed(&mut self, flow: u32) -> u16 {
        self.switch.hashed(&packet(flow, 1), 0, &HOPS).0
    }
}

#[test]
fn a_flow_keeps_its_port_until_all_is_acknowledged_and_then_takes_the_shortest_queue() {
    let mut rig = Rig::tor();
    rig.prefer(1);
    assert_eq!(rig.syn(0, FLOW), 1);
    rig.prefer(2);
    rig.ack(10, FLOW, 1);
    assert_eq!(rig.data(20, FLOW, 1), 2, "nothing was in flight");
    rig.prefer(3);
    assert_eq!(rig.data(21, FLOW, 1_001), 2, "1000 bytes are in flight");
    rig.ack(30, FLOW, 1_001);
    assert_eq!(rig.data(31, FLOW, 2_001), 2, "the second packet is in flight");
    rig.ack(40, FLOW, 2_001);
    rig.ack(41, FLOW, 2_001);
    assert_eq!(rig.data(42, FLOW, 3_001), 2, "the third packet is in flight");
    rig.ack(50, FLOW, 4_001);
    assert_eq!(rig.data(51, FLOW, 4_001), 3);
    let expected = Counters { flowlets: 3, moves: 2, ..Counters::default() };
    assert_eq!(rig.switch.counters(), expected);
}

#[test]
fn a_lost_packet_keeps_the_path_until_its_retransmission_is_acknowledged() {
    let mut rig = Rig::tor();
    rig.prefer(1);
    rig.syn(0, FLOW);
    (1..=4_001).step_by(1_000).for_each(|seq| assert_eq!(rig.data(10, FLOW, seq), 1));
    rig.prefer(2);
    rig.ack(20, FLOW, 1_001);
    assert_eq!(rig.data(30, FLOW, 1_001), 1, "the second packet again");
    rig.ack(40, FLOW, 4_001);
    assert_eq!(rig.data(41, FLOW, 5_001), 1, "the fifth packet is in flight");
    rig.ack(50, FLOW, 6_001);
    assert_eq!(rig.data(51, FLOW, 6_001), 2);
}

#[test]
fn packets_sent_long_ago_are_not_in_flight() {
    let mut rig = Rig::tor();
    rig.prefer(1);
    assert_eq!(rig.syn(0, FLOW), 1);
    rig.prefer(2);
    assert_eq!(rig.syn(LOST_AFTER, FLOW), 1);
    assert_eq!(rig.syn(2 * LOST_AFTER + 1, FLOW), 2, "counted from the last one");
    rig.prefer(3);
    assert_eq!(rig.syn(2 * LOST_AFTER + 2, FLOW), 2);
}

#[test]
fn sequence_numbers_wrap() {
    let mut rig = Rig::tor();
    rig.prefer(1);
    let last = u32::MAX - 499;
    rig.sent(0, FLOW, (last.wrapping_sub(1), 1, true));
    rig.ack(1, FLOW, last);
    assert_eq!(rig.data(2, FLOW, last), 1);
    rig.prefer(2);
    rig.ack(3, FLOW, last);
    assert_eq!(rig.data(4, FLOW, 500), 1, "1000 bytes across the wrap are in flight");
    rig.ack(5, FLOW, 1_500);
    assert_eq!(rig.data(6, FLOW, 1_500), 2);
}

#[test]
fn acknowledgements_from_hosts_take_the_port_of_their_hash() {
    let mut rig = Rig::tor();
    let port = rig.hashed(7);
    rig.prefer(port ^ 1);
    assert_eq!(rig.forward(0, packet(7, 1), &HOPS), (port, 0));
}

#[test]
fn a_flow_without_a_slot_is_hashed_and_moves_only_when_no_earlier_packet_can_be_in_flight() {
    let mut rig = Rig::new(4, None, &tor_info(0));
    for flow in 0..4 {
        rig.syn(0, flow);
    }
    let hashed = rig.hashed(FLOW);
    rig.prefer(hashed ^ 1);
    assert_eq!([rig.syn(1, FLOW), rig.data(2, FLOW, 1)], [hashed; 2]);
    assert_eq!(rig.switch.counters().fallbacks, 2);
    rig.ack(3, 0, 1);
    assert_eq!(rig.data(4, FLOW, 1_001), hashed, "in the slot of flow 0, beside what went before");
    rig.ack(5, FLOW, 2_001);
    assert_eq!(rig.data(6, FLOW, 2_001), hashed, "the switch cannot know that this was all");
    rig.ack(LOST_AFTER, FLOW, 3_001);
    assert_eq!(rig.data(LOST_AFTER + 4, FLOW, 3_001), hashed ^ 1);
    assert_eq!(rig.switch.counters().fallbacks, 2);
}

#[test]
fn the_slot_of_an_idle_flow_goes_to_another_the_longest_silent_first() {
    let mut rig = Rig::new(4, None, &tor_info(0));
    for flow in 0..4 {
        rig.syn(10 - u64::from(flow), flow);
        rig.ack(20, flow, 1);
    }
    rig.syn(21, FLOW);
    let flows = rig.switch.flows.as_mut().unwrap();
    assert_eq!(
        [0, 1, 2, 3, FLOW].map(|flow| flows.find(flow).is_some()),
        [true, true, true, false, true]
    );
}

#[test]
fn a_port_that_routing_withdraws_is_left() {
    let mut rig = Rig::tor();
    rig.prefer(1);
    rig.syn(0, FLOW);
    let others = [Port(0), Port(2)];
    rig.prefer(2);
    assert_eq!(rig.forward(1, packet(FLOW, 1), &others), (2, 2 << 1 | 1), "its second flowcut");
    assert_eq!(rig.forward(2, packet(FLOW, 1), &HOPS), (2, 2 << 1));
}

/// A packet of flowcut `number` from another switch.
fn transit(number: u16, is_first: bool) -> Header {
    Header { ingress: Ingress::Fabric, tag: number << 1 | u16::from(is_first), ..packet(FLOW, 1) }
}

#[test]
fn the_first_packet_of_a_flowcut_says_so_to_the_switches_above() {
    let mut rig = Rig::tor();
    assert_eq!(rig.sent(0, FLOW, (0, 1, true)).1, 1 << 1 | 1);
    assert_eq!(rig.sent(1, FLOW, (0, 1, true)).1, 1 << 1);
    rig.ack(2, FLOW, 1);
    assert_eq!(rig.sent(3, FLOW, (1, 1_000, false)).1, 2 << 1 | 1);
    let mut left = transit(2, true);
    rig.switch.egress(at(4), &mut left);
    assert_eq!(left.tag, 0, "hosts see none of it");
}

#[test]
fn a_switch_above_chooses_once_for_each_flowcut() {
    let mut rig = Rig::new(64, None, &switch_info(1));
    rig.prefer(1);
    assert_eq!(rig.forward(0, transit(1, true), &HOPS).0, 1);
    rig.prefer(2);
    assert_eq!(rig.forward(1, transit(1, false), &HOPS).0, 1);
    assert_eq!(rig.forward(2, transit(2, true), &HOPS).0, 2);
    rig.prefer(3);
    assert_eq!(rig.forward(3, transit(2, false), &HOPS).0, 2);
    assert_eq!(rig.forward(4, transit(2, false), &[Port(0)]).0, 0, "down, without a choice");
}

#[test]
fn a_flowcut_whose_first_packet_was_lost_below_is_hashed_above() {
    let mut rig = Rig::new(64, None, &switch_info(1));
    let header = transit(3, false);
    let hashed = rig.switch.hashed(&header, 3, &HOPS).0;
    rig.prefer(hashed ^ 1);
    assert_eq!([0, 1].map(|now| rig.forward(now, header, &HOPS).0), [hashed; 2]);
}

#[test]
fn a_switch_above_forgets_a_flowcut_when_its_packets_have_gone() {
    let mut rig = Rig::new(4, None, &switch_info(1));
    let packet_of = |flow_hash, is_first| Header { flow_hash, ..transit(1, is_first) };
    rig.prefer(1);
    for flow in 0..4 {
        rig.forward(0, packet_of(flow, true), &HOPS);
    }
    let fifth = packet_of(FLOW, true);
    let hashed = rig.switch.hashed(&fifth, 1, &HOPS).0;
    rig.prefer(hashed ^ 1);
    assert_eq!(rig.forward(LOST_AFTER, fifth, &HOPS).0, hashed);
    assert_eq!(rig.forward(LOST_AFTER + 1, fifth, &HOPS).0, hashed ^ 1);
}

#[test]
fn equally_short_queues_are_taken_equally_often() {
    let (mut ports, mut random, mut counts) = (FakePorts::default(), Random(1), [0u32; 4]);
    ports.queue[2] = 1;
    for now in 0..30_000 {
        counts[usize::from(least_loaded(random.step(now).rnd, &HOPS, &mut ports).0)] += 1;
    }
    assert_eq!(counts[2], 0);
    let equal = [counts[0], counts[1], counts[3]];
    assert!(chi_square(&equal) < 13.82, "p < 0.001 for 2 degrees: {equal:?}");
}

/// With 10 us at first and 90 us later the mean passes four times the least with the fourth sample
/// of 90: 10, 20, 28.75, 36.4, 43.1.
#[test]
fn a_flow_whose_round_trips_have_grown_is_paused_until_its_bytes_are_acknowledged() {
    let drain = Drain { ratio: 4, after: 3_000 };
    let mut rig = Rig::new(64, Some(drain), &tor_info(0));
    rig.prefer(1);
    rig.syn(0, FLOW);
    rig.ack(5_000, FLOW, 1);
    rig.data(100_000, FLOW, 1);
    rig.data(100_000, FLOW, 1_001);
    assert_eq!(rig.ack(110_000, FLOW, 1_001), Kept);
    let windows = [0, 1, 2, 3].map(|sample: u32| {
        let (now, acked) = (200_000 + u64::from(sample) * 100_000, 2_001 + sample * 2_000);
        assert_eq!(rig.data(now, FLOW, acked), 1);
        // Another packet stays in flight, so that the flowcut goes on.
        rig.sent(now, FLOW, (acked + 1_000, 1_000, false));
        rig.ack(now + 90_000, FLOW, acked + 1_000)
    });
    assert_eq!(windows, [Kept, Kept, Kept, Closed]);
    assert_eq!(rig.ack(600_000, FLOW, 9_500), Closed, "500 bytes are in flight");
    assert_eq!(rig.ack(610_000, FLOW, 10_001), Kept);
    rig.prefer(2);
    assert_eq!(rig.data(620_000, FLOW, 10_001), 2);
    assert_eq!(rig.ack(720_000, FLOW, 10_500), Kept, "the new flowcut has a mean of its own");
}

#[test]
fn flows_without_a_choice_and_young_flowcuts_are_not_paused() {
    let slow = |hops: &[Port], after| {
        let mut rig = Rig::new(64, Some(Drain { ratio: 4, after }), &tor_info(0));
        let mut windows = alloc::vec::Vec::new();
        let send = |rig: &mut Rig, now, seq| {
            let numbers = SequenceNumbers::Sent { seq, bytes: 1_000, is_syn: false };
            rig.switch.segment(at(now), &Segment { out_hash: FLOW, numbers });
            rig.forward(now, packet(FLOW, 1), hops);
        };
        rig.syn(0, FLOW);
        rig.ack(1, FLOW, 1);
        send(&mut rig, 2, 1);
        send(&mut rig, 2, 1_001);
        windows.push(rig.ack(10_002, FLOW, 1_001));
        send(&mut rig, 10_003, 2_001);
        send(&mut rig, 10_003, 3_001);
        windows.push(rig.ack(1_000_000, FLOW, 3_001));
        windows
    };
    assert_eq!(slow(&HOPS, 4_000), [Kept, Closed]);
    assert_eq!(slow(&HOPS, 4_001), [Kept, Kept], "young");
    assert_eq!(slow(&HOPS[..1], 4_000), [Kept, Kept], "no other path");
}

#[test]
fn state() {
    let bytes = |info: &SwitchInfo, drain| Rig::new(65_536, drain, info).switch.state_bytes();
    let drain = Some(Drain { ratio: 4, after: 20_000 });
    assert_eq!(bytes(&tor_info(0), drain), 60 * 65_536);
    assert_eq!(bytes(&tor_info(0), None), 38 * 65_536);
    assert_eq!(bytes(&switch_info(1), drain), 23 * 65_536);
}
