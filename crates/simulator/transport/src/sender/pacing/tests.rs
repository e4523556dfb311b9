//! Times at which a paced sender sends, in closed form. Segments have 1000 bytes, the round trip
//! 6250 ticks of the clock: 102.4 us.

use std::vec::Vec;

use heddle_units::{Bytes, Time};

use crate::{
    Kind, LossDetection, Options, Pacing, SackBlock, Segment, Sender, TcpConfig, Timestamp,
};

const MSS: u64 = 1000;
const RTT: Time = Time(6250 << 14);

struct Trace {
    sender: Sender,
    config: TcpConfig,
    now: Time,
}

fn paced() -> TcpConfig {
    TcpConfig {
        mss: MSS as u16,
        initial_window: 20,
        receive_window: Bytes(1 << 30),
        pacing: Some(Pacing::default()),
        ..TcpConfig::default()
    }
}

/// A connection that has just opened, at time `RTT`, with a stream that does not end.
fn opened(config: TcpConfig) -> Trace {
    let mut sender = Sender::new(&config);
    sender.write(Time::ZERO, u64::MAX);
    let syn = sender.next_segment(&config, Time::ZERO).unwrap();
    sender.on_segment(&config, RTT, &Segment { kind: Kind::SynAck, window: u32::MAX, ..syn });
    Trace { sender, config, now: RTT }
}

impl Trace {
    /// Number and nanosecond of each segment that is sent until `end`, counted from now, if nothing
    /// arrives.
    fn sent_for(&mut self, end: Time) -> Vec<(u64, u64)> {
        let (start, mut sent) = (self.now, Vec::new());
        loop {
            let next = || self.sender.next_segment(&self.config, self.now);
            sent.extend(
                core::iter::from_fn(next)
                    .map(|segment| (segment.seq / MSS, (self.now - start).as_nanos())),
            );
            if self.sender.deadline() > start + end {
                self.now = start + end;
                return sent;
            }
            self.now = self.sender.deadline();
            self.sender.on_timer(&self.config, self.now);
        }
    }

    /// An acknowledgement of all before segment `una`, and of those from `sack.0` to before
    /// `sack.1`.
    fn ack(&mut self, una: u64, sack: (u64, u64)) {
        let offset = (sack.0.saturating_sub(una) * MSS) as u32;
        let len = ((sack.1 - sack.0) * MSS) as u32;
        let block = SackBlock { offset, len };
        let options = if len > 0 { Options::Sack([block; 3]) } else { Options::None };
        let timestamp = Timestamp::at(self.now - RTT);
        let ack =
            Segment { seq: una * MSS, timestamp, window: u32::MAX, options, ..Segment::default() };
        self.sender.on_segment(&self.config, self.now, &Segment { kind: Kind::Ack, ..ack });
    }
}

fn numbered(first: u64, times: impl IntoIterator<Item = u64>) -> Vec<(u64, u64)> {
    (first..).zip(times).collect()
}

#[test]
fn ten_segments_leave_at_once_and_others_at_twice_the_window_in_a_round_trip() {
    let expected = |gap: u64| {
        let waiting = (1..=10).map(|n| n * gap);
        numbered(0, [0; 10].into_iter().chain(waiting))
    };
    let sent = |config| opened(config).sent_for(RTT / 2);
    // 102.4 us for 20 segments: 5.12 us each, and half of that.
    assert_eq!(sent(paced()), expected(2_560));
    let config = TcpConfig { pacing: None, ..paced() };
    assert_eq!(sent(config), numbered(0, [0; 20]), "not paced");
    let pacing = Some(Pacing { slow_start_ratio: 400, ..Pacing::default() });
    assert_eq!(sent(TcpConfig { pacing, ..paced() }), expected(1_280));
}

/// 5.12 us and 120 percent of the rate: 4.266 us.
#[test]
fn from_half_of_the_threshold_on_the_rate_is_that_of_congestion_avoidance() {
    let first_gap = |initial_ssthresh| {
        let config = TcpConfig { initial_ssthresh: Some(initial_ssthresh), ..paced() };
        opened(config).sent_for(RTT / 2)[10].1
    };
    assert_eq!(first_gap(42), 2_560, "a window of 20 is less than 21");
    assert_eq!(first_gap(40), 4_266);
    assert_eq!(first_gap(2), 4_266);
}

#[test]
fn a_segment_sent_late_shortens_the_next_wait_by_as_much_up_to_half() {
    let wait_after = |late: u64| {
        let mut trace = opened(TcpConfig { initial_window: 10, ..paced() });
        assert_eq!(trace.sent_for(Time::ZERO).len(), 10, "the window");
        // The wait is 5.12 us, at 10 segments in 51.2 us. The acknowledgement of one lets two out.
        trace.sender.on_timer(&trace.config, trace.now + Time::nanos(5_120));
        trace.now += Time::nanos(5_120 + late);
        trace.ack(1, (0, 0));
        let sent = trace.sent_for(RTT / 4);
        assert_eq!(sent.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [10, 11]);
        assert_eq!(sent[0].1, 0, "it was late");
        sent[1].1
    };
    // The window is 11 then: 51200 / 11.
    assert_eq!(wait_after(0), 4_654);
    assert_eq!(wait_after(1_000), 3_654);
    assert_eq!(wait_after(2_327), 2_327);
    assert_eq!(wait_after(50_000), 2_327, "at most half");
}

#[test]
fn retransmissions_are_paced_except_that_of_a_timeout() {
    for loss_detection in [LossDetection::DupAck, LossDetection::Rack] {
        let mut trace = opened(TcpConfig { loss_detection, ..paced() });
        assert_eq!(trace.sent_for(RTT).len(), 20);
        // Segments 0 to 4 are lost, all others arrive. The window is 10 and 20 are in flight: 5.12
        // us at 120 percent. The first is late.
        trace.ack(0, (5, 20));
        let sent = trace.sent_for(RTT / 4);
        let times = [0, 2_133, 2_133 + 4_266, 2_133 + 2 * 4_266, 2_133 + 3 * 4_266];
        assert_eq!(sent[..5], numbered(0, times), "{loss_detection:?}");
    }
    let mut trace = opened(paced());
    trace.sent_for(Time::nanos(2_560 * 10));
    assert_eq!(trace.sender.deadline(), trace.now + Time::nanos(2_560), "held");
    trace.sender.on_timeout(&trace.config, trace.now);
    assert_eq!(trace.sent_for(Time::ZERO), [(0, 0)]);
}

#[test]
fn a_segment_that_is_held_keeps_a_timer_running_though_nothing_is_in_flight() {
    let mut trace = opened(paced());
    assert_eq!(trace.sent_for(Time::nanos(2_560)).len(), 11);
    trace.ack(11, (0, 0));
    assert_eq!(trace.sender.next_segment(&trace.config, trace.now), None);
    assert_eq!(trace.sender.deadline(), trace.now + Time::nanos(2_560));
}
