//! Hosts with two interfaces of 10 Gbps, against arithmetic.

use heddle_sim::Outcome;
use heddle_units::{Bytes, Rate, Time};

use crate::network::support::{replay, run, scenario};

/// Links between switches are not the bottleneck.
const ONE_FLOW: &str = r#"
    scheme = "ecmp"
    [fabric]
    kind = "leaf-spine"
    leaves = 2
    spines = 2
    hosts_per_leaf = 2
    parallel_links = 1
    spine_rate = "100Gbps"
    interfaces = 2
    [transport]
    kind = "mptcp"
    subflows = 2
    [workload]
    kind = "long"
    pairs = ["host-1 host-3"]
    [measure]
    warm_up = "20ms"
    duration = "50ms"
"#;

/// Goodput of all long flows, relative to the payload capacity of an interface.
fn goodput(outcome: &Outcome) -> f64 {
    let sum: u64 = outcome.long_flows.iter().map(|flow| flow.goodput().0).sum();
    sum as f64 / (10e9 * 1460.0 / 1518.0)
}

#[test]
fn subflows_take_the_interfaces_in_turn() {
    let with = |interfaces: &str, subflows: &str| {
        let overrides = [("fabric.interfaces", interfaces), ("transport.subflows", subflows)];
        let outcome = run(&scenario(ONE_FLOW, &overrides), 1);
        (goodput(&outcome), outcome.long_flows[0].host_rate)
    };
    for (interfaces, subflows, links) in
        [("1", "2", 1), ("2", "1", 1), ("2", "2", 2), ("2", "4", 2), ("3", "2", 2)]
    {
        let (goodput, host_rate) = with(interfaces, subflows);
        let share = goodput / links as f64;
        assert!((0.97..1.003).contains(&share), "{interfaces}, {subflows}: {goodput}");
        assert_eq!(host_rate, Rate::gbps(10 * links), "{interfaces}, {subflows}");
    }
}

/// One connection of TCP, whose packets take either interface by their entropy values, to two
/// ToRs. What a random share leaves idle, and reordering costs, is below a quarter of both links.
#[test]
fn entropy_values_spread_a_connection_over_the_interfaces() {
    let tcp = r#"{ kind = "tcp", loss_detection = "rack", receive_window = "1MB" }"#;
    let with = |entropy: &str, more: &[(&str, &str)]| {
        let overrides = [
            ("fabric.interfaces", "1"),
            ("fabric.tors_per_host", "2"),
            ("fabric.mark_above", "97.5KB"),
            ("fabric.leaves", "4"),
            ("transport", tcp),
            ("entropy", entropy),
        ];
        let outcome = run(&scenario(ONE_FLOW, &[&overrides[..], more].concat()), 1);
        (goodput(&outcome), outcome)
    };
    let (alone, outcome) = with("flow", &[]);
    assert!(alone < 1.003 && outcome.long_flows[0].host_rate == Rate::gbps(10), "{alone}");
    for entropy in ["spray", "bitmap", "reps"] {
        let (both, outcome) = with(entropy, &[]);
        assert!((1.5..2.006).contains(&both), "{entropy}: {both}");
        assert_eq!(outcome.long_flows[0].host_rate, Rate::gbps(20), "{entropy}");
        // One of the links dies: the other carries what it can.
        let cut = r#"[{ at = "10ms", fail = ["host-1 leaf-1"] }]"#;
        let (left, outcome) = with(entropy, &[("event", cut), ("measure.warm_up", "60ms")]);
        assert!((0.8..1.003).contains(&left), "{entropy}: {left}");
        assert!(outcome.totals.lost_to_failures > 0, "{entropy}");
    }
}

