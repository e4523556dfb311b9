//! Growth of the congestion window without loss.

use heddle_units::{Bytes, Rate, Time};
use std::vec::Vec;

use super::net::{Link, Net};
use crate::TcpConfig;

const RTT: Time = Time::micros(100);
const LONG: u64 = u64::MAX / 2;

/// A link so fast that a window goes out at once.
fn fast() -> Link {
    Link::new(Rate::gbps(1000), RTT / 2)
}

/// The window at the middle of each of `n` round trips, starting with the one of the first data.
fn windows(net: &mut Net, n: u64) -> Vec<u64> {
    let sample = |round| {
        net.run_until(RTT * (round + 1) + RTT / 2);
        net.cwnd()
    };
    (0..n).map(sample).collect()
}

#[test]
fn slow_start_doubles_the_window_every_round_trip() {
    let mut net = Net::one(TcpConfig::default(), fast(), LONG);
    assert_eq!(windows(&mut net, 6), [10, 20, 40, 80, 160, 320]);
}

#[test]
fn congestion_avoidance_adds_one_segment_every_round_trip() {
    let config = TcpConfig { initial_window: 40, ..TcpConfig::default() };
    let mut net = Net::one(config, fast(), LONG).losing(&[10]);
    // Ten acknowledgements of slow start, then half of 50; the repair takes the second round trip.
    assert_eq!(windows(&mut net, 8), [40, 25, 25, 26, 27, 28, 29, 30]);
    assert_eq!(net.sender().counters().timeouts, 0);
}

#[test]
fn the_window_does_not_grow_beyond_what_the_application_uses() {
    let mut net = Net::one(TcpConfig::default(), fast(), 1);
    for round in 1..50 {
        net.run_until(RTT * round * 2);
        net.write(5 * 1460);
    }
    net.run();
    assert_eq!(net.cwnd(), 10);
}

#[test]
fn the_receive_window_limits_throughput_to_a_window_per_round_trip() {
    let config = TcpConfig { receive_window: Bytes(64_000), ..TcpConfig::default() };
    let mut net = Net::one(config, Link::new(Rate::gbps(100), RTT / 2), LONG);
    let (from, to) = (Time::millis(5), Time::millis(25));
    net.run_until(from);
    let before = net.sender().acked();
    net.run_until(to);
    let rate = (net.sender().acked() - before) as f64 / (to - from).as_secs_f64();
    let whole_segments = (64_000 / 1460 * 1460) as f64;
    let expected = whole_segments / (RTT + Rate::gbps(100).time_for(Bytes(1518))).as_secs_f64();
    assert!((rate / expected - 1.0).abs() < 0.01, "{rate}, expected {expected}");
    assert!(net.cwnd() <= 45, "nor does it grow beyond use: {}", net.cwnd());
}

#[test]
fn a_receive_window_below_a_segment_still_lets_data_through() {
    let config = TcpConfig { receive_window: Bytes(700), ..TcpConfig::default() };
    let mut net = Net::one(config, fast(), 10_000);
    net.run();
    assert!(net.forward.iter().all(|sent| sent.segment.len <= 700));
}

#[test]
fn delayed_acknowledgements_halve_their_number() {
    let count = |delayed_ack| {
        let config = TcpConfig { delayed_ack, ..TcpConfig::default() };
        let mut net = Net::one(config, fast(), 1000 * 1460);
        net.run();
        assert_eq!(net.sender().counters().retransmitted, 0);
        net.backward.len() - 1
    };
    assert_eq!((count(None), count(Some(Time::millis(1)))), (1000, 500));
}

#[test]
fn an_odd_last_segment_is_acknowledged_after_the_delay() {
    let delay = Time::micros(300);
    let config = TcpConfig { delayed_ack: Some(delay), ..TcpConfig::default() };
    let mut net = Net::one(config, fast(), 3 * 1460);
    net.run();
    let acks: Vec<_> = net.backward.iter().map(|sent| sent.at.as_nanos() / 1000).collect();
    assert_eq!(acks, [50, 150, 450], "SYN/ACK, two segments, the third segment");
}

#[test]
fn after_an_idle_timeout_the_window_restarts() {
    let config = TcpConfig { min_rto: Time::millis(1), ..TcpConfig::default() };
    for (silence, idle_restart, window) in
        [(Time::micros(500), true, 81), (Time::millis(2), true, 10), (Time::millis(2), false, 81)]
    {
        let config = TcpConfig { idle_restart, ..config };
        let mut net = Net::one(config, fast(), 150 * 1460);
        net.run();
        assert_eq!(net.cwnd(), 81, "the last round trip's 80 and one more: then the stream ends");
        let before = net.forward.len();
        net.run_until(net.now + silence);
        net.write(LONG);
        assert_eq!(net.forward.len() - before, window as usize, "after {silence}");
        assert_eq!(net.cwnd(), window);
    }
}
