//! Probes by schedules written by hand: 100 Gbps, 12 us, a target of 12 us, a timeout of 300 us.

use std::vec::Vec;

use heddle_units::{Bytes, Time};

use super::*;
use crate::uet::UetConfig;
use crate::uet::tests::Ends;

/// Ends with a window of so many full packets.
fn ends(window: u64, packets: u64) -> Ends {
    let (window, rto) = (Some(Bytes(window * 4154)), Some(Time::micros(300)));
    Ends::new(UetConfig { probes: true, window, rto, ..UetConfig::default() }, packets * 4096)
}

fn numbers(packets: &[Segment]) -> Vec<u64> {
    packets.iter().map(|packet| packet.data_seq).collect()
}

impl Ends {
    /// So many packets arrive, and are acknowledged.
    fn acknowledged(&mut self, now: u64, packets: &[Segment]) {
        for packet in packets {
            let ack = self.arrives(packet).unwrap();
            self.answered(now, &ack);
        }
    }

    /// The probe that is due.
    fn probe(&mut self, now: u64) -> Segment {
        assert_eq!(self.connection.deadline(), Time::micros(now));
        self.timer(now);
        assert!(self.connection.deadline() > Time::micros(now), "also while the link is not free");
        let sent = self.sent(now);
        assert_eq!((sent.len(), is_probe(&sent[0])), (1, true));
        sent[0]
    }
}

#[test]
fn what_was_sent_before_a_fast_probe_and_did_not_arrive_is_lost() {
    let mut ends = ends(8, 5);
    let packets = ends.sent(0);
    assert_eq!(ends.connection.deadline(), Time::micros(300), "nothing was acknowledged");
    ends.acknowledged(12, &packets[..1]);
    ends.acknowledged(12, &packets[2..4]);
    // Nothing waits: a round trip and the target.
    let probe = ends.probe(36);
    let answer = ends.arrives(&probe).unwrap();
    assert_eq!((answer.kind, answer.seq), (Kind::Ack, 4096));
    ends.answered(48, &answer);
    assert_eq!(numbers(&ends.sent(48)), [1, 4]);
    let counters = ends.connection.counters();
    assert_eq!((counters.retransmitted, counters.timeouts), (2, 0));
}

#[test]
fn a_slow_probe_says_nothing_and_the_last_acknowledgement_ends_them() {
    let mut ends = ends(8, 3);
    let packets = ends.sent(0);
    ends.acknowledged(12, &packets[..2]);
    let probe = ends.probe(36);
    let answer = ends.arrives(&probe).unwrap();
    // Twice the round trip: the packet may wait where the probe has waited.
    ends.answered(60, &answer);
    assert!(ends.sent(60).is_empty());
    assert_eq!(ends.connection.deadline(), Time::micros(84), "the next");
    ends.acknowledged(61, &packets[2..]);
    assert!(ends.connection.is_idle());
    assert_eq!(ends.connection.deadline(), Time::NEVER);
}

#[test]
fn while_data_waits_for_the_window_probes_come_later() {
    let mut ends = ends(2, 9);
    let packets = ends.sent(0);
    ends.acknowledged(12, &packets[..1]);
    assert_eq!(numbers(&ends.sent(12)), [2]);
    // Three round trips after the acknowledgement, then five after each probe.
    for at in [48, 108, 168] {
        ends.probe(at);
    }
    ends.acknowledged(170, &packets[1..]);
    assert_eq!(ends.connection.deadline(), Time::micros(170 + 36));
}
