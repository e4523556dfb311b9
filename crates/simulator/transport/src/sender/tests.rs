//! Traces of a sender alone: acknowledgements by hand, in segments of 1000 bytes.

use std::vec::Vec;

use super::*;
use crate::{Recovery, SackBlock};

const MSS: u64 = 1000;

struct Trace {
    sender: Sender,
    config: TcpConfig,
    now: Time,
}

/// A connection just opened with `segments` to send and an initial window of 10.
fn opened(recovery: Recovery, segments: u64) -> Trace {
    let config = TcpConfig { mss: MSS as u16, recovery, ..TcpConfig::default() };
    let mut trace = Trace { sender: Sender::new(&config), config, now: Time::ZERO };
    trace.sender.write(trace.now, segments * MSS);
    let syn = trace.sender.next_segment(&config, trace.now).unwrap();
    trace.give(&Segment { kind: Kind::SynAck, window: 1 << 20, ..syn });
    trace
}

impl Trace {
    /// Takes a segment in, a microsecond later.
    fn give(&mut self, segment: &Segment) {
        self.now += Time::micros(1);
        self.sender.on_segment(&self.config, self.now, segment);
    }

    /// The numbers of the segments that go out now.
    fn sent(&mut self) -> Vec<u64> {
        let next = || self.sender.next_segment(&self.config, self.now);
        core::iter::from_fn(next).map(|segment| segment.seq / MSS).collect()
    }

    /// Segments sent after an acknowledgement of all before segment `una` and of the ranges in
    /// `sacks`.
    fn ack(&mut self, una: u64, sacks: &[(u64, u64)]) -> Vec<u64> {
        let mut sack = [SackBlock::default(); 3];
        for (block, (from, to)) in sack.iter_mut().zip(sacks) {
            let (offset, len) = ((from - una) * MSS, (to - from) * MSS);
            *block = SackBlock { offset: offset as u32, len: len as u32 };
        }
        let timestamp = Timestamp::at(self.now);
        let (seq, kind) = (una * MSS, Kind::Ack);
        let options = if sacks.is_empty() { Options::None } else { Options::Sack(sack) };
        self.give(&Segment {
            seq,
            timestamp,
            window: 1 << 20,
            options,
            kind,
            ..Segment::default()
        });
        self.sent()
    }

    fn time_out(&mut self) -> Vec<u64> {
        self.now = self.sender.deadline();
        self.sender.on_timer(&self.config, self.now);
        self.sent()
    }
}

#[test]
fn without_loss_nothing_is_allocated() {
    let mut trace = opened(Recovery::Sack, 100);
    assert_eq!(trace.sent(), (0..10).collect::<Vec<_>>());
    for una in 1..100 {
        assert!(trace.ack(una, &[]).len() <= 2);
    }
    assert!(trace.sender.recovery.is_none());
    assert!(size_of::<Sender>() <= 192, "three cache lines");
}

#[test]
fn sack_recovery_by_rfc_6675_section_5() {
    let mut trace = opened(Recovery::Sack, 1000);
    trace.sent();
    assert_eq!(trace.ack(1, &[]), [10, 11]);
    // Segment 1 is lost. A window of 11, and pipe falls by one with each duplicate: limited
    // transmit.
    assert_eq!(trace.ack(1, &[(2, 3)]), [12]);
    assert_eq!(trace.ack(1, &[(2, 4)]), [13]);
    assert_eq!(trace.ack(1, &[(2, 5)]), [1], "the third");
    assert_eq!(trace.sender.cwnd(), 5500, "half of 11: limited transmit does not count");
    // Pipe is 10: nine not lost and one sent again. It has to fall to 4 for another segment.
    for highest in 6..11 {
        assert!(trace.ack(1, &[(2, highest)]).is_empty());
    }
    assert_eq!(trace.ack(1, &[(2, 11)]), [14]);
    assert_eq!(trace.ack(1, &[(2, 12)]), [15]);
    assert_eq!(trace.ack(1, &[(2, 13)]), [16]);
    assert_eq!(trace.ack(1, &[(2, 14)]), [17]);
    // The repair arrives: all that was sent before it is acknowledged, and 14 to 17 are in flight.
    assert_eq!(trace.ack(14, &[]), [18]);
    assert_eq!(trace.sender.phase, Phase::Open);
    assert_eq!(trace.sender.cwnd(), 5500);
}

#[test]
fn without_new_data_a_hole_that_may_be_lost_is_sent_again() {
    let mut trace = opened(Recovery::Sack, 6);
    trace.sent();
    assert!(trace.ack(0, &[(1, 2)]).is_empty());
    assert!(trace.ack(0, &[(1, 3)]).is_empty());
    assert_eq!(trace.ack(0, &[(1, 4)]), [0]);
    // Only one segment above 4 has arrived: not lost yet, but there is nothing better to send
    // (NextSeg's rule 3).
    assert_eq!(trace.ack(0, &[(5, 6), (1, 4)]), [4]);
    // Rule 4, once: the highest in flight, whether it was sent again before or not.
    assert_eq!(trace.ack(4, &[(5, 6)]), [4]);
    assert!(trace.ack(4, &[(5, 6)]).is_empty());
    assert!(trace.ack(6, &[]).is_empty());
    assert!(trace.sender.is_idle());
}

