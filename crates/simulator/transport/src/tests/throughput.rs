//! Long flows over a bottleneck.

use heddle_units::{Bytes, Rate, Time};
use std::vec::Vec;

use super::net::{Link, Net};
use crate::{Control, Recovery, TcpConfig};

const RATE: Rate = Rate::gbps(1);
const LONG: u64 = u64::MAX / 2;

/// 1 Gbps and 500 us, with a buffer of as much again.
fn bottleneck() -> Link {
    let link = Link::new(RATE, Time::micros(250));
    Link { buffer: link.bdp(), ..link }
}

fn config(control: Control, recovery: Recovery) -> TcpConfig {
    TcpConfig { control, recovery, ..TcpConfig::default() }
}

/// Transmission time of a payload of `bytes` on the bottleneck, as a fraction of `span`.
fn utilisation(bytes: u64, span: Time) -> f64 {
    let wire = bytes * 1518 / 1460;
    RATE.time_for(Bytes(wire)).as_secs_f64() / span.as_secs_f64()
}

#[test]
fn one_flow_fills_a_link() {
    for control in [Control::NewReno, Control::Cubic] {
        for recovery in [Recovery::Sack, Recovery::NewReno] {
            let mut net = Net::one(config(control, recovery), bottleneck(), LONG);
            net.run_until(Time::secs(1));
            let (before, timeouts) = (net.sender().acked(), net.sender().counters().timeouts);
            net.run_until(Time::secs(3));
            let used = utilisation(net.sender().acked() - before, Time::secs(2));
            assert!(used > 0.95, "{control:?} with {recovery:?}: {used:.3}");
            assert_eq!(net.sender().counters().timeouts, timeouts, "{control:?} with {recovery:?}");
        }
    }
}

#[test]
fn the_window_saws_between_half_of_what_the_link_holds_and_all_of_it() {
    let mut net = Net::one(config(Control::NewReno, Recovery::Sack), bottleneck(), LONG);
    let mut windows = Vec::new();
    for ms in 500..3000 {
        net.run_until(Time::millis(ms));
        windows.push(net.cwnd());
    }
    let full = 2 * bottleneck().bdp().0 / 1518;
    let (low, high) = (*windows.iter().min().unwrap(), *windows.iter().max().unwrap());
    assert!(high.abs_diff(full) <= 3, "up to {high}, the link and its buffer hold {full}");
    assert!(low.abs_diff(full / 2) <= 3, "down to {low}");
    let steady = windows.windows(2).filter(|pair| pair[1] < pair[0]).count();
    let losses = net.sender().counters().fast_recoveries as usize;
    assert!(steady <= losses, "it falls only by loss: {steady} falls, {losses} losses");
}

#[test]
fn two_flows_share_fairly() {
    for control in [Control::NewReno, Control::Cubic, Control::Dctcp] {
        let link = Link { mark_above: Bytes::kb(30), ..bottleneck() };
        let mut net = Net::new(config(control, Recovery::Sack), link);
        net.open(LONG);
        net.run_until(Time::millis(100));
        net.open(LONG);
        net.run_until(Time::secs(1));
        let before = [0, 1].map(|flow| net.flows[flow].sender.acked());
        net.run_until(Time::secs(6));
        let share = [0, 1].map(|flow| (net.flows[flow].sender.acked() - before[flow]) as f64);
        let (sum, squares) = (share[0] + share[1], share[0] * share[0] + share[1] * share[1]);
        let jain = sum * sum / (2.0 * squares);
        assert!(jain > 0.95, "{control:?}: Jain's index {jain:.3}");
    }
}

#[test]
fn flows_of_many_sizes_all_finish() {
    let mut net = Net::new(TcpConfig::default(), bottleneck());
    (1..60).for_each(|n| {
        net.open(n * n * 700);
    });
    net.run();
}
