//! The retransmission timer.

use heddle_units::{Rate, Time};
use std::vec::Vec;

use super::net::{Fate, Link, Net};
use crate::{Kind, TcpConfig};

const RTT: Time = Time::micros(100);

fn link() -> Link {
    Link::new(Rate::gbps(100), RTT / 2)
}

/// Times of the data segments, in tenths of a millisecond since the first.
fn data_times(net: &Net) -> Vec<u64> {
    let data = net.forward.iter().filter(|sent| sent.segment.kind == Kind::Data);
    data.map(|sent| (sent.at - RTT).as_nanos() / 100_000).collect()
}

#[test]
fn the_timeout_doubles_up_to_its_maximum() {
    let config = TcpConfig {
        min_rto: Time::millis(2),
        initial_rto: Some(Time::millis(5)),
        max_rto: Time::millis(16),
        ..TcpConfig::default()
    };
    let lost = |kind, n| if kind == Kind::Data && n < 6 { Fate::Drop } else { Fate::Pass };
    let mut net = Net::one(config, link(), 1000).with_fate(lost);
    net.run();
    // 2 ms, the minimum, for a round trip of 0.1 ms; then 4, 8, 16, 16, 16.
    assert_eq!(data_times(&net), [0, 20, 60, 140, 300, 460, 620]);
    assert_eq!(net.sender().counters().timeouts, 6);
}

#[test]
fn a_sample_after_the_timeout_ends_the_back_off() {
    let config = TcpConfig { min_rto: Time::millis(2), ..TcpConfig::default() };
    let lost = |kind, n| {
        let lost = kind == Kind::Data && (n < 3 || n == 4);
        if lost { Fate::Drop } else { Fate::Pass }
    };
    let mut net = Net::one(config, link(), 1000).with_fate(lost);
    net.run();
    assert_eq!(data_times(&net), [0, 20, 60, 140]);
    net.write(1000);
    net.run();
    let again: Vec<_> = data_times(&net)[4..].iter().map(|at| at - 141).collect();
    assert_eq!(again, [0, 20]);
}

#[test]
fn the_minimum_holds_for_a_steady_round_trip_and_none_is_spurious() {
    let config = TcpConfig { min_rto: Time::micros(500), ..TcpConfig::default() };
    let mut net = Net::one(config, link(), 1_000_000 * 1460);
    net.run_until(Time::millis(20));
    let left = net.sender().deadline() - net.now;
    assert!(left <= Time::micros(500) && left > Time::micros(300), "{left}");
    net.run();
    assert_eq!(net.sender().counters().timeouts, 0);
}

#[test]
fn a_timeout_halves_the_threshold_once_and_slow_start_follows() {
    let config = TcpConfig { initial_window: 32, ..TcpConfig::default() };
    // The whole first window is lost, and the first repeat.
    let lost = |kind, n| if kind == Kind::Data && n < 33 { Fate::Drop } else { Fate::Pass };
    let mut net = Net::one(config, link(), u64::MAX / 2).with_fate(lost);
    let start = RTT + Time::millis(10) + Time::millis(20);
    let mut windows = Vec::new();
    for round in 0..8 {
        net.run_until(start + RTT * round + RTT / 2);
        windows.push(net.cwnd());
    }
    assert_eq!(windows, [1, 2, 4, 8, 16, 17, 18, 19]);
}

#[test]
fn the_timer_may_be_called_at_any_time() {
    let mut net = Net::one(TcpConfig::default(), link(), 1460).losing(&[0]);
    for us in 0..5000 {
        net.run_until(Time::micros(us));
        let config = net.config;
        net.flows[0].sender.on_timer(&config, net.now);
    }
    assert_eq!(net.sender().counters().timeouts, 0);
    let config = net.config;
    let late = Time::secs(5);
    net.flows[0].sender.on_timer(&config, late);
    assert_eq!(net.sender().counters().timeouts, 1);
    assert!(net.flows[0].sender.next_segment(&config, late).is_some());
    assert_eq!(net.sender().deadline(), late + Time::millis(20));
}
