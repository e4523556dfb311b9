//! MPTCP throughput on one path and on two, with and without competing traffic.

use heddle_sim::Outcome;

use crate::network::support::{run, scenario};

/// Two spines; a host's link is as fast as four links between switches.
const LEAF_SPINE: &str = r#"
    scheme = "ecmp"
    [fabric]
    kind = "leaf-spine"
    leaves = 3
    hosts_per_leaf = 1
    parallel_links = 1
    host_rate = "40Gbps"
    spine_rate = "10Gbps"
    link_delay = "5us"
    [transport]
    kind = "mptcp"
    subflows = 2
    [workload]
    kind = "long"
    pairs = ["host-1 host-2"]
    [measure]
    warm_up = "100ms"
    duration = "100ms"
    sample_every = "100us"
"#;

/// Goodput in the measuring window, relative to the payload capacity of a link of 10 Gbps.
fn goodput(outcome: &Outcome) -> f64 {
    let totals = &outcome.totals;
    let rate = totals.delivered_in_window.0 as f64 * 8.0 / totals.window.as_secs_f64();
    rate / (10e9 * 1460.0 / 1518.0)
}

/// Different paths that the connection's subflows are on.
fn paths(outcome: &Outcome) -> u64 {
    let used = outcome.path_use.expect("it is sampled");
    assert_eq!(used.subflows_sum, used.samples * 2, "both are active");
    assert_eq!(used.paths_sum % used.samples, 0, "ECMP moves no flow");
    used.paths_sum / used.samples
}

#[test]
fn two_subflows_are_as_fast_as_the_paths_that_they_are_on() {
    for coupling in ["uncoupled", "lia"] {
        let mut seen = [0; 3];
        for seed in 1..=5 {
            let scenario = scenario(LEAF_SPINE, &[("transport.coupling", coupling)]);
            let outcome = run(&scenario, seed);
            let (paths, goodput) = (paths(&outcome), goodput(&outcome));
            let share = goodput / paths as f64;
            assert!((0.95..1.003).contains(&share), "{coupling}: {goodput} over {paths}");
            let used = outcome.path_use.expect("it is sampled");
            let expected = if paths == 1 { used.samples } else { 0 };
            assert_eq!((used.shared, used.shared_first_hop), (expected, expected));
            seen[paths as usize] += 1;
        }
        assert!(seen[1] > 0 && seen[2] > 0, "{seen:?}");
    }
}

#[test]
fn a_hosts_link_limits_all_subflows_together() {
    for coupling in ["uncoupled", "lia"] {
        for subflows in ["1", "2", "4", "8"] {
            let overrides = [
                ("fabric.host_rate", "10Gbps"),
                ("fabric.spine_rate", "40Gbps"),
                ("transport.coupling", coupling),
                ("transport.subflows", subflows),
            ];
            let goodput = goodput(&run(&scenario(LEAF_SPINE, &overrides), 1));
            assert!((0.97..1.003).contains(&goodput), "{coupling}, {subflows}: {goodput}");
        }
    }
}

/// Utilisation of a port of 10 Gbps in the measuring window.
fn load(outcome: &Outcome, from: &str, to: &str) -> f64 {
    let port = outcome.samples.port(from, to).expect("they are linked");
    let shares = outcome.samples.utilisation_of(port).skip(outcome.samples.measured_from);
    let shares: Vec<f64> = shares.collect();
    shares.iter().sum::<f64>() / shares.len() as f64
}

/// Host 3's subflows use spine 1 only towards leaf 2; host 1's use one spine each. Host 3's take
/// the share of one flow there (goal 2 of RFC 6356), so an uncoupled flow of host 1 would have half
/// of it. Goal 3, to move off the more congested path, gives it less.
#[test]
fn coupled_subflows_leave_a_congested_path() {
    let overrides = [
        ("fabric.failed", r#"["leaf-3 spine-2"]"#),
        ("workload.pairs", r#"["host-1 host-2", "host-3 host-2"]"#),
        ("transport.coupling", "lia"),
    ];
    let loads = (1..=8).map(|seed| {
        let outcome = run(&scenario(LEAF_SPINE, &overrides), seed);
        ["spine-1", "spine-2"].map(|spine| load(&outcome, "leaf-1", spine))
    });
    let apart: Vec<_> = loads.filter(|on| on.iter().all(|&load| load > 0.01)).collect();
    assert!(apart.len() > 1, "in some runs host 1 has two paths");
    for [shared, own] in apart {
        assert!(shared < 0.4, "{shared} of the shared path");
        assert!(own > 0.9, "{own} of its own");
    }
}
