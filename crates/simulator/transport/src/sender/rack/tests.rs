//! Traces of a sender with RACK-TLP: times in microseconds, segments of 1000 bytes, a round trip
//! of 100.

use std::vec::Vec;

use super::*;
use crate::{Kind, LossDetection, Options, SackBlock, Timestamp};

const MSS: u64 = 1000;

struct Trace {
    sender: Sender,
    config: TcpConfig,
    now: Time,
}

/// A connection established at 100, with `segments` to send.
fn opened(segments: u64) -> Trace {
    let loss_detection = LossDetection::Rack;
    let config = TcpConfig { mss: MSS as u16, loss_detection, ..TcpConfig::default() };
    let mut sender = Sender::new(&config);
    sender.write(Time::ZERO, segments * MSS);
    let syn = sender.next_segment(&config, Time::ZERO).unwrap();
    let mut trace = Trace { sender, config, now: Time::micros(100) };
    trace.give(&Segment { kind: Kind::SynAck, window: 1 << 20, ..syn });
    trace
}

impl Trace {
    fn give(&mut self, segment: &Segment) {
        self.sender.on_segment(&self.config, self.now, segment);
    }

    /// The numbers of the segments that go out now.
    fn sent(&mut self) -> Vec<u64> {
        let next = || self.sender.next_segment(&self.config, self.now);
        core::iter::from_fn(next).map(|segment| segment.seq / MSS).collect()
    }

    /// An acknowledgement of all before segment `una` and of the ranges in `sacks`, which echoes
    /// the time `echo`.
    fn acknowledgement(una: u64, sacks: &[(u64, u64)], echo: u64) -> Segment {
        let mut blocks = [SackBlock::default(); 3];
        for (block, (from, to)) in blocks.iter_mut().zip(sacks) {
            let (offset, len) = ((from - una) * MSS, (to - from) * MSS);
            *block = SackBlock { offset: offset as u32, len: len as u32 };
        }
        Segment {
            seq: una * MSS,
            timestamp: Timestamp::at(Time::micros(echo)),
            window: 1 << 20,
            options: if sacks.is_empty() { Options::None } else { Options::Sack(blocks) },
            kind: Kind::Ack,
            ..Segment::default()
        }
    }

    fn ack(&mut self, at: u64, una: u64, sacks: &[(u64, u64)], echo: u64) -> Vec<u64> {
        self.now = Time::micros(at);
        self.give(&Trace::acknowledgement(una, sacks, echo));
        self.sent()
    }

    /// The same with a DSACK of segment `duplicate`.
    fn dsack(&mut self, at: u64, una: u64, duplicate: u64) -> Vec<u64> {
        self.now = Time::micros(at);
        let ack = Trace::acknowledgement(una, &[], at - 100);
        self.give(&ack.with_duplicate(&(duplicate * MSS..(duplicate + 1) * MSS)));
        self.sent()
    }

    /// True if the timer is due at `at`, but for the ticks of timestamps.
    fn is_due(&self, at: u64) -> bool {
        self.sender.deadline().0.abs_diff(Time::micros(at).0) < Time::nanos(100).0
    }

    /// Runs the timer, which must be due at `at`.
    fn timer(&mut self, at: u64) -> Vec<u64> {
        assert!(self.is_due(at), "{}", self.sender.deadline());
        self.now = self.sender.deadline();
        self.sender.on_timer(&self.config, self.now);
        self.sent()
    }

    fn cwnd(&self) -> u64 {
        self.sender.cwnd() / MSS
    }
}

/// The example of section 3.4: of P0 to P3 all but the first are lost, and so is P1's
/// retransmission.
#[test]
fn a_probe_shows_a_lost_tail_and_a_lost_retransmission_is_sent_again_without_a_timeout() {
    let mut trace = opened(4);
    assert_eq!(trace.sent(), [0, 1, 2, 3]);
    assert_eq!(trace.ack(200, 1, &[], 100), [0; 0], "event 2: P0 is acknowledged");
    assert_eq!(trace.timer(400), [3], "event 3: two round trips later, a probe");
    assert_eq!(trace.ack(501, 1, &[(3, 4)], 100), [1, 2], "event 5: P1 and P2 are lost");
    assert_eq!(trace.cwnd(), 2, "half of three, and two at least");
    assert_eq!(trace.ack(602, 1, &[(2, 4)], 100), [1], "event 7: P1 is lost again");
    assert_eq!(trace.ack(703, 4, &[], 602), [0; 0], "event 8");
    assert!(trace.sender.is_idle() && trace.sender.deadline() == Time::NEVER);
    let counters = trace.sender.counters();
    assert_eq!((counters.timeouts, counters.retransmitted), (0, 4));
}

#[test]
fn the_third_later_segment_proves_a_loss_and_before_that_the_window_does() {
    let mut trace = opened(10);
    trace.sent();
    assert_eq!(trace.ack(200, 1, &[], 100), [0; 0]);
    trace.ack(201, 1, &[(2, 3)], 100);
    trace.ack(202, 1, &[(2, 4)], 100);
    assert_eq!(trace.ack(203, 1, &[(2, 5)], 100), [1], "sent at 100, RTT 103, no window");

    let mut trace = opened(10);
    trace.sent();
    trace.ack(200, 1, &[], 100);
    trace.ack(201, 1, &[(2, 3)], 100);
    assert_eq!(trace.timer(226), [1], "sent at 100, RTT 101, a quarter of the least RTT");
    assert_eq!(trace.sender.counters().fast_recoveries, 1);
}

