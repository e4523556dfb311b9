//! Traces by hand.

use std::convert::Infallible;
use std::net::Ipv4Addr;

use heddle_policy::cflb::{Addresses, Fields, Ports};
use proptest::prelude::*;

use super::*;
use crate::cflb::hashes::{NextHop, hashes};
use crate::cflb::mix::Mix;

/// Router r reads decimal digit r of the source port, from the right.
struct Digits;

impl NextHop for Digits {
    fn next_hop(&self, fields: &Fields, router: u32, next_hops: u16) -> u16 {
        fields.ports.unwrap().source / 10u16.pow(router) % next_hops
    }
}

/// At a time in milliseconds, a flow with a number and a source port.
fn packet((at, flow, source): (u64, u32, u16)) -> Result<Packet, Infallible> {
    let addresses = Addresses::V4(Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
    let ports = Some(Ports { source, destination: 80 });
    let fields = Fields { addresses, protocol: 6, ports, flow_label: 0, ttl: 64 };
    Ok(Packet { at: Time::millis(at), flow, fields })
}

fn spread_of(packets: &[(u64, u32, u16)], plan: &Plan) -> Spread {
    let choosers = [Chooser::new("digits", Digits)];
    let Ok(spreads) = spread(packets.iter().copied().map(packet), &choosers, plan);
    spreads[0].clone()
}

/// Second 0: flow 0 (port 1) twice and flow 1 (port 0) once: 33 and 67 %. Second 1: nothing. Second
/// 2: one packet of each. Second 3 is cut short.
#[test]
fn one_router_second_by_second() {
    let packets = [(0, 0, 1), (10, 0, 1), (999, 1, 0), (2000, 1, 0), (2500, 0, 1), (3000, 0, 1)];
    let spread = spread_of(&packets, &Plan::FIGURE_6A);
    assert_eq!((spread.packets, spread.flows.count, spread.flows.statistic), (6, 2, 0.0));
    assert_eq!(spread.shares[1], [50.0, 50.0]);
    let expected = [50.0 / 3.0, 0.0];
    assert!(
        spread.links.each.iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 1e-9)
    );
    assert_eq!(spread.links.each.len(), 2);
    assert_eq!(spread.links, spread.paths);
    assert!((spread.links.max - 50.0 / 3.0).abs() < 1e-9);
    assert!((spread.links.median - 25.0 / 3.0).abs() < 1e-9);
    let distribution = spread.links.distribution();
    assert_eq!(distribution.iter().map(|point| point.1).collect::<Vec<_>>(), [0.5, 1.0]);
    assert_eq!(distribution[0].0, 0.0);
}

/// Ports 00 and 11 at two routers: every link has half of the packets, but of four paths only the
/// first and the last are used.
#[test]
fn routers_that_agree_are_seen_in_paths_only() {
    let plan = Plan { routers: 2, ..Plan::FIGURE_6A };
    let spread = spread_of(&[(0, 0, 0), (1, 1, 11)], &plan);
    assert_eq!(spread.shares, [[50.0, 0.0, 0.0, 50.0]]);
    assert_eq!((spread.links.max, spread.paths.max), (0.0, 25.0));
    assert_eq!((spread.flows.statistic, spread.flows.degrees), (2.0, 3));
}

/// Router 0 chooses 1 and router 1 chooses 0: path 2 of four, and every link is a half off.
#[test]
fn the_first_router_is_the_highest_digit() {
    let plan = Plan { routers: 2, ..Plan::FIGURE_6A };
    let spread = spread_of(&[(0, 0, 1)], &plan);
    assert_eq!(spread.shares, [[0.0, 0.0, 100.0, 0.0]]);
    assert_eq!((spread.links.max, spread.paths.max), (50.0, 75.0));
}

#[test]
fn an_error_of_the_trace_comes_through() {
    let choosers = [Chooser::new("digits", Digits)];
    let trace = [packet((0, 0, 0)).map_err(|_| "no"), Err("broken")];
    assert_eq!(spread(trace, &choosers, &Plan::FIGURE_6A), Err("broken"));
}

/// 30 000 flows of uniform headers: no chooser that mixes routers prefers a path, at one in a
/// million.
#[test]
fn flows_of_the_control_are_spread_evenly() {
    let trace = || Mix::Random.packets(1, 600_000).map(Ok::<_, Infallible>);
    let Ok(one) = spread(trace(), &crate::cflb::hashes::choosers(4), &Plan::FIGURE_7);
    assert!(one.iter().all(|spread| spread.flows.p_value > 1e-6), "{one:#?}");
    let Ok(four) = spread(trace(), &hashes(), &Plan::FIGURE_6B);
    for spread in four {
        let is_linear = ["crc16", "crc32", "toeplitz"].contains(&spread.chooser.as_str());
        assert_eq!(spread.flows.p_value < 1e-6, is_linear, "{}", spread.chooser);
    }
}

proptest! {
    /// Shares add up, and no deviation exceeds what one path with everything has.
    #[test]
    fn shares_are_shares(
        ports in prop::collection::vec(any::<u16>(), 1..200),
        routers in 1u32..4,
        next_hops in 1u16..5,
    ) {
        let packets: Vec<_> = (0..).zip(&ports).map(|(i, port)| (u64::from(i) * 37, i, *port)).collect();
        let plan = Plan { routers, next_hops, interval: Time::secs(1) };
        let spread = spread_of(&packets, &plan);
        for shares in &spread.shares {
            prop_assert!((shares.iter().sum::<f64>() - 100.0).abs() < 1e-6);
        }
        prop_assert!(spread.paths.max <= 100.0 - 100.0 / plan.paths() as f64 + 1e-9);
        prop_assert!(spread.links.max <= 100.0 - 100.0 / f64::from(next_hops) + 1e-9);
        prop_assert_eq!(spread.flows.count, ports.len() as u64);
    }
}