#[test]
fn an_old_or_repeated_acknowledgement_is_no_duplicate_with_sack() {
    let mut trace = opened(Recovery::Sack, 1000);
    trace.sent();
    trace.ack(5, &[]);
    for una in [5, 4, 5, 3, 5, 5] {
        assert!(trace.ack(una, &[]).is_empty());
    }
    assert_eq!(trace.sender.phase, Phase::Open);
}

#[test]
fn newreno_recovery_by_rfc_6582_section_3_2() {
    let mut trace = opened(Recovery::NewReno, 1000);
    trace.sent();
    // Segments 0 and 3 are lost.
    assert_eq!([trace.ack(0, &[]), trace.ack(0, &[])].concat(), [10, 11], "limited transmit");
    assert_eq!(trace.ack(0, &[]), [0], "the third duplicate: the window is 5, inflated to 8");
    for _ in 0..4 {
        assert!(trace.ack(0, &[]).is_empty(), "inflated to 12, and 12 are in flight");
    }
    assert_eq!(trace.ack(0, &[]), [12]);
    assert_eq!([trace.ack(0, &[]), trace.ack(0, &[])].concat(), [13, 14]);
    // Inflated to 15. The partial acknowledgement deflates it by 3 and adds 1 back; 12 are in
    // flight.
    assert_eq!(trace.ack(3, &[]), [3, 15]);
    assert_eq!([trace.ack(3, &[]), trace.ack(3, &[]), trace.ack(3, &[])].concat(), [16, 17, 18]);
    assert_eq!(trace.ack(15, &[]), [19], "all that was in flight at the start: five are now");
    assert_eq!(trace.sender.phase, Phase::Open);
    assert_eq!(trace.sender.counters().fast_recoveries, 1);
}

#[test]
fn newreno_restarts_the_timer_with_the_first_partial_acknowledgement_only() {
    let mut trace = opened(Recovery::NewReno, 10);
    trace.sent();
    (0..3).for_each(|_| drop(trace.ack(0, &[])));
    trace.ack(2, &[]);
    let deadline = trace.sender.deadline();
    assert_eq!(deadline, trace.now + Time::millis(10));
    trace.ack(4, &[]);
    assert_eq!(trace.sender.deadline(), deadline);
    trace.ack(10, &[]);
    assert_eq!(trace.sender.deadline(), Time::NEVER);
}

#[test]
fn duplicates_of_what_a_timeout_sent_again_start_no_recovery() {
    let mut trace = opened(Recovery::NewReno, 14);
    trace.sent();
    // Everything arrived, but the acknowledgements were lost.
    assert_eq!(trace.time_out(), [0]);
    assert_eq!(trace.ack(10, &[]), [10, 11]);
    for _ in 0..3 {
        trace.ack(10, &[]);
    }
    assert_eq!(trace.sender.counters().fast_recoveries, 0);
    assert_eq!(trace.ack(12, &[]).len() + trace.ack(14, &[]).len(), 0);
    assert!(trace.sender.is_idle());
}

#[test]
fn after_a_timeout_the_scoreboard_still_counts() {
    let mut trace = opened(Recovery::Sack, 10);
    trace.sent();
    assert!(trace.ack(0, &[(2, 3)]).is_empty());
    assert!(trace.ack(0, &[(2, 4)]).is_empty());
    assert_eq!(trace.time_out(), [0], "a window of one segment");
    assert_eq!(trace.ack(1, &[(2, 4)]), [1, 4], "two, and not 2 and 3 again");
    assert_eq!(trace.ack(5, &[]), [5, 6, 7]);
}

#[test]
fn unsent_data_is_not_acknowledged() {
    let mut trace = opened(Recovery::Sack, 5);
    trace.sent();
    for odd in [
        Segment { seq: 5 * MSS + 1, kind: Kind::Ack, ..Segment::default() },
        Segment { seq: u64::MAX, kind: Kind::Ack, ..Segment::default() },
        Segment { seq: MSS, kind: Kind::Data, len: 1000, ..Segment::default() },
        Segment { kind: Kind::Syn, ..Segment::default() },
        Segment { kind: Kind::SynAck, window: 7, ..Segment::default() },
    ] {
        trace.give(&odd);
        assert_eq!((trace.sender.acked(), trace.sent()), (0, Vec::new()), "{odd:?}");
    }
    let mut unopened = Sender::new(&trace.config);
    unopened.on_segment(
        &trace.config,
        trace.now,
        &Segment { kind: Kind::Ack, ..Segment::default() },
    );
    assert_eq!(unopened.next_segment(&trace.config, trace.now), None);
}

#[test]
fn a_stream_without_end_stops_at_the_last_number() {
    let mut trace = opened(Recovery::Sack, 1);
    trace.sender.write(trace.now, u64::MAX / 2);
    trace.sender.write(trace.now, u64::MAX);
    assert_eq!(trace.sender.written(), u64::MAX);
}
