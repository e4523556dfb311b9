//! The ideal scheme, one big switch: the same hosts, and the same longest path.

use heddle_fabric::one_big_switch;
use heddle_units::{Rate, Time};

use crate::network::support::{replay, run};

const FABRICS: [(&str, &str); 3] = [
    (r#"{ kind = "two-pod" }"#, "host-32"),
    (r#"{ kind = "leaf-spine" }"#, "host-64"),
    (r#"{ kind = "fat-tree", k = 4, link_delay = "3us" }"#, "host-16"),
];

/// Ideal completion time of a flow from host 1.
fn alone(fabric: &str, scheme: &str, to: &str, size: &str) -> Time {
    let overrides = [("fabric", fabric), ("scheme", scheme)];
    let scenario = replay("[measure]", &overrides, &format!("0s,host-1,{to},{size}"));
    let flow = run(&scenario, 1).flows[0];
    assert!(flow.fct >= flow.ideal_fct);
    flow.ideal_fct
}

/// The ideal fabric omits the links between switches, and so only the transmission times on them.
#[test]
fn the_farthest_pair_is_as_far_apart() {
    for (fabric, farthest) in FABRICS {
        for (size, at_most) in [("1460B", 0.15), ("1MB", 0.01)] {
            let original = alone(fabric, "ecmp", farthest, size);
            let ideal = alone(fabric, "ideal", farthest, size);
            let shorter = (original - ideal).as_secs_f64() / original.as_secs_f64();
            assert!((0.0..at_most).contains(&shorter), "{fabric} {size}: {original} {ideal}");
        }
    }
}

#[test]
fn hosts_and_their_links_stay() {
    for (fabric, farthest) in FABRICS {
        let overrides = [("fabric", fabric), ("scheme", "ideal")];
        let scenario = replay("[measure]", &overrides, &format!("0s,host-1,{farthest},1B"));
        let graph = &scenario.fabric.graph;
        let ideal = one_big_switch(graph);
        let hosts = ideal.nodes.len() - 1;
        assert_eq!((&ideal.nodes[..hosts], ideal.nodes[hosts].tier), (&graph.nodes[..hosts], 1));
        let links = graph.links.iter().filter(|link| (link.ends.0 as usize) < hosts);
        let rates: Vec<(u32, Rate)> = links.map(|link| (link.ends.0, link.rate)).collect();
        let kept: Vec<(u32, Rate)> = ideal.links.iter().map(|l| (l.ends.0, l.rate)).collect();
        assert_eq!((kept.len(), kept), (hosts, rates));
    }
}

/// Only links of hosts can be full in the ideal fabric, so no scheme has a lower completion time.
#[test]
fn no_scheme_beats_it() {
    let text = r#"
        [fabric]
        kind = "two-pod"
        hosts_per_tor = 4
        core_rate = "10Gbps"
        [workload]
        kind = "flows"
        sizes = "fixed:50KB"
        load = 0.6
        [measure]
        warm_up = "1ms"
        flows = 500
    "#;
    let mean = |scheme| {
        let outcome = run(&crate::network::support::scenario(text, &[("scheme", scheme)]), 1);
        let sum: f64 = outcome.flows.iter().map(|flow| flow.fct.as_secs_f64()).sum();
        sum / outcome.flows.len() as f64
    };
    let ideal = mean("ideal");
    for scheme in ["ecmp", "conga-prime", "letitflow", "drill", "spray", "hula"] {
        assert!(ideal < mean(scheme), "{scheme}: {} against {ideal}", mean(scheme));
    }
}

/// 8 MB flows from each host i to i + 4, and the reverse flows: every link carries one flow each
/// way. Acknowledgements go before a host's own data, so that the reverse flows cost no more than
/// their acknowledgements' bytes, and nothing is sent again.
#[test]
fn flows_in_both_directions_do_not_delay_each_other() {
    let fabric = r#"{ kind = "leaf-spine", leaves = 2, spines = 4, hosts_per_leaf = 4 }"#;
    let overrides = [("fabric", fabric), ("scheme", "ideal")];
    let flows = |both: bool| {
        let there = (1..=4).map(|i| (i, i + 4));
        let back = (1..=4).filter(|_| both).map(|i| (i + 4, i));
        let line = |(from, to): (u32, u32)| format!("0s,host-{from},host-{to},8MB\n");
        there.chain(back).map(line).collect::<String>()
    };
    for (both, at_most) in [(false, 1.001), (true, 1.05)] {
        let outcome = run(&replay("[measure]", &overrides, &flows(both)), 1);
        let worst = outcome.flows.iter().map(|f| f.fct.as_secs_f64() / f.ideal_fct.as_secs_f64());
        let worst = worst.fold(0.0, f64::max);
        assert!(worst <= at_most, "{both}: {worst}");
        assert_eq!((outcome.totals.retransmitted, outcome.totals.dropped), (0, 0));
    }
}

/// A slower link beside three fast ones makes nobody's ideal time worse.
#[test]
fn the_ideal_time_is_that_of_the_best_path() {
    let whole = r#"{ kind = "leaf-spine", leaves = 2, spines = 2, hosts_per_leaf = 2, parallel_links = 1 }"#;
    let slow =
        whole.replace(" }", r#", link = [{ between = "leaf-1 spine-1", rate = "1Gbps" }] }"#);
    for size in ["100B", "1461B", "1MB"] {
        assert_eq!(alone(&slow, "ecmp", "host-3", size), alone(whole, "ecmp", "host-3", size));
    }
}
