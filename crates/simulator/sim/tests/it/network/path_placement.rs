//! CFLB: placed subflows use the paths of the scheduler, others are hashed.

use heddle_sim::Outcome;

use crate::network::support::{Overrides, run, scenario};

/// Seven spines of 100 Mbps; one connection of seven subflows (the paper's figure 10).
const SEVEN_LINKS: &str = r#"
    scheme = "cflb"
    [fabric]
    kind = "leaf-spine"
    leaves = 2
    spines = 7
    hosts_per_leaf = 1
    parallel_links = 1
    host_rate = "1Gbps"
    spine_rate = "100Mbps"
    link_delay = "50us"
    [transport]
    kind = "mptcp"
    subflows = 7
    [workload]
    kind = "long"
    pairs = ["host-1 host-2"]
    [measure]
    warm_up = "500ms"
    duration = "300ms"
    sample_every = "20ms"
"#;

/// A permutation of long flows over a small fat-tree.
const PERMUTATION: &str = r#"
    scheme = "cflb"
    [fabric]
    kind = "fat-tree"
    k = 4
    rate = "100Mbps"
    link_delay = "20us"
    [transport]
    kind = "tcp"
    receive_window = "200KB"
    [workload]
    kind = "long"
    [measure]
    warm_up = "200ms"
    duration = "300ms"
"#;

fn outcome(text: &str, overrides: Overrides, seed: u64) -> Outcome {
    run(&scenario(text, overrides), seed)
}

/// Payload in bits per second.
fn goodput(outcome: &Outcome) -> f64 {
    let totals = &outcome.totals;
    totals.delivered_in_window.0 as f64 * 8.0 / totals.window.as_secs_f64()
}

/// Different paths in use, on average.
fn paths(outcome: &Outcome) -> f64 {
    let used = outcome.path_use.expect("it is sampled");
    used.paths_sum as f64 / used.samples as f64
}

/// Section 4.2.2: "the performance of MPTCP-CFLB is completely deterministic", whatever carries the
/// path.
#[test]
fn seven_subflows_take_seven_paths() {
    let most = 7.0 * 100e6 * 1460.0 / 1518.0;
    let schemes = [
        r#"{ kind = "cflb" }"#,
        r#"{ kind = "cflb", cipher = "skip32", radix = 16, placing = "first-fit" }"#,
        r#"{ kind = "cflb", field = "source-port" }"#,
        r#"{ kind = "cflb", field = "source-port", source_ports = "32768-60999" }"#,
    ];
    for scheme in schemes {
        for seed in 1..=3 {
            let outcome = outcome(SEVEN_LINKS, &[("scheme", scheme)], seed);
            assert_eq!((paths(&outcome), outcome.totals.placed), (7.0, 7), "{scheme}");
            let share = goodput(&outcome) / most;
            assert!((0.9..1.003).contains(&share), "{scheme}: {share}");
        }
    }
}

#[test]
fn hashed_subflows_meet() {
    let mean: f64 =
        (1..=20).map(|seed| paths(&outcome(SEVEN_LINKS, &[("scheme", "ecmp")], seed))).sum::<f64>()
            / 20.0;
    // 7 (1 - (6/7)^7) = 4.62 of 7 at random, with a standard deviation of about 0.2 over 20 runs.
    assert!((3.9..5.4).contains(&mean), "{mean}");
}

/// Each of 16 hosts sends to another. Flows are placed as they come and stay, so a few meet all the
/// same.
#[test]
fn placed_flows_are_faster_than_hashed_ones() {
    let sum = |overrides: Overrides| {
        (1..=3).map(|seed| goodput(&outcome(PERMUTATION, overrides, seed))).sum::<f64>()
    };
    let (placed, hashed) = (sum(&[]), sum(&[("scheme", "ecmp")]));
    assert!(placed > 1.15 * hashed, "{placed} {hashed}");
    assert!(placed > 0.7 * 3.0 * 16.0 * 100e6 * 1460.0 / 1518.0, "{placed}");
}

/// Only elephants are placed; acknowledgements never are.
#[test]
fn mice_are_hashed() {
    let sized = |sizes: &str| {
        let workload = format!(
            r#"{{ kind = "flows", sizes = "fixed:{sizes}", load = 0.2, pattern = "all-to-all", connections = "per-flow" }}"#
        );
        let measure = r#"{ flows = 200 }"#;
        outcome(PERMUTATION, &[("workload", &workload), ("measure", measure)], 1)
    };
    let (mice, elephants) = (sized("99KB"), sized("100KB"));
    assert_eq!((mice.totals.placed, mice.flows.len()), (0, 200));
    assert_eq!(elephants.totals.placed, elephants.totals.flows_started);
    // Random digits name one of N next hops in N of B cases: with N = B = 2 in all, but for packets
    // with one next hop only.
    assert!(mice.scheme.hashed == 0 && mice.scheme.controlled > 0);
}

/// Routers renumber their next hops when routing converges after a failure: packets whose digit has
/// no next hop any more are hashed, and every flow continues.
#[test]
fn connections_survive_a_renumbering() {
    let events = [
        ("fabric.convergence", "10ms"),
        ("event", r#"[{ at = "550ms", fail = ["leaf-1 spine-3"] }]"#),
        ("transport.max_rto", "50ms"),
    ];
    let (whole, broken) = (outcome(SEVEN_LINKS, &[], 1), outcome(SEVEN_LINKS, &events, 1));
    assert_eq!((paths(&whole), broken.totals.placed), (7.0, 7));
    let share = goodput(&broken) / goodput(&whole);
    assert!((0.6..0.9).contains(&share), "six of seven paths, or five: {share}");
}
