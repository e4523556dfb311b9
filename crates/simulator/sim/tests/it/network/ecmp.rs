//! ECMP statistics: each flow takes each path with the same probability, independently.

use std::fmt::Write as _;

use heddle_sim::Outcome;

use crate::network::support::{replay, run};

/// Flows of a SYN (64 bytes) and 1000 bytes (1058 on the wire) from one client side.
const FLOW: u32 = 64 + 1058;
const FLOWS: u32 = 1000;

/// Flows from hosts 1 to 4 to four from `first_server` on, and one at last between neighbours, to
/// end the run later.
fn flows(first_server: u32) -> String {
    let mut list = String::new();
    for i in 0..FLOWS {
        let (client, server) = (i % 4 + 1, i / 4 % 4 + first_server);
        writeln!(list, "{}us,host-{client},host-{server},1000B", i * 3).expect("it is a string");
    }
    list + "5ms,host-1,host-2,1B"
}

/// Flows that went from one switch to another.
fn flows_between(outcome: &Outcome, from: &str, to: &str) -> f64 {
    let samples = &outcome.samples;
    let port = samples.port(from, to).expect("they are linked");
    let bytes: u32 = samples.sent.chunks(samples.ports.len()).map(|row| row[port]).sum();
    assert_eq!(bytes % FLOW, 0, "whole flows");
    f64::from(bytes / FLOW)
}

/// Pearson's statistic of counts that should be equal.
fn chi_square(counts: &[f64]) -> f64 {
    let expected = counts.iter().sum::<f64>() / counts.len() as f64;
    counts.iter().map(|count| (count - expected).powi(2) / expected).sum()
}

/// Over 40 seeds the statistic sums to a chi-square variable of 40 * 3 degrees of freedom: neither
/// uneven nor, as with round robin, too even. Bounds are 4 sigma.
#[test]
fn flows_are_split_binomially_over_the_uplinks() {
    let text = r#"
        scheme = "ecmp"
        [fabric]
        kind = "leaf-spine"
        spines = 4
        hosts_per_leaf = 4
        parallel_links = 1
        [measure]
        sample_every = "100us"
    "#;
    let scenario = replay(text, &[], &flows(5));
    let statistic = |seed| {
        let outcome = run(&scenario, seed);
        let counts =
            [1, 2, 3, 4].map(|spine| flows_between(&outcome, "leaf-1", &format!("spine-{spine}")));
        assert_eq!(counts.iter().sum::<f64>(), f64::from(FLOWS));
        chi_square(&counts)
    };
    let sum: f64 = (1..=40).map(statistic).sum();
    let (mean, sigma) = (120.0, 240f64.sqrt());
    assert!((sum - mean).abs() < 4.0 * sigma, "{sum}");
}

/// The second choice does not follow from the first: hashing does not polarise.
#[test]
fn each_of_four_paths_takes_a_quarter() {
    let text = r#"
        scheme = "ecmp"
        [fabric]
        kind = "two-pod"
        hosts_per_tor = 4
        [measure]
        sample_every = "100us"
    "#;
    let scenario = replay(text, &[], &flows(9));
    let mut paths = [0.0; 4];
    for seed in 1..=10 {
        let outcome = run(&scenario, seed);
        let path = |i: usize| format!("agg-{}", i / 2 + 1);
        for (i, count) in paths.iter_mut().enumerate() {
            *count += flows_between(&outcome, &path(i), &format!("core-{}", i % 2 + 1));
        }
    }
    assert_eq!(paths.iter().sum::<f64>(), f64::from(FLOWS) * 10.0);
    assert!(chi_square(&paths) < 21.1, "p < 0.0001 for 3 degrees: {paths:?}");
}
