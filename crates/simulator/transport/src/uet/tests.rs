//! Both ends of a connection, packet by packet.

use alloc::vec;
use std::vec::Vec;

use heddle_units::{Bytes, Rate, Time};

use super::connection::UetConnection;
use super::*;
use crate::{Ecn, Kind, Options, Segment};

/// A connection between hosts of 100 Gbps, 12 us apart.
pub(super) struct Ends {
    pub(super) parameters: UetParameters,
    pub(super) connection: UetConnection,
}

impl Ends {
    pub(super) fn new(config: UetConfig, bytes: u64) -> Ends {
        let parameters = UetParameters::new(&config, Rate::gbps(100));
        let mut connection = UetConnection::new(&parameters);
        connection.write(bytes);
        Ends { parameters, connection }
    }

    /// All packets that may be sent now.
    pub(super) fn sent(&mut self, now: u64) -> Vec<Segment> {
        let Ends { parameters, connection } = self;
        let next = || connection.next_segment(parameters, Time::micros(now)).map(|(_, s)| s);
        std::iter::from_fn(next).collect()
    }

    pub(super) fn arrives(&mut self, packet: &Segment) -> Option<Segment> {
        self.connection.on_segment(&self.parameters, Time::ZERO, 0, packet)
    }

    pub(super) fn all_arrive(&mut self, packets: &[Segment]) {
        for packet in packets {
            self.arrives(packet);
        }
    }

    /// The next grant, if there is one.
    pub(super) fn grant(&mut self) -> Option<(Segment, u64)> {
        let wants = self.connection.wants_credit();
        wants.then(|| self.connection.grant(&self.parameters))
    }

    pub(super) fn answered(&mut self, now: u64, answer: &Segment) {
        self.connection.on_ack(&self.parameters, Time::micros(now), 0, answer);
    }

    pub(super) fn timer(&mut self, now: u64) {
        self.connection.on_timer(&self.parameters, Time::micros(now));
    }
}

/// Number, first byte and bytes of each packet, and true if it requests an acknowledgement.
fn described(packets: &[Segment]) -> Vec<(u64, u64, u16, bool)> {
    packets.iter().map(|p| (p.data_seq, p.seq, p.len, p.window > 0)).collect()
}

fn numbers(packets: &[Segment]) -> Vec<u64> {
    packets.iter().map(|packet| packet.data_seq).collect()
}

/// The part of a packet that a trimming switch forwards.
fn trimmed(packet: &Segment) -> Segment {
    Segment { kind: Kind::Trimmed, len: 0, ..*packet }
}

#[test]
fn the_first_packet_opens_the_connection_and_the_last_acknowledgement_ends_it() {
    let mut ends = Ends::new(UetConfig::default(), 10_000);
    let packets = ends.sent(0);
    let expected = [(0, 0, 4096, false), (1, 4096, 4096, false), (2, 8192, 1808, true)];
    assert_eq!(described(&packets), expected, "no handshake");
    for packet in &packets {
        let ack = ends.arrives(packet).unwrap();
        assert!(!ends.connection.is_idle());
        ends.answered(12, &ack);
    }
    assert_eq!((ends.connection.delivered(), ends.connection.acked()), (10_000, 10_000));
    assert!(ends.connection.is_idle());
    assert_eq!(ends.connection.deadline(), Time::NEVER);
}

#[test]
fn each_packet_is_acknowledged_for_itself_whatever_its_order() {
    let mut ends = Ends::new(UetConfig::default(), 4 * 4096);
    let packets = ends.sent(0);
    // The packet that arrives, the bytes in order, and the bitmap down from that packet.
    for (number, seq, bitmap) in
        [(2, 0, 0b1), (0, 4096, 0b1), (1, 12_288, 0b11), (3, 16_384, 0b1111)]
    {
        let ack = ends.arrives(&packets[number]).unwrap();
        assert_eq!((ack.kind, ack.seq, ack.data_seq), (Kind::Ack, seq, number as u64));
        assert_eq!(ack.options, Options::Received([bitmap, 0]));
        ends.answered(12, &ack);
        assert!(ends.sent(12).is_empty(), "nothing is sent again for what was overtaken");
    }
    let counters = ends.connection.counters();
    assert_eq!((counters.reordered, counters.retransmitted), (2, 0));
    assert!(ends.connection.is_idle());
}

