//! Collective operations against their closed forms.

use heddle_sim::Outcome;

use crate::network::support::{run, scenario};

const RING: &str = r#"
    scheme = "ecmp"
    [fabric]
    kind = "leaf-spine"
    leaves = 2
    spines = 4
    hosts_per_leaf = 4
    parallel_links = 1
    spine_rate = "100Gbps"
    [workload]
    kind = "collective"
    operation = "ring-all-reduce"
    size = "80MB"
"#;

fn seconds(outcome: &Outcome) -> f64 {
    let end = outcome.flows.iter().map(|flow| flow.start + flow.fct).max().expect("flows");
    let start = outcome.flows.iter().map(|flow| flow.start).min().expect("flows");
    (end - start).as_secs_f64()
}

/// Of n hosts and S bytes each: 2 (n - 1) steps of S / n bytes at the rate of the hosts' links, 2
/// (n - 1) / n of S in all (Patarasuk and Yuan). Of 1460 bytes of payload a host sends a frame of
/// 1518 bytes, and acknowledges what it receives at the same time by a frame of 64.
#[test]
fn a_ring_on_an_empty_fabric_takes_its_closed_form() {
    let outcome = run(&scenario(RING, &[]), 1);
    assert_eq!((outcome.flows.len(), outcome.totals.dropped), (2 * 7 * 8, 0));
    let closed = 2.0 * 7.0 / 8.0 * 80e6 * 8.0 / 10e9 * (1518.0 + 64.0) / 1460.0;
    let share = seconds(&outcome) / closed;
    assert!((0.999..1.01).contains(&share), "{share}");
}

#[test]
fn a_host_sends_a_part_after_it_has_received_the_one_before() {
    let hosts = r#"["host-3", "host-1", "host-6"]"#;
    let overrides = [("workload.hosts", hosts), ("workload.size", "1000B")];
    let mut flows = run(&scenario(RING, &overrides), 1).flows;
    flows.sort_by_key(|flow| flow.id);
    assert_eq!(flows.len(), 3 * 4);
    assert_eq!([0, 1, 2].map(|n| (flows[n].from, flows[n].to)), [(2, 0), (0, 5), (5, 2)]);
    let sizes: u64 = flows.iter().map(|flow| flow.size.0).sum();
    assert_eq!(sizes, 4 * 1000, "each step moves the whole vector");
    // Flows of one size on one connection: a segment may end two of them, so that ends may
    // coincide.
    for (place, flow) in flows.iter().enumerate() {
        let step = flows[..place].iter().filter(|f| f.from == flow.from).count();
        let received = flows.iter().filter(|f| f.to == flow.from && f.start + f.fct <= flow.start);
        assert!(received.count() >= step, "{flow:?}");
        let starts_it =
            |f: &heddle_sim::FlowRecord| f.to == flow.from && f.start + f.fct == flow.start;
        assert!(step == 0 || flows.iter().any(starts_it), "{flow:?}");
    }
}

/// 2 ceil(log2 n) steps of the whole vector: of eight hosts six (Thakur, Rabenseifner and Gropp).
/// No host sends while it receives.
#[test]
fn a_tree_on_an_empty_fabric_takes_its_closed_form() {
    let tree = [("workload.operation", "tree-all-reduce"), ("workload.size", "20MB")];
    let outcome = run(&scenario(RING, &tree), 1);
    assert_eq!((outcome.flows.len(), outcome.totals.dropped), (2 * 7, 0));
    let closed = 2.0 * 3.0 * 20e6 * 8.0 / 10e9 * 1518.0 / 1460.0;
    let share = seconds(&outcome) / closed;
    assert!((0.999..1.01).contains(&share), "{share}");
}

/// n - 1 steps of an n-th of the vector; a host acknowledges what it receives while it sends.
#[test]
fn an_all_to_all_on_an_empty_fabric_takes_its_closed_form() {
    let outcome = run(&scenario(RING, &[("workload.operation", "all-to-all")]), 1);
    assert_eq!((outcome.flows.len(), outcome.totals.dropped), (8 * 7, 0));
    let closed = 7.0 / 8.0 * 80e6 * 8.0 / 10e9 * (1518.0 + 64.0) / 1460.0;
    let share = seconds(&outcome) / closed;
    assert!((0.999..1.01).contains(&share), "{share}");
}

/// The bytes of the ring, 2 (n - 1) / n of the vector by each host: in 2 log2 8 = 6 steps, and by
/// groups of four in 2 * 3 and 2 * 1. A host acknowledges what it receives while it sends.
#[test]
fn halving_and_a_hierarchy_on_an_empty_fabric_take_their_closed_form() {
    let closed = 2.0 * 7.0 / 8.0 * 80e6 * 8.0 / 10e9 * (1518.0 + 64.0) / 1460.0;
    let halving = &[("workload.operation", "halving-doubling-all-reduce")][..];
    let hierarchy =
        &[("workload.operation", "hierarchical-all-reduce"), ("workload.group", "4")][..];
    for (overrides, flows) in [(halving, 6 * 8), (hierarchy, 8 * 8)] {
        let outcome = run(&scenario(RING, overrides), 1);
        assert_eq!((outcome.flows.len(), outcome.totals.dropped), (flows, 0));
        let share = seconds(&outcome) / closed;
        assert!((0.999..1.01).contains(&share), "{overrides:?}: {share}");
    }
}

/// Two hosts, each with an expert, and both experts for each token: the vectors cross, then the
/// results.
#[test]
fn tokens_and_results_on_an_empty_fabric_take_their_closed_form() {
    let hosts = r#"["host-1", "host-8"]"#;
    let experts = [("workload.operation", "expert-all-to-all"), ("workload.hosts", hosts)];
    let outcome = run(&scenario(RING, &experts), 1);
    assert_eq!((outcome.flows.len(), outcome.totals.dropped), (4, 0));
    assert!(outcome.flows.iter().all(|flow| flow.size.0 == 80_000_000));
    let closed = 2.0 * 80e6 * 8.0 / 10e9 * (1518.0 + 64.0) / 1460.0;
    let share = seconds(&outcome) / closed;
    assert!((0.999..1.01).contains(&share), "{share}");
    let ends: Vec<_> = outcome.flows.iter().map(|flow| flow.start + flow.fct).collect();
    let starts: Vec<_> = outcome.flows.iter().map(|flow| flow.start).collect();
    assert!(starts[2..].iter().all(|start| ends[..2].contains(start)), "results wait for tokens");
}
