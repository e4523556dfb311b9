//! Hosts with links to several ToRs, against arithmetic: hosts 1 and 2 have leaves 1 and 2, hosts 3
//! and 4 leaves 3 and 4.

use heddle_sim::Outcome;
use heddle_units::Time;

use crate::network::support::{Overrides, replay, run, scenario};

const FABRIC: &str = r#"
    scheme = "ecmp"
    [fabric]
    kind = "leaf-spine"
    leaves = 4
    spines = 4
    hosts_per_leaf = 1
    parallel_links = 1
    spine_rate = "100Gbps"
    tors_per_host = 2
    convergence = "5ms"
    [transport]
    kind = "tcp"
    min_rto = "10ms"
    [measure]
    warm_up = "0s"
"#;

/// Eight flows of one segment between the failure at 5 ms and the convergence at 10 ms, and eight
/// when those that lost a packet have sent it again.
fn extra_times(overrides: Overrides, fail: &str) -> (Vec<Time>, Vec<Time>, Outcome) {
    let at = |from: u64| (0..8).map(move |flow| from + 50 * flow);
    let line = |at: u64| format!("{at}us,host-1,host-3,1000B\n");
    let flows: String = at(6_000).chain(at(40_000)).map(line).collect();
    let event = format!("[{{ at = \"5ms\", fail = {fail} }}]");
    let events = [("event", event.as_str()), ("measure.probe_warm_up", "0s")];
    let outcome = run(&replay(FABRIC, &[overrides, &events].concat(), &flows), 1);
    let mut records = outcome.flows.clone();
    records.sort_by_key(|flow| flow.start);
    let extra: Vec<Time> = records.iter().map(|flow| flow.fct - flow.ideal_fct).collect();
    assert_eq!(extra.len(), 16, "{fail}: all have ended");
    (extra[..8].to_vec(), extra[8..].to_vec(), outcome)
}

/// The most that a probe before a packet, or a shim, can add.
const NEARLY: Time = Time::micros(1);

#[test]
fn flows_go_on_by_the_other_tor_under_each_scheme() {
    let schemes =
        ["ecmp", "spray", "drill", "letitflow", "conga", "hula", "mp-hula", "shuttle", "flowcut"];
    let cases = [
        (r#"["leaf-1"]"#, "1"),
        (r#"["host-1 leaf-1"]"#, "1"),
        (r#"["host-1 leaf-1"]"#, "2"),
        (r#"["spine-1", "spine-3"]"#, "2"),
    ];
    for (scheme, (fail, planes)) in schemes.iter().flat_map(|scheme| cases.map(|c| (*scheme, c))) {
        let overrides = [("scheme", scheme), ("fabric.planes", planes)];
        let (before, after, outcome) = extra_times(&overrides, fail);
        let context = format!("{scheme}, {fail}, {planes} planes: {before:?} {after:?}");
        assert!(after.iter().all(|extra| *extra < NEARLY), "{context}");
        // A connection whose turn is the ToR that is cut off loses its SYN, or the answer, which
        // the host sends again after 10 ms.
        let sent_again =
            |extra: &&Time| (Time::millis(10)..Time::millis(10) + NEARLY).contains(*extra);
        let late = before.iter().filter(sent_again).count();
        let in_time = before.iter().filter(|extra| **extra < NEARLY).count();
        assert_eq!(late + in_time, 8, "{context}");
        assert!(late > 0 && in_time > 0, "some have either ToR: {context}");
        if scheme == "ecmp" {
            assert_eq!(outcome.totals.lost_to_failures, late as u64, "one packet each: {context}");
        }
    }
}

/// Host 1 is left with leaf 2, and host 3 with leaf 3.
#[test]
fn ends_without_a_common_number_take_what_is_left() {
    let fail = r#"["host-1 leaf-1", "host-3 leaf-4"]"#;
    for scheme in ["ecmp", "hula"] {
        let (before, after, _) = extra_times(&[("scheme", scheme)], fail);
        assert!(before.iter().all(|extra| *extra >= Time::millis(10)), "{scheme}: {before:?}");
        assert!(after.iter().all(|extra| *extra < NEARLY), "{scheme}: {after:?}");
    }
}

/// Goodput of long flows from host 1 to host 3, relative to the payload capacity of a link.
fn goodput(overrides: Overrides) -> f64 {
    let long = [
        ("workload", r#"{ kind = "long", pairs = ["host-1 host-3"] }"#),
        ("measure", r#"{ warm_up = "60ms", duration = "20ms" }"#),
    ];
    let outcome = run(&scenario(FABRIC, &[&long, overrides].concat()), 1);
    let sum: u64 = outcome.long_flows.iter().map(|flow| flow.goodput().0).sum();
    sum as f64 / (10e9 * 1460.0 / 1518.0)
}

#[test]
fn subflows_have_a_tor_each_and_connections_one_by_a_hash() {
    let mptcp = ("transport", r#"{ kind = "mptcp", subflows = 2 }"#);
    let pairs =
        format!("{{ kind = \"long\", pairs = [{}] }}", vec!["\"host-1 host-3\""; 16].join(","));
    for (links, overrides) in [
        (1.0, vec![]),
        (2.0, vec![mptcp]),
        (2.0, vec![mptcp, ("fabric.planes", "2")]),
        // Windows that the hosts' own queues hold.
        (2.0, vec![("workload", &*pairs), ("transport.receive_window", "256KB")]),
        (1.0, vec![("scheme", "ideal")]),
        (2.0, vec![mptcp, ("scheme", "ideal")]),
    ] {
        let share = goodput(&overrides) / links;
        assert!((0.97..1.003).contains(&share), "{overrides:?}: {share} of {links} links");
    }
}

/// One ToR carries both subflows while the other is down, and half again when it is back.
#[test]
fn subflows_return_to_a_tor_that_is_back() {
    let mptcp = ("transport", r#"{ kind = "mptcp", subflows = 2 }"#);
    let (fail, recover) =
        (r#"{ at = "5ms", fail = ["leaf-1"] }"#, r#"{ at = "20ms", recover = ["leaf-1"] }"#);
    let [down, back] = [format!("[{fail}]"), format!("[{fail}, {recover}]")];
    for scheme in ["ecmp", "hula"] {
        let with = |event| goodput(&[mptcp, ("scheme", scheme), ("event", event)]);
        let (down, back) = (with(&down), with(&back));
        assert!((0.95..1.003).contains(&down), "{scheme}: {down}");
        assert!((1.9..2.006).contains(&back), "{scheme}: {back}");
    }
}