/// A connection has one interface, another may have the other: of 16 all have the same with a
/// probability of 2^-15.
#[test]
fn tcp_connections_are_spread_over_the_interfaces() {
    let pairs = format!("[{}]", vec!["\"host-1 host-3\""; 16].join(","));
    let overrides = [("transport", r#"{ kind = "tcp" }"#), ("workload.pairs", &pairs)];
    let all = goodput(&run(&scenario(ONE_FLOW, &overrides), 1));
    assert!((1.9..2.006).contains(&all), "{all}");
    let one = [overrides[0]];
    let alone = goodput(&run(&scenario(ONE_FLOW, &one), 1));
    assert!((0.97..1.003).contains(&alone), "{alone}");
}

#[test]
fn a_connection_goes_on_when_an_interface_is_cut() {
    let cut = r#"[{ at = "10ms", fail = ["host-1 leaf-1 #2"] }]"#;
    // Measured once what was in flight has been sent again on the other.
    let overrides = [("event", cut), ("measure.warm_up", "60ms")];
    let outcome = run(&scenario(ONE_FLOW, &overrides), 1);
    let goodput = goodput(&outcome);
    assert!((0.9..1.003).contains(&goodput), "{goodput}");
    assert!(outcome.totals.timeouts > 0 && outcome.totals.lost_to_failures > 0);
}

/// 100 full segments over two interfaces are 50 each: store-and-forward over four links, the first
/// and the last of 10 Gbps. Delays and the handshake as with one.
#[test]
fn the_ideal_time_is_that_of_half_the_segments() {
    let ideal = |interfaces: &str, transport: &str, size: u64| {
        let overrides = [
            ("fabric.interfaces", interfaces),
            ("transport", transport),
            ("measure.warm_up", "0s"),
        ];
        let flows = format!("0s,host-1,host-3,{size}B");
        let outcome =
            run(&replay(&ONE_FLOW.replace("duration = \"50ms\"", ""), &overrides, &flows), 1);
        let flow = outcome.flows[0];
        assert!(flow.fct >= flow.ideal_fct, "{interfaces} {transport}: {flow:?}");
        flow.ideal_fct
    };
    let (mptcp, tcp) = (r#"{ kind = "mptcp", subflows = 2 }"#, r#"{ kind = "tcp" }"#);
    let segments = |count: u64| ideal("1", mptcp, count * 1460);
    assert_eq!(segments(50) - segments(49), Rate::gbps(10).time_for(Bytes(1518)));
    for count in [2, 100, 101, 500] {
        assert_eq!(ideal("2", mptcp, count * 1460), segments(count.div_ceil(2)), "{count}");
        assert_eq!(ideal("2", tcp, count * 1460), segments(count), "{count}");
    }
    assert_eq!(ideal("4", mptcp, 146_000), segments(50), "as many as subflows");
    assert_eq!(ideal("2", mptcp, 100), ideal("1", mptcp, 100));
    let odd = ideal("2", mptcp, 2 * 1460 + 1);
    assert!(odd > segments(1) && odd < segments(2), "a full segment and a small one");
    assert!(ideal("2", mptcp, 146_000) > Time::micros(50));
}

/// Web search on 16 hosts a ToR: the same flows under each scheme; none is faster than its ideal
/// time.
#[test]
fn no_flow_is_faster_than_its_ideal_time() {
    let text = r#"
        fabric = { kind = "two-pod", hosts_per_tor = 16, interfaces = 2 }
        transport = { kind = "mptcp", subflows = 2, receive_window = "256KB" }
        workload = { kind = "flows", sizes = "websearch", load = 0.6, connections = "per-flow" }
        measure = { warm_up = "2ms", flows = 150 }
    "#;
    for (scheme, entropy) in [
        ("ecmp", "flow"),
        ("ecmp", "spray"),
        ("hula", "flow"),
        ("mp-hula", "flow"),
        ("spray", "flow"),
        ("ideal", "flow"),
    ] {
        let outcome = run(&scenario(text, &[("scheme", scheme), ("entropy", entropy)]), 1);
        assert_eq!(outcome.flows.len(), 150, "{scheme} {entropy}");
        let faster = outcome.flows.iter().find(|flow| flow.fct < flow.ideal_fct);
        assert_eq!(faster, None, "{scheme} {entropy}");
    }
}
