//! A divided run against the whole one: equal outcomes, digests included.

use heddle_fabric::Fabric;
use heddle_policy::{Ecmp, EcmpNs2};
use heddle_scenario::{Scenario, Scheme, Source, load};

use super::layout::Layout;
use super::{divided, indivisible, simulate_on};
use crate::random::{Random, Stream};
use crate::{Next, Outcome, SimError, simulate};

/// Long flows that start together on a fabric in which all links are alike: most events have the
/// time of others.
const TOGETHER: &str = r#"
    scheme = "ecmp"
    fabric = { kind = "fat-tree", k = 4, rate = "10Gbps", link_delay = "2us", port_buffer = "30KB" }
    transport = { kind = "tcp", min_rto = "200us", initial_rto = "300us" }
    workload = { kind = "long", start_within = "1ps" }
    measure = { warm_up = "100us", duration = "300us" }
"#;

/// Flows on persistent connections at random times, marks, samples.
const APART: &str = r#"
    scheme = "ecmp"
    fabric = { kind = "two-pod", hosts_per_tor = 2, core_rate = "10Gbps", link_delay = "3us", port_buffer = "40KB", mark_above = "15KB" }
    transport = { kind = "tcp", control = "dctcp", min_rto = "200us", delayed_ack = "50us" }
    workload = { kind = "flows", sizes = "fixed:30KB", load = 0.6 }
    measure = { warm_up = "200us", duration = "600us", sample_every = "100us" }
"#;

/// Other differences from these.
const CHANGES: &[(&str, &[(&str, &str)])] = &[
    (TOGETHER, &[]),
    (TOGETHER, &[("transport", r#"{ kind = "mptcp", subflows = 3, min_rto = "200us" }"#)]),
    (TOGETHER, &[("transport", r#"{ kind = "uet", control = "fixed" }"#), ("scheme", "ecmp-ns2")]),
    (TOGETHER, &[("fabric.port_packets", "12"), ("transport.output_limit", "6KB")]),
    (APART, &[]),
    (
        APART,
        &[
            ("workload.pattern", "incast"),
            ("workload.senders", "5"),
            ("transport", r#"{ kind = "tcp", min_rto = "200us" }"#),
        ],
    ),
    (
        APART,
        &[
            (
                "fabric",
                r#"{ kind = "leaf-spine", leaves = 3, hosts_per_leaf = 3, link_delay = "3us", spine_rate = "5Gbps", parallel_links = 1, shared_buffer = { bytes = "60KB", alpha = 1.0 }, mark_above = "12KB" }"#,
            ),
            ("workload.pattern", "all-to-all"),
        ],
    ),
];

fn scenario((text, changes): (&str, &[(&str, &str)])) -> Scenario {
    let source = changes
        .iter()
        .fold(Source::new("divided.toml", text), |source, (key, value)| source.with(*key, *value));
    let no_files = |path: &str| Err(std::io::Error::other(path.to_owned()));
    load(&source, &no_files).unwrap_or_else(|error| panic!("{error}"))
}

fn whole(scenario: &Scenario) -> Outcome {
    let outcome = simulate(scenario, 3, &mut |_| Next::Continue).unwrap();
    assert!(outcome.totals.received > 500, "{}", outcome.totals.received);
    outcome
}

#[test]
fn any_number_of_threads_gives_the_outcome_of_one() {
    for change in CHANGES {
        let scenario = scenario(*change);
        let whole = whole(&scenario);
        for threads in [2, 3] {
            let outcome = simulate_on(threads, &scenario, 3, &mut |_| Next::Continue).unwrap();
            assert_eq!(outcome, whole, "{change:?} on {threads} threads");
        }
    }
}

/// ToRs and switches of any part, so that any link between switches may lead to another.
#[test]
fn any_parts_give_the_outcome_of_one() {
    for (change, seed) in CHANGES.iter().zip(1..) {
        let scenario = scenario(*change);
        let whole = whole(&scenario);
        let fabric = Fabric::new(&scenario.fabric.graph).unwrap();
        let mut random = Random::new(seed, Stream::Layout);
        let parts = 2 + seed % 3;
        let of_switch: Vec<u16> =
            (0..fabric.switches()).map(|_| random.below(parts) as u16).collect();
        let layout = Layout::new(&fabric, parts as u16, |switch| of_switch[switch as usize]);
        let run = match scenario.scheme {
            Scheme::EcmpNs2 => divided::<EcmpNs2>,
            _ => divided::<Ecmp>,
        };
        let outcome = run(&layout, &scenario, 3, &mut |_| Next::Continue).unwrap();
        assert_eq!(outcome, whole, "{change:?} {of_switch:?}");
    }
}

#[test]
fn a_watcher_stops_all_threads() {
    let scenario = scenario((TOGETHER, &[]));
    let stopped = simulate_on(2, &scenario, 3, &mut |_| Next::Stop);
    assert_eq!(stopped, Err(SimError::Interrupted));
}

#[test]
fn what_cannot_be_divided_is_refused_with_the_reason() {
    let refused = |changes: &[(&str, &str)]| {
        let scenario = scenario((APART, changes));
        let reason = indivisible(&scenario).expect("it cannot be divided");
        let error = simulate_on(2, &scenario, 1, &mut |_| Next::Continue).unwrap_err();
        assert_eq!(error, SimError::Indivisible(reason));
        assert!(simulate_on(1, &scenario, 1, &mut |_| Next::Stop) != Err(error));
        reason
    };
    assert!(refused(&[("scheme", "hula")]).contains("scheme"));
    assert!(refused(&[("workload.connections", "per-flow")]).contains("flows"));
    assert!(refused(&[("fabric.link_delay", "0ns")]).contains("delay"));
    let flows = r#"{ warm_up = "200us", flows = 30 }"#;
    assert!(refused(&[("measure", flows)]).contains("measured flow"));
    let red = r#"{ kind = "two-pod", red = { min = "2KB", max = "12KB", weight = 0.1 } }"#;
    assert!(refused(&[("fabric", red)]).contains("RED"));
    for control in ["rccc", "nscc-rccc"] {
        let transport = format!(r#"{{ kind = "uet", control = "{control}" }}"#);
        let marks = [("fabric.mark_above", "20KB"), ("transport", &transport)];
        assert!(refused(&marks).contains("credit"));
    }
}
