//! One seed gives one result in any number of threads, and the same traffic under every scheme.

use std::thread;

use heddle_scenario::{Scenario, Workload};
use heddle_sim::Outcome;
use heddle_units::{Bytes, Time};
use proptest::prelude::*;

use crate::network::random_fabrics::{scenario_with_failures, schemes_for};
use crate::network::support::{run, scenario};

const TWO_POD: &str = r#"
    scheme = "ecmp"
    [fabric]
    kind = "two-pod"
    hosts_per_tor = 2
    core_rate = "10Gbps"
    port_buffer = "30KB"
    [transport]
    kind = "tcp"
    min_rto = "1ms"
    [workload]
    kind = "flows"
    sizes = "fixed:30KB"
    load = 0.5
    [measure]
    warm_up = "500us"
    flows = 60
"#;

/// A few patterns, connections and fabrics.
fn samples() -> Vec<Scenario> {
    let leaf_spine = [
        ("fabric", r#"{ kind = "leaf-spine", hosts_per_leaf = 4, port_buffer = "30KB" }"#),
        ("workload.pattern", "incast"),
        ("workload.senders", "3"),
        ("workload.connections", "per-flow"),
    ];
    let others = [&[][..], &[("workload.pattern", "all-to-all")], &leaf_spine];
    others.map(|overrides| scenario(TWO_POD, overrides)).into()
}

fn concurrently(threads: usize, scenario: &Scenario, seed: u64) -> Vec<Outcome> {
    thread::scope(|scope| {
        let runs: Vec<_> = (0..threads).map(|_| scope.spawn(|| run(scenario, seed))).collect();
        runs.into_iter().map(|run| run.join().expect("it ran")).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_seed_gives_one_outcome_in_any_number_of_threads(
        scenario in scenario_with_failures(),
        seed: u64,
    ) {
        let alone = run(&scenario, seed);
        for threads in [1, 2, 4] {
            for outcome in concurrently(threads, &scenario, seed) {
                prop_assert_eq!(&outcome, &alone, "{} threads", threads);
            }
        }
    }
}

#[test]
fn another_seed_gives_another_run() {
    for scenario in samples() {
        for scheme in schemes_for(&scenario.fabric.graph) {
            let scenario = Scenario { scheme: scheme.clone(), ..scenario.clone() };
            let [first, same, other] = [1, 1, 2].map(|seed| run(&scenario, seed).digest);
            assert_eq!(first, same, "{scheme:?}");
            assert_ne!(first, other, "{scheme:?}");
        }
    }
}

type Start = (Time, u32, u32, Bytes);

/// Start, endpoints and size of the measured flows.
fn traffic(scenario: &Scenario, seed: u64) -> Vec<Start> {
    let outcome = run(scenario, seed);
    let mut flows: Vec<Start> =
        outcome.flows.iter().map(|f| (f.start, f.from, f.to, f.size)).collect();
    flows.sort_unstable();
    flows
}

#[test]
fn all_schemes_see_the_traffic_of_the_seed() {
    for scenario in samples() {
        assert!(matches!(scenario.workload, Workload::Flows(_)));
        let expected = traffic(&scenario, 7);
        assert_eq!(expected.len(), 60);
        for scheme in schemes_for(&scenario.fabric.graph) {
            let scenario = Scenario { scheme: scheme.clone(), ..scenario.clone() };
            assert_eq!(traffic(&scenario, 7), expected, "{scheme:?}");
        }
    }
}
