use std::vec::Vec;

use super::*;
use crate::SackBlock;
use heddle_units::Bytes;

const MSS: u64 = 1000;
const DELAY: Time = Time::micros(500);

fn config() -> TcpConfig {
    TcpConfig { mss: MSS as u16, ..TcpConfig::default() }
}

fn delayed() -> TcpConfig {
    TcpConfig { delayed_ack: Some(DELAY), ..config() }
}

/// The `n`th full segment, sent at `sent` microseconds.
fn segment(n: u64, sent: u64) -> Segment {
    let timestamp = Timestamp::at(Time::micros(sent));
    Segment { seq: n * MSS, len: MSS as u16, timestamp, ..Segment::default() }
}

fn marked(n: u64) -> Segment {
    Segment { ecn: Ecn::MARK, ..segment(n, n) }
}

fn reduced_and_marked(n: u64) -> Segment {
    let mut segment = Segment { ecn: Ecn::CWR, ..segment(n, n) };
    segment.ecn.mark();
    segment
}

/// A receiver at a time that does not matter.
struct Trace(Receiver, TcpConfig);

impl Trace {
    fn new(config: TcpConfig) -> Trace {
        Trace(Receiver::new(), config)
    }

    fn give(&mut self, segment: &Segment) -> Option<Segment> {
        self.0.on_segment(&self.1, Time::millis(1), segment)
    }

    /// The acknowledgement number that answers the `n`th segment, in segments.
    fn ack(&mut self, n: u64) -> Option<u64> {
        self.give(&segment(n, n)).map(|ack| ack.seq / MSS)
    }

    /// The SACK blocks that answer the `n`th segment, as segment numbers.
    fn sacks(&mut self, n: u64) -> Vec<(u64, u64)> {
        let ack = self.give(&segment(n, n)).unwrap();
        let number = |offset: u32| (ack.seq + u64::from(offset)) / MSS;
        let range = |block: &SackBlock| (number(block.offset), number(block.offset + block.len));
        ack.sacks().map(|block| range(&block)).collect()
    }
}

#[test]
fn a_syn_is_answered_with_its_stamp_and_the_window_each_time() {
    let syn = Segment { kind: Kind::Syn, timestamp: Timestamp(7), ..Segment::default() };
    let mut trace = Trace::new(config());
    for _ in 0..2 {
        let ack = trace.give(&syn).unwrap();
        let expected = Segment {
            kind: Kind::SynAck,
            timestamp: Timestamp(7),
            window: 4_000_000,
            ..Segment::default()
        };
        assert_eq!(ack, expected);
    }
}

#[test]
fn every_segment_is_acknowledged_at_once_without_delay() {
    let mut trace = Trace::new(config());
    let acks: Vec<_> = [0, 1, 3, 4, 2, 2, 5].into_iter().map(|n| trace.ack(n).unwrap()).collect();
    assert_eq!(acks, [1, 2, 2, 2, 5, 5, 6]);
    assert_eq!(trace.0.delivered(), 6 * MSS);
    assert_eq!(trace.0.deadline(), Time::NEVER);
}

#[test]
fn a_delayed_acknowledgement_waits_for_the_second_segment_or_the_timer() {
    let (config, mut receiver) = (delayed(), Receiver::new());
    let (t0, t1) = (Time::micros(10), Time::micros(20));
    assert_eq!(receiver.on_segment(&config, t0, &segment(0, 0)), None);
    assert_eq!(receiver.deadline(), t0 + DELAY);
    let ack = receiver.on_segment(&config, t1, &segment(1, 1)).unwrap();
    assert_eq!((ack.seq, receiver.deadline()), (2 * MSS, Time::NEVER));

    assert_eq!(receiver.on_segment(&config, t1, &segment(2, 2)), None);
    assert_eq!(receiver.on_timer(&config, t0 + DELAY), None, "too early");
    let ack = receiver.on_timer(&config, t1 + DELAY).unwrap();
    assert_eq!((ack.seq, receiver.deadline()), (3 * MSS, Time::NEVER));
    assert_eq!(receiver.on_timer(&config, Time::secs(1)), None, "nothing left to say");
}

#[test]
fn small_segments_do_not_count_as_full() {
    let mut trace = Trace::new(delayed());
    let small = |n: u64| Segment { seq: n * 400, len: 400, ..Segment::default() };
    let answered: Vec<_> = (0..6).map(|n| trace.give(&small(n)).is_some()).collect();
    assert_eq!(answered, [false, false, false, false, true, false], "2000 bytes make two segments");
}

#[test]
fn disorder_a_filled_gap_and_duplicates_are_acknowledged_at_once_despite_the_delay() {
    let mut trace = Trace::new(delayed());
    assert_eq!(trace.ack(0), None);
    assert_eq!(trace.ack(2), Some(1), "a gap");
    assert_eq!(trace.ack(4), Some(1), "another");
    assert_eq!(trace.ack(1), Some(3), "the first gap is filled, the second is still open");
    assert_eq!(trace.ack(3), Some(5), "now all is in order");
    assert_eq!(trace.ack(3), Some(5), "a duplicate");
    assert_eq!(trace.ack(5), None);
}