#[test]
fn the_bitmap_makes_up_for_lost_acknowledgements() {
    let mut ends = Ends::new(UetConfig::default(), 4 * 4096);
    let packets = ends.sent(0);
    let [_, _, ack] = [1, 2, 3].map(|number: usize| ends.arrives(&packets[number]).unwrap());
    ends.answered(12, &ack);
    ends.timer(87);
    assert_eq!(numbers(&ends.sent(87)), [0], "the one without an acknowledgement");
}

#[test]
fn a_trimmed_packet_is_refused_and_sent_again_at_once() {
    let mut ends = Ends::new(UetConfig::default(), 3 * 4096);
    let packets = ends.sent(0);
    let nack = ends.arrives(&trimmed(&packets[1])).unwrap();
    assert_eq!((nack.kind, nack.data_seq, nack.seq), (Kind::Nack, 1, 0));
    ends.answered(12, &nack);
    let again = ends.sent(12);
    assert_eq!(described(&again), [(1, 4096, 4096, true)]);
    ends.answered(13, &nack);
    assert!(ends.sent(13).is_empty(), "the NACK is of the first time");
    assert_eq!(ends.connection.counters().retransmitted, 1);
    assert_eq!(ends.connection.counters().fast_recoveries, 0);
    let acks = [&packets[0], &packets[2], &again[0]].map(|packet| ends.arrives(packet).unwrap());
    acks.iter().for_each(|ack| ends.answered(24, ack));
    assert!(ends.connection.is_idle());
    assert_eq!(ends.arrives(&trimmed(&packets[1])).unwrap().kind, Kind::Ack, "it is there already");
}

#[test]
fn a_packet_without_an_answer_is_sent_again_after_the_timeout() {
    let config = UetConfig { rto: Some(Time::micros(50)), ..UetConfig::default() };
    let mut ends = Ends::new(config, 3 * 4096);
    let packets = ends.sent(0);
    for number in [0, 2] {
        let ack = ends.arrives(&packets[number]).unwrap();
        ends.answered(12, &ack);
    }
    assert_eq!(ends.connection.deadline(), Time::micros(50));
    ends.timer(49);
    assert!(ends.sent(49).is_empty());
    ends.timer(50);
    assert_eq!(numbers(&ends.sent(50)), [1]);
    assert_eq!(ends.connection.deadline(), Time::micros(100));
    let late = ends.arrives(&packets[1]).unwrap();
    ends.answered(60, &late);
    assert!(ends.connection.is_idle(), "the first copy was late, not lost");
    assert_eq!(ends.connection.counters().timeouts, 1);
}

#[test]
fn a_fixed_window_holds_so_many_bytes_on_the_wire() {
    let config = UetConfig {
        control: WindowControl::Fixed,
        window: Some(Bytes(3 * 4154)),
        ..UetConfig::default()
    };
    let mut ends = Ends::new(config, 10 * 4096);
    let first = ends.sent(0);
    let requests: Vec<bool> = first.iter().map(|packet| packet.window > 0).collect();
    assert_eq!((numbers(&first), requests), (vec![0, 1, 2], vec![false, false, true]));
    let ack = ends.arrives(&first[1]).unwrap();
    ends.answered(12, &ack);
    assert_eq!(numbers(&ends.sent(12)), [3]);
    let nack = ends.arrives(&trimmed(&first[0])).unwrap();
    ends.answered(13, &nack);
    assert_eq!(numbers(&ends.sent(13)), [0], "a lost packet before a new one");
}

#[test]
fn packets_share_an_acknowledgement_unless_one_is_marked_or_requested() {
    let config = UetConfig { packets_per_ack: 4, ..UetConfig::default() };
    let mut ends = Ends::new(config, 8 * 4096);
    let mut packets = ends.sent(0);
    packets[5].ecn = Ecn::MARK;
    let acks: Vec<_> = packets.iter().map(|packet| ends.arrives(packet)).collect();
    let acked: Vec<_> = acks.iter().flatten().map(|a| (a.data_seq, a.ecn.is_marked())).collect();
    assert_eq!(acked, [(3, false), (5, true), (7, false)]);
    acks.iter().flatten().for_each(|ack| ends.answered(12, ack));
    assert!(ends.connection.is_idle());
}

#[test]
fn the_last_packet_in_a_gap_is_acknowledged_where_an_acknowledgement_was_requested() {
    let config = UetConfig { packets_per_ack: 16, ..UetConfig::default() };
    let mut ends = Ends::new(config, 3 * 4096);
    let packets = ends.sent(0);
    let acked: Vec<_> =
        [2, 1, 0].map(|number: usize| ends.arrives(&packets[number]).map(|ack| ack.seq)).into();
    assert_eq!(acked, [Some(0), None, Some(3 * 4096)]);
}
