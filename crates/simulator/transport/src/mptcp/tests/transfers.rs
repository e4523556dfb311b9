//! Transfers over several subflows.

use std::vec::Vec;

use super::net::{Fate, Net};
use super::*;
use crate::Kind;

const MB: u64 = 1_000_000;

fn seconds(net: &Net, flow: usize) -> f64 {
    net.flows[flow].finished.unwrap().as_secs_f64()
}

/// Wire time of `bytes` at 100 Mbps.
fn at_100_mbps(bytes: u64) -> f64 {
    bytes as f64 * 1518.0 / 1460.0 * 8.0 / 1e8
}

#[test]
fn two_disjoint_paths_carry_twice_as_much() {
    for scheduler in [Scheduler::LowestRtt, Scheduler::RoundRobin] {
        let mut net = Net::new([link(), link()]);
        net.open(MptcpConfig { scheduler, ..config() }, &[0, 1], 10 * MB);
        net.run();
        let share = at_100_mbps(10 * MB) / 2.0 / seconds(&net, 0);
        assert!((0.9..1.0).contains(&share), "{scheduler:?}: {share} of both links");
    }
}

#[test]
fn a_short_flow_stays_on_the_faster_path() {
    let slow = Link::new(Rate::mbps(100), Time::millis(5), Bytes(64_000));
    let mut net = Net::new([link(), slow]);
    let flow = net.open(MptcpConfig { join: JoinTime::AtOnce, ..config() }, &[0, 1], 20_000);
    net.run_until(Time::millis(30));
    net.run();
    assert!(seconds(&net, flow) < 0.003);
    assert!(net.there.iter().all(|s| s.path == 0 || s.segment.kind != Kind::Data));
}

#[test]
fn round_robin_takes_turns() {
    let mut net = Net::new([link(), link()]);
    net.open(MptcpConfig { scheduler: Scheduler::RoundRobin, ..config() }, &[0, 1], MB);
    net.run();
    let data: Vec<_> = net.there.iter().filter(|s| s.segment.kind == Kind::Data).collect();
    let from = data.iter().position(|s| s.path == 1).unwrap();
    let on = |path| data[from..].iter().filter(|s| s.path == path).count() as f64;
    assert!((0.8..1.25).contains(&(on(0) / on(1))), "{} and {}", on(0), on(1));
}

#[test]
fn redundant_subflows_carry_everything_and_the_first_copy_counts() {
    let scheduler = Scheduler::Redundant;
    let slow = Link::new(Rate::mbps(100), Time::millis(2), Bytes(64_000));
    let mut net = Net::new([slow, link()]);
    net.open(MptcpConfig { scheduler, join: JoinTime::AtOnce, ..config() }, &[0, 1], MB);
    net.run();
    let alone = {
        let mut net = Net::new([link()]);
        net.open(MptcpConfig { subflows: 1, ..config() }, &[0], MB);
        net.run();
        seconds(&net, 0)
    };
    // The slow path's handshake comes first: one of its round trips, then the join.
    assert!(seconds(&net, 0) < alone + 0.012, "{} and {alone}", seconds(&net, 0));
    let on = |path| {
        net.there.iter().filter(|s| s.path == path).map(|s| u64::from(s.segment.len)).sum::<u64>()
    };
    assert!(on(1) >= MB * 9 / 10, "the fast path carries (nearly) everything");
}

#[test]
fn data_of_a_dead_path_is_reinjected_on_another() {
    let mut net = Net::new([link(), link()]);
    let flow = net.open(config(), &[0, 1], 4 * MB);
    net.run_until(Time::millis(60));
    net.links[1].is_up = false;
    let held = net.flows[flow].delivered();
    net.run();
    assert!(held < 2 * MB);
    assert_eq!(net.flows[flow].delivered(), 4 * MB);
    assert!(net.flows[flow].counters().reinjected > 0);
    // The rest goes over one link, after a timeout of 10 ms or a few.
    let rest = at_100_mbps(4 * MB - held);
    assert!(seconds(&net, flow) < 0.060 + rest * 1.1 + 0.1, "{}", seconds(&net, flow));
}

#[test]
fn a_path_that_comes_back_is_used_again() {
    let mut net = Net::new([link(), link()]);
    let flow = net.open(config(), &[0, 1], 10 * MB);
    net.run_until(Time::millis(60));
    net.links[1].is_up = false;
    net.run_until(Time::millis(100));
    net.links[1].is_up = true;
    let before = net.links[1].carried;
    net.run();
    assert_eq!(net.flows[flow].delivered(), 10 * MB);
    assert!(net.links[1].carried - before > MB);
}

#[test]
fn a_receive_window_smaller_than_a_paths_delay_bounds_the_connection_not_a_subflow() {
    let mut tcp = config().tcp;
    tcp.receive_window = Bytes(64_000);
    let far = Link::new(Rate::gbps(10), Time::millis(10), Bytes(4_000_000));
    let mut net = Net::new([far, far]);
    let flow = net.open(MptcpConfig { tcp, ..config() }, &[0, 1], 2 * MB);
    net.run();
    // 64 KB each 20 ms, whatever the number of subflows (Net checks that none goes beyond).
    let rate = 2.0 * MB as f64 / seconds(&net, flow);
    assert!((0.7..1.05).contains(&(rate / (64_000.0 / 0.020))), "{rate}");
}

#[test]
fn a_subflows_window_bounds_each_subflow_alone() {
    let far = Link::new(Rate::gbps(10), Time::millis(10), Bytes(4_000_000));
    for (paths, subflows) in [(&[0, 1][..], 2.0), (&[0][..], 1.0)] {
        let mut net = Net::new([far, far]);
        let window = MptcpConfig { subflow_window: Some(Bytes(64_000)), ..config() };
        let flow = net.open(MptcpConfig { subflows: paths.len() as u8, ..window }, paths, 2 * MB);
        net.run();
        // Each subflow has 43 whole segments in flight in a round trip of 20 ms.
        let rate = 2.0 * MB as f64 / seconds(&net, flow);
        let bound = subflows * 43.0 * 1460.0 / 0.020;
        assert!((0.7..1.0).contains(&(rate / bound)), "{subflows}: {}", rate / bound);
    }
}

#[test]
fn a_lost_segment_delays_the_stream_until_it_is_sent_again_but_nothing_else() {
    let lost =
        |path, segment: &crate::Segment| path == 1 && segment.seq == 14_600 && segment.len > 0;
    let mut done = false;
    let roomy = Link::new(Rate::mbps(100), Time::micros(100), Bytes(4_000_000));
    let mut net = Net::new([roomy, roomy]).with_fate(move |path, segment, _| {
        if lost(path, segment) && !core::mem::replace(&mut done, true) {
            return Fate::Drop;
        }
        Fate::Pass
    });
    let flow = net.open(config(), &[0, 1], MB);
    net.run();
    let counters = net.flows[flow].counters();
    assert_eq!((counters.retransmitted, counters.timeouts), (1, 0));
    assert_eq!(counters.reinjected, 0);
}
