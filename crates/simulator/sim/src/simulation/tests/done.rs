//! Estimates of a run's work beside the work that it took.

use heddle_scenario::{Source, load};

use super::*;

/// Estimates at even steps of events: packet hops, and the done part.
struct Estimates<'a>(&'a Scenario);

/// Events between two estimates.
const EVERY: u64 = 500;

impl schemes::WithScheme for Estimates<'_> {
    type Output = Vec<(f64, f64)>;

    fn with<S: Scheme>(self, config: S::Config) -> Self::Output {
        let mut simulation =
            Simulation::<S>::new(self.0, config, 1).unwrap_or_else(|error| panic!("{error}"));
        let mut estimates = Vec::new();
        while simulation.step() {
            if simulation.totals.events.is_multiple_of(EVERY) {
                estimates.push((simulation.network.hops as f64, simulation.done()));
            }
        }
        estimates.push((simulation.network.hops as f64, simulation.done()));
        estimates
    }
}

const LEAF_SPINE: &str = r#"{ kind = "leaf-spine", leaves = 4, spines = 2, hosts_per_leaf = 8 }"#;

/// Fabric, scheme, workload and measurement.
const SCENARIOS: [(&str, [&str; 4]); 15] = [
    (
        "short flows that a round trip delays, as of 8192 hosts at 100 Gbps",
        [
            r#"{ kind = "fat-tree", k = 8, rate = "100Gbps" }"#,
            "ecmp",
            r#"{ kind = "flows", sizes = "fixed:10KB", load = 0.4, connections = "per-flow" }"#,
            r#"{ warm_up = "100us", flows = 2000 }"#,
        ],
    ),
    (
        "probes before the first flow",
        [
            LEAF_SPINE,
            "hula",
            r#"{ kind = "flows", sizes = "fixed:50KB", load = 0.5 }"#,
            r#"{ probe_warm_up = "5ms", warm_up = "1ms", flows = 2000 }"#,
        ],
    ),
    (
        "large and small flows for a time",
        [
            LEAF_SPINE,
            "spray",
            r#"{ kind = "flows", sizes = "hadoop", load = 0.6 }"#,
            r#"{ warm_up = "1ms", duration = "4ms" }"#,
        ],
    ),
    (
        "a number of large flows",
        [
            LEAF_SPINE,
            "letitflow",
            r#"{ kind = "flows", sizes = "fixed:1MB", load = 0.4 }"#,
            r#"{ warm_up = "1ms", flows = 200 }"#,
        ],
    ),
    (
        "few flows that last longer than all take to arrive",
        [
            LEAF_SPINE,
            "ecmp",
            r#"{ kind = "flows", sizes = "fixed:20MB", load = 0.2 }"#,
            r#"{ warm_up = "1ms", flows = 10 }"#,
        ],
    ),
    (
        "few flows of which some are long",
        [
            LEAF_SPINE,
            "ecmp",
            r#"{ kind = "flows", sizes = "websearch", load = 0.5 }"#,
            r#"{ warm_up = "1ms", flows = 10 }"#,
        ],
    ),
    (
        "flows without end",
        [
            LEAF_SPINE,
            "ecmp",
            r#"{ kind = "long", start_within = "100us" }"#,
            r#"{ warm_up = "0s", duration = "3ms" }"#,
        ],
    ),
    (
        "a collective operation",
        [
            LEAF_SPINE,
            "ecmp",
            r#"{ kind = "collective", operation = "ring-all-reduce", size = "2MB" }"#,
            "{}",
        ],
    ),
    (
        "tokens to experts and back",
        [
            LEAF_SPINE,
            "ecmp",
            r#"{ kind = "collective", operation = "expert-all-to-all", size = "2MB" }"#,
            "{}",
        ],
    ),
    (
        "a closed loop of connections",
        [
            LEAF_SPINE,
            "drill",
            r#"{ kind = "flows", sizes = "fixed:100KB", load = 0.5, pattern = "permutation", connections = "closed-loop", connections_per_pair = 1 }"#,
            r#"{ warm_up = "1ms", flows = 600 }"#,
        ],
    ),
    (
        "requests",
        [
            LEAF_SPINE,
            "ecmp",
            r#"{ kind = "requests", request_size = "1KB", sizes = "fixed:40KB", think = "50us", fan_out = 2 }"#,
            r#"{ warm_up = "500us", flows = 1500 }"#,
        ],
    ),
    (
        "incast",
        [
            LEAF_SPINE,
            "ecmp",
            r#"{ kind = "flows", sizes = "fixed:20KB", load = 0.2, pattern = "incast", senders = 8 }"#,
            r#"{ warm_up = "1ms", flows = 2000 }"#,
        ],
    ),
    (
        "lost packets, and a timeout at the end",
        [
            r#"{ kind = "leaf-spine", leaves = 4, spines = 2, hosts_per_leaf = 8, port_buffer = "30KB" }"#,
            "ecmp",
            r#"{ kind = "flows", sizes = "fixed:20KB", load = 0.5 }"#,
            r#"{ warm_up = "1ms", flows = 2000 }"#,
        ],
    ),
    (
        "mptcp",
        [
            LEAF_SPINE,
            "ecmp",
            r#"{ kind = "flows", sizes = "fixed:200KB", load = 0.4, connections = "per-flow" }"#,
            r#"{ warm_up = "1ms", flows = 500 }"#,
        ],
    ),
    (
        "two workloads",
        [
            LEAF_SPINE,
            "ecmp",
            r#"[{ name = "a", kind = "flows", sizes = "fixed:10KB", load = 0.2 }, { name = "b", kind = "flows", sizes = "fixed:300KB", load = 0.3 }]"#,
            r#"{ warm_up = "1ms", flows = 2000 }"#,
        ],
    ),
];

fn scenario(name: &str, [fabric, scheme, workload, measure]: [&str; 4]) -> Scenario {
    let control = if name == "mptcp" { "mptcp" } else { "tcp" };
    let text = format!(
        "scheme = \"{scheme}\"\nfabric = {fabric}\ntransport = {{ kind = \"{control}\", min_rto = \"1ms\" }}\n\
         workload = {workload}\nmeasure = {measure}\n"
    );
    let no_files = |path: &str| Err(std::io::Error::other(path.to_owned()));
    load(&Source::new(name, text), &no_files).unwrap_or_else(|error| panic!("{error}"))
}

/// After a tenth of the work the estimate of the whole is within a third of the truth, and stays so.
#[test]
fn a_tenth_of_a_run_says_how_long_the_whole_is() {
    let mut wrong = Vec::new();
    for (name, parts) in SCENARIOS {
        let scenario = scenario(name, parts);
        let estimates = schemes::dispatch(&scenario.scheme, 1, Estimates(&scenario))
            .unwrap_or_else(|error| panic!("{error}"));
        let whole = estimates.last().map_or(0.0, |(hops, _)| *hops);
        let after = |share: f64| {
            let (hops, part) =
                estimates.iter().find(|(hops, _)| *hops >= whole * share).expect("the last");
            hops / part / whole
        };
        let ratios = [0.1, 0.3, 0.6, 0.9].map(after);
        if !ratios.iter().all(|ratio| (2.0 / 3.0..=4.0 / 3.0).contains(ratio)) {
            wrong.push(format!("{name}: {ratios:.2?} of {whole} packet hops"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
