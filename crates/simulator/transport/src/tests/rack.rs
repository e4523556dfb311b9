//! RACK-TLP (RFC 8985) from end to end: reordering, lost retransmissions and lost tails.

use heddle_units::{Bytes, Rate, Time};
use proptest::prelude::*;
use std::vec::Vec;

use super::net::{Fate, Link, Net};
use crate::{Kind, LossDetection, MeasuredWindow, ReorderingWindow, SenderCounters, TcpConfig};

const MSS: u64 = 1460;
const RTT: Time = Time::micros(100);

fn config() -> TcpConfig {
    TcpConfig { loss_detection: LossDetection::Rack, initial_window: 40, ..TcpConfig::default() }
}

fn link() -> Link {
    Link::new(Rate::gbps(100), RTT / 2)
}

/// Data segments sent again, by number.
fn repeats(net: &Net) -> Vec<u64> {
    let data = net.forward.iter().filter(|sent| sent.segment.kind == Kind::Data);
    let mut next = 0;
    let repeated = data.filter(|sent| {
        let seq = sent.segment.seq;
        let is_new = seq >= next;
        next = next.max(seq + 1);
        !is_new
    });
    repeated.map(|sent| sent.segment.seq / MSS).collect()
}

#[test]
fn losses_in_one_window_are_repaired_in_a_round_trip_without_a_timeout() {
    let mut net = Net::one(config(), link(), 400 * MSS).losing(&[10, 11, 30]);
    net.run();
    assert_eq!(repeats(&net), [10, 11, 30]);
    let counters = net.sender().counters();
    assert_eq!((counters.timeouts, counters.fast_recoveries), (0, 1));
}

#[test]
fn a_lost_retransmission_is_found_and_needs_no_timeout() {
    // 40 segments, two for each of ten acknowledgements, then some by the selective ones: segment
    // 10 is repeated after these.
    let mut first = Net::one(config(), link(), 400 * MSS).losing(&[10]);
    first.run();
    let data: Vec<_> =
        first.forward.iter().filter(|sent| sent.segment.kind == Kind::Data).collect();
    let repeat = data.iter().rposition(|sent| sent.segment.seq == 10 * MSS).unwrap() as u64;
    let lost = move |kind, n| match kind {
        Kind::Data if n == 10 || n == repeat => Fate::Drop,
        _ => Fate::Pass,
    };
    let mut net = Net::one(config(), link(), 400 * MSS).with_fate(lost);
    net.run();
    assert_eq!(repeats(&net), [10, 10]);
    assert_eq!(net.sender().counters().timeouts, 0);
}

#[test]
fn a_lost_tail_costs_a_probe_and_no_timeout() {
    let mut net = Net::one(config(), link(), 40 * MSS).losing(&[37, 38, 39]);
    net.run();
    assert_eq!(repeats(&net), [39, 37, 38]);
    assert_eq!(net.sender().counters().timeouts, 0);
    assert!(net.now < RTT * 7, "a handshake, a round trip, a probe and a repair: {}", net.now);
}

#[test]
fn a_delayed_acknowledgement_of_a_single_segment_provokes_no_probe() {
    let config = TcpConfig { delayed_ack: Some(Time::micros(500)), ..config() };
    let mut net = Net::one(config, link(), MSS);
    net.run();
    assert!(repeats(&net).is_empty());
    assert!(net.now > Time::micros(500));
}

/// Every third segment takes `late` longer.
fn reordered(config: TcpConfig, late: Time) -> SenderCounters {
    let fate = move |kind, n| match kind {
        Kind::Data if n % 3 == 0 => Fate::Delay(late),
        _ => Fate::Pass,
    };
    let mut net = Net::one(config, link(), 3000 * MSS).with_fate(fate);
    net.run();
    assert!(net.receiver().reordered() > 500);
    net.sender().counters()
}

#[test]
fn reordering_by_less_than_the_window_costs_rack_little_and_duplicate_acknowledgements_much() {
    let late = RTT / 5;
    let rack = reordered(config(), late);
    assert!(rack.retransmitted <= 40 && rack.fast_recoveries <= 4, "until it is seen: {rack:?}");
    let counting = TcpConfig { loss_detection: LossDetection::DupAck, ..config() };
    let counting = reordered(counting, late);
    assert!(counting.fast_recoveries > 20, "{counting:?}");
}

#[test]
fn duplicates_widen_the_window_until_it_covers_the_reordering() {
    let counters = reordered(config(), RTT * 2 / 3);
    assert!(counters.fast_recoveries < 12, "some rounds of growth: {counters:?}");
    assert!(counters.retransmitted > 0, "until it has grown: {counters:?}");
}

#[test]
fn a_window_that_covers_the_reordering_from_the_start_sends_nothing_again() {
    let repeats = |window| {
        let config = TcpConfig { reordering_window: Some(window), ..config() };
        reordered(config, RTT * 2 / 3).retransmitted
    };
    assert_eq!(repeats(ReorderingWindow::Measured(MeasuredWindow::Srtt)), 0);
    assert_eq!(repeats(ReorderingWindow::Fixed(RTT * 3 / 4)), 0);
    assert!(repeats(ReorderingWindow::Fixed(RTT / 2)) > 500, "it does not grow");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Delays of less than a quarter of the round trip, on any segments.
    #[test]
    fn nothing_is_sent_again_for_reordering_within_the_window(
        delays in prop::collection::vec(0u64..24_000, 0..600),
        segments in 1u64..500,
        initial_window in 1u32..60,
    ) {
        // Without a threshold of segments: the window holds from the first on.
        let config = TcpConfig { dup_threshold: u32::MAX, initial_window, ..config() };
        let delay = move |n: u64| delays.get(n as usize).copied().unwrap_or(0);
        let fate = move |kind, n| match kind {
            Kind::Data => Fate::Delay(Time::nanos(delay(n))),
            _ => Fate::Pass,
        };
        // Segments of a byte, so that the queue does not add to the delays.
        let config = TcpConfig { mss: 1, receive_window: Bytes::mb(4), ..config };
        let link = Link::new(Rate::gbps(1000), RTT / 2);
        let mut net = Net::one(config, link, segments).with_fate(fate);
        net.run();
        prop_assert_eq!(net.sender().counters().retransmitted, 0);
    }
}
