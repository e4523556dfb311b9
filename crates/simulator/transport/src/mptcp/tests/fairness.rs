//! The goals of coupled congestion control (RFC 6356 section 2), on links shared with TCP.

use super::net::Net;
use super::*;
use crate::Kind;

const COUPLED: [Coupling; 3] = [Coupling::Lia, Coupling::Olia, Coupling::Balia];

/// 50 Mbps, a round trip of 20 ms and room for two bandwidth-delay products.
fn shared() -> Link {
    Link { early: 0.05, ..Link::new(Rate::mbps(50), Time::millis(10), Bytes(250_000)) }
}

/// Bytes delivered by each flow from 30 s to 60 s.
fn goodputs(net: &mut Net) -> std::vec::Vec<f64> {
    net.run_until(Time::secs(30));
    let before: std::vec::Vec<u64> = net.flows.iter_mut().map(|flow| flow.delivered()).collect();
    net.run_until(Time::secs(60));
    net.flows
        .iter_mut()
        .zip(before)
        .map(|(flow, before)| (flow.delivered() - before) as f64)
        .collect()
}

fn with(coupling: Coupling, subflows: u8) -> MptcpConfig {
    MptcpConfig { coupling, subflows, ..config() }
}

/// Share of an MPTCP connection on a link, relative to a TCP flow on the same link.
fn beside_tcp(coupling: Coupling, subflows: u8) -> f64 {
    let mut net = Net::new([shared()]);
    net.open(with(coupling, subflows), &[0; 16][..subflows.into()], u64::MAX);
    for _ in 0..3 {
        net.open_tcp(config().tcp, 0, u64::MAX);
    }
    let goodputs = goodputs(&mut net);
    goodputs[0] / (goodputs[1..].iter().sum::<f64>() / 3.0)
}

#[test]
fn subflows_through_one_bottleneck_take_one_flows_share() {
    for coupling in COUPLED {
        for subflows in [2, 4] {
            let share = beside_tcp(coupling, subflows);
            assert!((0.8..1.3).contains(&share), "{coupling:?}, {subflows} subflows: {share}");
        }
    }
}

#[test]
fn uncoupled_subflows_take_a_share_each() {
    let share = beside_tcp(Coupling::Uncoupled, 4);
    assert!((3.2..4.8).contains(&share), "{share}");
}

#[test]
fn a_connection_moves_off_the_congested_path() {
    let on_congested = |coupling| {
        let mut net = Net::new([shared(), shared()]);
        net.open(with(coupling, 2), &[0, 1], u64::MAX);
        for _ in 0..4 {
            net.open_tcp(config().tcp, 0, u64::MAX);
        }
        goodputs(&mut net);
        let of_path = |path| {
            let sent = net.there.iter().filter(|s| s.flow == 0 && s.path == path);
            sent.filter(|s| s.segment.kind == Kind::Data).count() as f64
        };
        of_path(0) / (of_path(0) + of_path(1))
    };
    let alone = on_congested(Coupling::Uncoupled);
    assert!((0.1..0.3).contains(&alone), "a fifth of one link beside a whole one: {alone}");
    for coupling in COUPLED {
        let share = on_congested(coupling);
        assert!(share < 0.6 * alone, "{coupling:?}: {share}, uncoupled {alone}");
    }
}

#[test]
fn a_connection_does_at_least_as_well_as_tcp_on_its_best_path() {
    for coupling in COUPLED {
        let mut net = Net::new([shared(), shared()]);
        net.open(with(coupling, 2), &[0, 1], u64::MAX);
        for link in [0, 0, 0, 1] {
            net.open_tcp(config().tcp, link, u64::MAX);
        }
        let goodputs = goodputs(&mut net);
        assert!(goodputs[0] > 0.75 * goodputs[4], "{coupling:?}: {goodputs:?}");
        assert!(goodputs[0] < 2.0 * goodputs[4], "{coupling:?}: {goodputs:?}");
    }
}
