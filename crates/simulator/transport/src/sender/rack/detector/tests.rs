use super::*;
use crate::sender::rack::history::State;

/// A segment of 1000 bytes that ends at segment `end`, sent at microsecond `at`.
fn sent(end: u64, at: u64) -> Sent {
    Sent {
        start: 1000 * (end - 1),
        end: 1000 * end,
        at: Time::micros(at),
        is_retransmitted: false,
        state: State::InFlight,
    }
}

fn retransmitted(end: u64, at: u64) -> Sent {
    Sent { is_retransmitted: true, ..sent(end, at) }
}

/// A connection with a least RTT of 100 us.
fn detector() -> Detector {
    Detector::new(Time::micros(100))
}

fn conditions() -> Conditions {
    let srtt = Time::micros(200);
    Conditions { in_recovery: false, sacked_segments: 1, dup_threshold: 3, srtt, rule: None }
}

fn deliver(detector: &mut Detector, now: u64, segment: &Sent) {
    detector.on_delivered(Time::micros(now), segment, Delivery::Selective);
}

#[test]
fn a_segment_is_lost_a_round_trip_and_the_window_after_its_transmission_if_a_later_one_arrived() {
    let (mut rack, window) = (detector(), Time::micros(25));
    let judge =
        |rack: &Detector, now, segment: Sent| rack.judge(Time::micros(now), window, &segment);
    assert_eq!(judge(&rack, 9_000, sent(1, 0)), Verdict::Newer, "however long ago it was sent");
    deliver(&mut rack, 110, &sent(3, 2));
    assert_eq!(judge(&rack, 110, sent(1, 0)), Verdict::LostAt(Time::micros(133)), "RTT 108");
    assert_eq!(judge(&rack, 132, sent(2, 2)), Verdict::LostAt(Time::micros(135)), "sent with it");
    assert_eq!(judge(&rack, 133, sent(1, 0)), Verdict::Lost);
    assert_eq!(judge(&rack, 9_000, sent(4, 2)), Verdict::Newer, "sent with it, behind it");
    assert_eq!(judge(&rack, 9_000, retransmitted(1, 3)), Verdict::Newer);
}

#[test]
fn the_round_trip_is_that_of_the_last_delivery_and_in_one_acknowledgement_of_the_last_sent() {
    let (mut rack, none) = (detector(), Time::ZERO);
    deliver(&mut rack, 200, &sent(5, 50));
    deliver(&mut rack, 200, &sent(3, 30));
    assert_eq!(
        rack.judge(Time::ZERO, none, &sent(1, 10)),
        Verdict::LostAt(Time::micros(160)),
        "150, not 170"
    );
    deliver(&mut rack, 220, &sent(2, 20));
    assert_eq!(rack.judge(Time::ZERO, none, &sent(1, 10)), Verdict::LostAt(Time::micros(210)));
}

/// Section 6.2 step 2.
#[test]
fn a_retransmission_counts_only_if_its_last_copy_arrived() {
    let mut rack = detector();
    let latest = |rack: &Detector| rack.latest.0;
    deliver(&mut rack, 399, &retransmitted(1, 300));
    assert_eq!(latest(&rack), Time::ZERO, "sooner than the least RTT");
    let echo = |at| Delivery::Cumulative(Timestamp::at(Time::micros(at)));
    rack.on_delivered(Time::micros(450), &retransmitted(1, 300), echo(10));
    assert_eq!(latest(&rack), Time::ZERO, "its acknowledgement echoes the first copy");
    rack.on_delivered(Time::micros(450), &retransmitted(1, 300), echo(300));
    assert_eq!(latest(&rack), Time::micros(300));
    deliver(&mut rack, 500, &retransmitted(2, 400));
    assert_eq!(latest(&rack), Time::micros(400), "a selective one echoes another segment");
}

#[test]
fn until_reordering_is_seen_enough_deliveries_or_a_recovery_close_the_window() {
    let mut rack = detector();
    let quarter = Time::micros(25);
    let third = Conditions { sacked_segments: 3, ..conditions() };
    let recovery = Conditions { in_recovery: true, ..conditions() };
    assert_eq!(rack.window(&conditions()), quarter);
    assert_eq!(rack.window(&third), Time::ZERO);
    assert_eq!(rack.window(&recovery), Time::ZERO);
    deliver(&mut rack, 200, &sent(5, 60));
    deliver(&mut rack, 201, &retransmitted(1, 99));
    assert_eq!(rack.window(&third), Time::ZERO, "a retransmission is always late");
    deliver(&mut rack, 202, &sent(4, 55));
    assert_eq!((rack.window(&third), rack.window(&recovery)), (quarter, quarter));
}

#[test]
fn a_fixed_window_and_one_of_a_smoothed_round_trip_hold_before_reordering_is_seen() {
    let rack = detector();
    let window = |rule| {
        let proven = Conditions { in_recovery: true, sacked_segments: 9, ..conditions() };
        rack.window(&Conditions { rule: Some(rule), ..proven })
    };
    assert_eq!(window(ReorderingWindow::Fixed(Time::micros(7))), Time::micros(7));
    assert_eq!(window(ReorderingWindow::Measured(MeasuredWindow::Srtt)), Time::micros(200));
    assert_eq!(window(ReorderingWindow::Measured(MeasuredWindow::Adaptive)), Time::ZERO);
}

/// Section 6.2 step 4.
#[test]
fn each_round_with_a_dsack_widens_the_window_to_a_smoothed_rtt_at_most() {
    let mut rack = detector();
    let window = |rack: &Detector| rack.window(&conditions()).as_nanos() / 1000;
    for (una, nxt, has_dsack, expected) in [
        (0, 10, true, 50),
        (5, 12, true, 50),   // the same round
        (10, 20, false, 50), // it ends
        (11, 21, true, 75),
        (21, 31, true, 100), // ends and begins
    ] {
        rack.on_ack(una, nxt, has_dsack);
        assert_eq!(window(&rack), expected, "{una}");
    }
    (4..30).for_each(|round| rack.on_ack(10 * round, 10 * round + 9, true));
    assert_eq!(window(&rack), 200, "the smoothed RTT");
    (0..15).for_each(|_| rack.on_recovery_end());
    assert_eq!(window(&rack), 200);
    rack.on_recovery_end();
    assert_eq!(window(&rack), 25, "16 recoveries without a DSACK");
}