#[test]
fn after_reordering_has_been_seen_only_time_proves_a_loss() {
    let mut trace = opened(30);
    trace.sent();
    trace.ack(200, 0, &[(1, 2)], 0);
    trace.ack(201, 2, &[], 100);
    assert_eq!(trace.sender.phase, Phase::Tracked, "0 was late");
    for highest in 4..10 {
        let sent = trace.ack(202, 2, &[(3, highest)], 100);
        assert!(!sent.contains(&2), "{highest} of ten");
    }
    assert_eq!(trace.ack(203, 10, &[], 100).len(), 3, "2 was late");
    assert_eq!(trace.sender.counters().retransmitted, 0);
}

#[test]
fn selective_acknowledgements_grow_the_window_as_cumulative_ones_do() {
    let mut in_order = opened(100);
    in_order.sent();
    (1..=10).for_each(|una| drop(in_order.ack(200, una, &[], 100)));
    let mut reordered = opened(100);
    reordered.sent();
    reordered.ack(200, 0, &[(1, 2)], 0);
    reordered.ack(200, 2, &[], 100);
    (4..=10).for_each(|highest| drop(reordered.ack(200, 2, &[(3, highest)], 100)));
    reordered.ack(200, 10, &[], 100);
    assert_eq!((in_order.cwnd(), reordered.cwnd()), (20, 20));
}

#[test]
fn a_loss_in_the_window_of_a_reduction_causes_no_other_but_a_later_one_does() {
    let mut trace = opened(1000);
    trace.sent();
    trace.ack(200, 0, &[(1, 4)], 0);
    assert_eq!(trace.cwnd(), 5, "0 is lost");
    trace.ack(201, 0, &[(5, 10), (1, 4)], 0);
    assert_eq!(trace.cwnd(), 5, "and 4, of the same window");
    let before = trace.sent();
    assert!(before.is_empty());
    // 0 and 4 were sent again at 200 and 201, and new segments with them. The first is lost again.
    let sent = trace.ack(305, 0, &[(1, 11)], 0);
    assert_eq!((sent.first(), trace.cwnd()), (Some(&0), 2));
    assert_eq!(trace.sender.counters().fast_recoveries, 2);
}

/// Section 6.3: what was sent just before the timer expires is not lost.
#[test]
fn a_timeout_marks_the_first_segment_and_those_that_have_had_their_time() {
    let mut trace = opened(1);
    assert_eq!(trace.sent(), [0]);
    assert_eq!(trace.timer(300), [0], "a probe, lost too");
    trace.now = Time::micros(10_250);
    trace.sender.write(trace.now, MSS);
    assert_eq!(trace.sent(), [1]);
    assert_eq!(trace.timer(10_300), [0]);
    assert_eq!((trace.cwnd(), trace.sender.counters().timeouts), (1, 1));
    assert_eq!(trace.ack(10_350, 0, &[(1, 2)], 0), [0; 0], "it has arrived");
    assert_eq!(trace.ack(10_400, 2, &[], 10_300), [0; 0]);
    assert_eq!(trace.sender.deadline(), Time::NEVER);
}

#[test]
fn a_probe_carries_new_data_if_there_is_any_whatever_the_window() {
    let mut trace = opened(30);
    assert_eq!(trace.sent().len(), 10);
    assert_eq!(trace.timer(300), [10], "beyond the window of ten");
    assert!(trace.is_due(10_300), "one probe, then the other timer");
    trace.ack(400, 10, &[], 100);
    assert_eq!(trace.sender.counters().retransmitted, 0);
}

/// Section 7.4.2.
#[test]
fn a_loss_that_a_probe_repairs_reduces_the_window_and_a_needless_probe_does_not() {
    let mut lost = opened(10);
    lost.sent();
    lost.ack(200, 9, &[], 100);
    assert_eq!(lost.timer(400), [9]);
    assert_eq!(lost.ack(501, 10, &[], 400), [0; 0]);
    assert_eq!(lost.cwnd(), 11, "not known yet");
    lost.sender.write(lost.now, MSS);
    assert_eq!(lost.sent(), [10]);
    lost.ack(600, 11, &[], 500);
    assert_eq!(lost.cwnd(), 2);

    let mut late = opened(10);
    late.sent();
    late.ack(200, 9, &[], 100);
    assert_eq!(late.timer(400), [9]);
    late.ack(401, 10, &[], 100);
    late.dsack(500, 10, 9);
    late.sender.write(late.now, MSS);
    late.sent();
    late.ack(600, 11, &[], 500);
    assert_eq!(late.cwnd(), 11);
}

#[test]
fn probes_wait_while_a_loss_is_suspected_and_for_a_new_sample() {
    let mut trace = opened(10);
    trace.sent();
    assert!(trace.is_due(300), "a probe");
    trace.ack(200, 0, &[(1, 2)], 0);
    assert!(trace.is_due(225), "the reordering timer");
    trace.ack(200, 2, &[], 100);
    assert!(trace.is_due(400), "a probe again");
}

#[test]
fn an_overtaken_acknowledgement_still_tells_of_what_it_delivers() {
    let mut trace = opened(30);
    trace.sent();
    trace.ack(201, 2, &[], 100);
    let sent = trace.ack(202, 1, &[(4, 6)], 0);
    assert_eq!(trace.sender.acked(), 2 * MSS);
    assert_eq!(sent.len(), 3, "two segments have left the network, and the window grows by one");
}
