//! Flowcut: no packet overtakes an earlier one of its flow, and a flow moves as soon as it may.

use heddle_scenario::{Scenario, Scheme};
use heddle_units::Time;
use proptest::prelude::*;

use crate::random_fabrics::{flowcut, scenario};
use crate::support::{replay, run};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// With losses, spurious timeouts, delayed acknowledgements, subflows and tables that are full, and with drains.
    #[test]
    fn no_packet_overtakes_an_earlier_one_on_any_fabric(
        scenario in scenario(),
        seed: u64,
        slots in prop_oneof![Just(4u32), 1u32..64],
    ) {
        let scenario = Scenario { scheme: Scheme::Flowcut(flowcut(slots)), ..scenario };
        let outcome = run(&scenario, seed);
        prop_assert_eq!(outcome.totals.reordered, 0);
        prop_assert!(outcome.totals.simulated < Time::secs(20), "it ends");
    }
}

/// Two leaves, two spines; all links have the rate of the hosts.
const LEAF_SPINE: &str = r#"
    scheme = "flowcut"
    [fabric]
    kind = "leaf-spine"
    leaves = 2
    spines = 2
    hosts_per_leaf = 2
    host_rate = "10Gbps"
    spine_rate = "10Gbps"
    parallel_links = 1
    [transport]
    kind = "tcp"
    min_rto = "10ms"
    receive_window = "60KB"
"#;

/// A flow alone takes 8.4 ms for 10 MB at 10 Gbps. Two on one link take twice as long.
fn slowest(overrides: &[(&str, &str)], flows: &str, seed: u64) -> f64 {
    let outcome = run(&replay(LEAF_SPINE, overrides, flows), seed);
    assert_eq!(outcome.totals.reordered, 0);
    outcome.flows.iter().map(|flow| flow.fct.as_secs_f64() * 1e3).fold(0.0, f64::max)
}

#[test]
fn a_new_flow_takes_the_uplink_that_another_has_not_filled() {
    let flows = "0us,host-1,host-3,10MB\n100us,host-2,host-4,10MB";
    for seed in 1..=20 {
        // The window of 60 KB is more than a round trip carries, so that the first flow's uplink or its host's has a queue.
        let slowest = slowest(&[("fabric.host_rate", "40Gbps")], flows, seed);
        assert!(slowest < 12.0, "seed {seed}: {slowest} ms");
    }
}

/// The flow of host 1 meets that of host 2 at one uplink for as long as neither has a gap in what is in flight.
#[test]
fn a_drain_parts_flows_that_meet_at_one_uplink() {
    let flows = "0us,host-1,host-3,10MB\n0us,host-2,host-4,10MB";
    let wide = ("fabric.host_rate", "40Gbps");
    let without = r#"{ kind = "flowcut", drain_ratio = 0 }"#;
    let met = |seed: &u64| slowest(&[wide, ("scheme", without)], flows, *seed) > 14.0;
    let seed = (1..=40).find(met).expect("they meet by chance in every other run");
    let drained = slowest(&[wide], flows, seed);
    assert!(drained < 12.0, "seed {seed}: {drained} ms");
}
