//! Links and switches of the two-pod fabric fail during transfers, and no byte of any flow is lost.

use std::fmt::Write as _;

use heddle_scenario::{Change, Event, Scenario};
use heddle_units::Time;
use proptest::prelude::*;
use proptest::sample::select;

use crate::network::conservation::{assert_balanced, assert_finished};
use crate::network::support::{replay, run};

/// 8 hosts, 4 a pod; timers so short that a failure of some milliseconds is met by several.
const TWO_POD: &str = r#"
    [fabric]
    kind = "two-pod"
    hosts_per_tor = 2
    core_rate = "10Gbps"
    convergence = "1ms"
    port_buffer = "60KB"
    [measure]
    probe_warm_up = "1ms"
    time_limit = "5s"
"#;

const TRANSPORTS: [&str; 3] = [
    r#"{ kind = "tcp", min_rto = "1ms", max_rto = "8ms" }"#,
    r#"{ kind = "mptcp", subflows = 2, min_rto = "1ms", max_rto = "8ms" }"#,
    r#"{ kind = "mptcp", subflows = 4, min_rto = "1ms", max_rto = "8ms" }"#,
];

const SCHEMES: [&str; 3] = [
    "ecmp",
    "hula",
    r#"{ kind = "mp-hula", best_k = 2, association_slots = 1024, mapping_rows = 1024 }"#,
];

/// A node, or a link as its two ends.
type Part = (&'static str, Option<&'static str>);

/// Parts whose failure leaves all hosts connected.
const SPARES: [Part; 6] = [
    ("agg-1", None),
    ("agg-4", None),
    ("core-2", None),
    ("core-1", Some("agg-3")),
    ("tor-1", Some("agg-2")),
    ("tor-4", Some("agg-3")),
];

/// Parts whose failure disconnects a host until recovery.
const NEEDED: [Part; 4] =
    [("tor-2", None), ("tor-3", None), ("host-1", None), ("host-8", Some("tor-4"))];

/// Indices of the links that fail with a part.
fn links(scenario: &Scenario, (a, b): Part) -> Vec<u32> {
    let graph = &scenario.fabric.graph;
    let is = |node: u32, name: &str| graph.nodes[node as usize].name == name;
    let touches = |link: &&u32| {
        let (x, y) = graph.links[**link as usize].ends;
        let has = |name: &str| is(x, name) || is(y, name);
        has(a) && b.is_none_or(has)
    };
    (0..graph.links.len() as u32).collect::<Vec<_>>().iter().filter(touches).copied().collect()
}

/// Up to 12 flows in the first milliseconds, between any two hosts.
fn flows() -> impl Strategy<Value = String> {
    let flow = (0u32..3_000, 0u32..8, 1u32..8, 1u32..400_000);
    prop::collection::vec(flow, 1..12).prop_map(|mut flows| {
        flows.sort_unstable();
        flows.into_iter().fold(String::new(), |mut list, (at, from, further, size)| {
            let to = (from + further) % 8;
            writeln!(list, "{at}us,host-{},host-{},{size}B", from + 1, to + 1)
                .expect("it is a string");
            list
        })
    })
}

/// Every flow finishes with all its bytes, with these failures and recoveries.
fn assert_nothing_is_lost(flows: &str, seed: u64, faults: &[(Part, Time, Option<Time>)]) {
    for transport in TRANSPORTS {
        for scheme in SCHEMES {
            let overrides = [("transport", transport), ("scheme", scheme)];
            let mut scenario = replay(TWO_POD, &overrides, flows);
            for &(part, at, back) in faults {
                let links = links(&scenario, part);
                let back = back.map(|back| Event::both_ways(back, Change::Recover, links.clone()));
                scenario.events.push(Event::both_ways(at, Change::Fail, links));
                scenario.events.extend(back);
            }
            scenario.events.sort_by_key(|event| event.at);
            let outcome = run(&scenario, seed);
            assert_balanced(&outcome);
            assert_finished(&scenario, &outcome);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn failures_with_recovery(
        flows in flows(),
        seed: u64,
        part in select([&SPARES[..], &NEEDED[..]].concat()),
        at in 1_000u64..6_000,
        lasts in 1u64..10_000,
    ) {
        let (at, back) = (Time::micros(at), Time::micros(at + lasts));
        assert_nothing_is_lost(&flows, seed, &[(part, at, Some(back))]);
    }

    #[test]
    fn failures_without_recovery(
        flows in flows(),
        seed: u64,
        part in select(&SPARES[..]),
        at in 1_000u64..6_000,
    ) {
        assert_nothing_is_lost(&flows, seed, &[(part, Time::micros(at), None)]);
    }
}
