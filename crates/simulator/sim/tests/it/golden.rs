//! Golden results: a small run of each scheme, with its figures in a table that shows any change of
//! behaviour.
//!
//! After an intended change of results, review the new table and accept it (`cargo insta review`).

use std::fmt::Write as _;

use heddle_scenario::{Source, load};
use heddle_sim::{Next, Outcome, simulate};

/// Two fabrics, a mix of sizes, full buffers, and a link that fails and recovers.
const TWO_POD: &str = r#"
    [fabric]
    kind = "two-pod"
    hosts_per_tor = 4
    core_rate = "10Gbps"
    port_buffer = "60KB"
    convergence = "1ms"
    [transport]
    kind = "tcp"
    min_rto = "1ms"
    [workload]
    kind = "flows"
    sizes = "websearch"
    load = 0.6
    [measure]
    warm_up = "2ms"
    flows = 100
    [[event]]
    at = "5ms"
    fail = ["core-2 agg-4"]
    [[event]]
    at = "15ms"
    recover = ["core-2 agg-4"]
"#;

const LEAF_SPINE: &str = r#"
    [fabric]
    kind = "leaf-spine"
    hosts_per_leaf = 8
    spine_rate = "10Gbps"
    link = [{ between = "leaf-2 spine-2 #1", rate = "5Gbps" }]
    [transport]
    kind = "tcp"
    control = "dctcp"
    delayed_ack = "100us"
    [workload]
    kind = "flows"
    sizes = "hadoop"
    load = 0.6
    connections = "per-flow"
    [measure]
    warm_up = "1ms"
    flows = 300
"#;

const SCHEMES: [&str; 9] =
    ["ecmp", "cflb", "conga", "conga-prime", "letitflow", "drill", "spray", "hula", "ideal"];

/// MPTCP on the first of them.
const MPTCP: [(&str, &str); 3] = [
    ("transport.kind", "mptcp"),
    ("workload.connections", "per-flow"),
    ("transport.subflows", "4"),
];

fn run(text: &str, overrides: &[(&str, &str)], scheme: &str) -> Option<Outcome> {
    let no_files = |path: &str| Err(std::io::Error::other(path.to_owned()));
    let source = Source::new("golden.toml", text).with("scheme", scheme);
    let source = overrides.iter().fold(source, |source, (key, value)| source.with(*key, *value));
    let scenario = load(&source, &no_files).ok()?;
    simulate(&scenario, 1, &mut |_| Next::Continue).ok()
}

/// A row for each scheme that fits the fabric.
fn table(text: &str, overrides: &[(&str, &str)], schemes: &[&str]) -> String {
    let mut table = format!(
        "{:12}{:>16}{:>12}{:>10}{:>9}{:>8}{:>11}{:>10}\n",
        "scheme", "digest", "mean fct us", "hops", "dropped", "marked", "retransmit", "reordered"
    );
    for scheme in schemes {
        let Some(outcome) = run(text, overrides, scheme) else { continue };
        let totals = outcome.totals;
        let sum: u64 = outcome.flows.iter().map(|flow| flow.fct.as_nanos()).sum();
        let mean = sum / outcome.flows.len() as u64 / 1000;
        writeln!(
            table,
            "{scheme:12}{:>16x}{mean:>12}{:>10}{:>9}{:>8}{:>11}{:>10}",
            outcome.digest,
            totals.packet_hops,
            totals.dropped,
            totals.ecn_marked,
            totals.retransmitted,
            totals.reordered,
        )
        .expect("it is a string");
    }
    table
}

#[test]
fn two_pod_web_search_with_a_failure() {
    insta::assert_snapshot!(table(TWO_POD, &[], &SCHEMES));
}

#[test]
fn leaf_spine_hadoop_with_a_slow_link() {
    insta::assert_snapshot!(table(LEAF_SPINE, &[], &SCHEMES));
}

#[test]
fn two_pod_web_search_by_mptcp_with_a_failure() {
    insta::assert_snapshot!(table(TWO_POD, &MPTCP, &["ecmp", "cflb", "hula", "mp-hula"]));
}
