//! HULA probes: their number on each link.

use heddle_scenario::{Scenario, Scheme};
use heddle_sim::Outcome;
use heddle_units::Time;
use proptest::prelude::*;

use crate::network::random_fabrics::{PROBE_PERIOD, scenario_with_failures, schemes_for};
use crate::network::support::{replay, run};

/// A two-pod fabric without data traffic for 100 probe periods, sampled once in each period.
fn idle_two_pod() -> Scenario {
    let text = r#"
        [scheme]
        kind = "hula"
        probe_period = "200us"
        [fabric]
        kind = "two-pod"
        hosts_per_tor = 1
        [measure]
        probe_warm_up = "20ms"
        sample_every = "200us"
    "#;
    replay(text, &[], "1us,host-1,host-2,1B")
}

/// Probes of 64 bytes in each period from one node to another, after all ToRs are known.
fn probes_a_period(outcome: &Outcome, from: &str, to: &str) -> f64 {
    let samples = &outcome.samples;
    let port = samples.port(from, to).expect("they are linked");
    let rows = samples.sent.chunks(samples.ports.len()).skip(10).take(80);
    let bytes: u32 = rows.map(|row| row[port]).sum();
    f64::from(bytes) / 64.0 / 80.0
}

/// HULA section 4.1: a link carries upwards the probes of the ToRs below it, and downwards those of
/// all ToRs except the ones below it. Each core switch forwards the first probe of a ToR, which
/// comes from one of the pod's two aggregation switches, to the other one.
#[test]
fn each_link_of_the_two_pod_fabric_carries_its_tors_probes_once_a_period() {
    let outcome = run(&idle_two_pod(), 1);
    let count = |from: &str, to: &str| probes_a_period(&outcome, from, to);
    for (tor, aggs, others) in [(1, [1, 2], [3, 4]), (4, [3, 4], [1, 2])] {
        for agg in aggs {
            let (tor, agg) = (format!("tor-{tor}"), format!("agg-{agg}"));
            assert_eq!(count(&tor, &agg), 1.0, "up {tor}-{agg}: the ToR's own");
            assert_eq!(count(&agg, &tor), 3.0, "down {tor}-{agg}: the three others'");
        }
        for core in ["core-1", "core-2"] {
            let down = aggs.map(|agg| count(core, &format!("agg-{agg}")));
            assert!(down.iter().all(|&probes| (2.0..=4.0).contains(&probes)), "{down:?}");
            assert_eq!(down[0] + down[1], 2.0 * 2.0 + 2.0, "{others:?} to both, own to one");
            assert_eq!(count(&format!("agg-{}", aggs[0]), core), 2.0, "the pod's own");
        }
    }
}

#[test]
fn a_link_that_is_down_from_the_start_gets_no_probes_and_loses_none() {
    let mut scenario = idle_two_pod();
    scenario.fabric.failed = vec![("core-2".into(), "agg-4".into())];
    let outcome = run(&scenario, 1);
    assert_eq!(outcome.totals.lost_to_failures, 0);
    assert_eq!(probes_a_period(&outcome, "core-2", "agg-4"), 0.0);
    assert_eq!(probes_a_period(&outcome, "core-2", "agg-3"), 2.0, "those of pod 1");
    assert_eq!(probes_a_period(&outcome, "agg-4", "tor-4"), 3.0, "by way of core-1");
}

/// Number of ports for probes: each direction of each link between switches.
fn directions(scenario: &Scenario) -> u64 {
    let nodes = &scenario.fabric.graph.nodes;
    let between = |(a, b): (u32, u32)| nodes[a as usize].tier.min(nodes[b as usize].tier) > 0;
    2 * scenario.fabric.graph.links.iter().filter(|link| between(link.ends)).count() as u64
}

fn tors(scenario: &Scenario) -> u64 {
    scenario.fabric.graph.nodes.iter().filter(|node| node.tier == 1).count() as u64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A switch forwards a ToR's probe at most once in 7/8 of T_p on each of its links, so probes
    /// do not loop.
    #[test]
    fn no_fabric_makes_probes_loop(mut scenario in scenario_with_failures(), seed: u64) {
        let schemes = schemes_for(&scenario.fabric.graph);
        let hula = schemes.iter().find(|scheme| matches!(scheme, Scheme::Hula(_)));
        scenario.scheme = hula.expect("it runs everywhere").clone();
        let totals = run(&scenario, seed).totals;
        let windows = totals.simulated.0 / (PROBE_PERIOD.0 / 8 * 7) + 1;
        prop_assert!(totals.probes_sent <= windows * tors(&scenario) * directions(&scenario));
        let originated = totals.simulated.0 / PROBE_PERIOD.0;
        prop_assert!(tors(&scenario) < 2 || totals.probes_sent >= originated.saturating_sub(1));
        prop_assert!(totals.simulated < Time::secs(20), "it ends");
    }
}