#[test]
fn sack_blocks_come_most_recent_first_and_merge() {
    let mut trace = Trace::new(config());
    assert_eq!(trace.sacks(0), []);
    assert_eq!(trace.sacks(2), [(2, 3)]);
    assert_eq!(trace.sacks(4), [(4, 5), (2, 3)]);
    assert_eq!(trace.sacks(6), [(6, 7), (4, 5), (2, 3)]);
    assert_eq!(trace.sacks(8), [(8, 9), (6, 7), (4, 5)], "three at most");
    assert_eq!(trace.sacks(3), [(2, 5), (8, 9), (6, 7)], "the merged block is the latest");
    assert_eq!(trace.sacks(6), [(6, 7), (2, 5), (8, 9)], "a duplicate brings its block forward");
    assert_eq!(trace.sacks(1), [(6, 7), (8, 9)]);
    assert_eq!(trace.sacks(5), [(8, 9)]);
    assert_eq!(trace.sacks(7), []);
}

#[test]
fn without_sack_there_are_only_numbers() {
    let mut trace = Trace::new(TcpConfig { recovery: Recovery::NewReno, ..config() });
    assert_eq!(trace.sacks(2), []);
    assert_eq!(trace.ack(0), Some(1));
}

#[test]
fn the_stamp_echoed_is_of_the_earliest_segment_acknowledged() {
    let mut trace = Trace::new(delayed());
    let at = |micros| Timestamp::at(Time::micros(micros));
    assert_eq!(trace.give(&segment(0, 10)), None);
    assert_eq!(
        trace.give(&segment(1, 20)).unwrap().timestamp,
        at(10),
        "of two in order, the first"
    );
    assert_eq!(
        trace.give(&segment(3, 40)).unwrap().timestamp,
        at(10),
        "beyond a gap: the last before"
    );
    assert_eq!(trace.give(&segment(2, 50)).unwrap().timestamp, at(50), "what fills the gap");
}

#[test]
fn data_beyond_the_window_is_dropped() {
    let mut trace = Trace::new(TcpConfig { receive_window: Bytes(4 * MSS), ..config() });
    assert_eq!(trace.sacks(4), [], "bytes 4000 to 4999");
    assert_eq!(trace.sacks(3), [(3, 4)]);
}

#[test]
fn ece_is_set_until_the_sender_sets_cwr() {
    let mut trace = Trace::new(config());
    let mut echo = |segment: &Segment| trace.give(segment).unwrap().ecn.is_marked();
    assert!(!echo(&segment(0, 0)));
    assert!(echo(&marked(1)));
    assert!(echo(&segment(2, 2)));
    assert!(!echo(&Segment { ecn: Ecn::CWR, ..segment(3, 3) }));
    assert!(echo(&reduced_and_marked(4)), "reduced, but marked again");
}

#[test]
fn dctcp_echoes_each_mark_once() {
    let mut trace = Trace::new(TcpConfig { control: Control::Dctcp, ..config() });
    let mut echo = |segment: &Segment| trace.give(segment).unwrap().ecn.is_marked();
    let echoes = [echo(&segment(0, 0)), echo(&marked(1)), echo(&segment(2, 2)), echo(&marked(3))];
    assert_eq!(echoes, [false, true, false, true]);
}

#[test]
fn dctcp_with_delay_sends_what_waited_under_the_state_that_it_came_with() {
    let mut trace = Trace::new(TcpConfig { control: Control::Dctcp, ..delayed() });
    let mut ack =
        |segment: &Segment| trace.give(segment).map(|ack| (ack.seq / MSS, ack.ecn.is_marked()));
    assert_eq!(ack(&segment(0, 0)), None);
    assert_eq!(ack(&marked(1)), Some((1, false)), "segment 0, not marked; segment 1 waits");
    assert_eq!(ack(&marked(2)), Some((3, true)), "segments 1 and 2, both marked");
    assert_eq!(ack(&segment(3, 3)), Some((4, false)), "a change that finds nothing waiting");
    assert_eq!(ack(&segment(4, 4)), None);
    assert_eq!(ack(&segment(5, 5)), Some((6, false)));
}

#[test]
fn reordered_segments_are_distinguished_from_retransmissions_by_timestamps() {
    let mut trace = Trace::new(config());
    for (segment, reordered) in [
        (segment(0, 0), 0),
        (segment(2, 20), 0), // overtook segment 1
        (segment(1, 10), 1), // late
        (segment(1, 10), 1), // duplicated
        (segment(5, 50), 1), // 3 and 4 are missing
        (segment(3, 60), 1), // sent again: later than 5
        (segment(4, 40), 2), // late
        (segment(6, 70), 2), // in order
    ] {
        trace.give(&segment);
        assert_eq!(trace.0.reordered(), reordered, "after {segment:?}");
    }
}

#[test]
fn a_receiver_that_loses_nothing_is_small() {
    assert!(size_of::<Receiver>() <= 64);
}
