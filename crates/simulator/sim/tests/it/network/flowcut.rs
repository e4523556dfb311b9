//! Flowcut: no packet overtakes an earlier one of its flow, and a flow moves as soon as it may.

use heddle_scenario::{Entropy, PortLimits, Scenario, Scheme};
use heddle_units::{Bytes, Time};
use proptest::prelude::*;

use crate::network::random_fabrics::{flowcut, scenario};
use crate::network::support::{replay, run};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// With spurious timeouts, delayed acknowledgements, subflows, tables that are full, and
    /// drains. Nothing is lost: the counter takes a retransmission for reordered that leaves the
    /// sender in the same instant as new data. Nothing goes before others: a flow's first bytes, sent
    /// again after a spurious timeout, would.
    #[test]
    fn no_packet_overtakes_an_earlier_one_on_any_fabric(
        mut scenario in scenario(),
        seed: u64,
        slots in prop_oneof![Just(4u32), 1u32..64],
    ) {
        let room = PortLimits { bytes: Bytes(50_000_000), packets: None, mark_above: None };
        let fabric = &mut scenario.fabric;
        (fabric.port.bytes, fabric.port.packets, fabric.host_port) = (room.bytes, None, room);
        (fabric.shared_buffer, fabric.red, fabric.priority_bytes) = (None, None, None);
        scenario.entropy = Entropy::Flow;
        scenario.scheme = Scheme::Flowcut(flowcut(slots));
        let totals = run(&scenario, seed).totals;
        prop_assert_eq!((totals.dropped, totals.reordered), (0, 0));
        prop_assert!(totals.simulated < Time::secs(20), "it ends");
    }

    /// Full buffers, losses and marks: whatever is counted is a retransmission.
    #[test]
    fn runs_with_losses_end(scenario in scenario(), seed: u64, slots in 1u32..64) {
        let scheme = Scheme::Flowcut(flowcut(slots));
        let totals = run(&Scenario { scheme, entropy: Entropy::Flow, ..scenario }, seed).totals;
        prop_assert!(totals.reordered <= totals.retransmitted);
        prop_assert!(totals.simulated < Time::secs(20), "it ends");
    }
}

/// Two leaves, two spines; all links have the rate of the hosts.
const LEAF_SPINE: &str = r#"
    [scheme]
    kind = "flowcut"
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
    [measure]
    probe_warm_up = "0s"
    warm_up = "0s"
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
        // The window of 60 KB is more than a round trip carries, so that the first flow's uplink or
        // its host's has a queue.
        let slowest = slowest(&[("fabric.host_rate", "40Gbps")], flows, seed);
        assert!(slowest < 12.0, "seed {seed}: {slowest} ms");
    }
}

/// Until the uplink to the second spine recovers both flows share the other one. Neither has a gap
/// in what is in flight, since a window of 60 KB is more than the uplink carries in a round trip.
#[test]
fn a_drain_parts_flows_that_share_an_uplink() {
    let flows = "200us,host-1,host-3,10MB\n200us,host-2,host-4,10MB";
    let events = r#"[{ at = "1us", fail = ["leaf-1 spine-2"] }, { at = "1ms", recover = ["leaf-1 spine-2"] }]"#;
    let overrides =
        [("event", events), ("fabric.convergence", "10us"), ("fabric.host_rate", "40Gbps")];
    let without = [&overrides[..], &[("scheme.drain_ratio", "0")]].concat();
    let stay = slowest(&without, flows, 1);
    assert!(stay > 16.0, "{stay} ms");
    let parted = slowest(&overrides, flows, 1);
    assert!(parted < 13.0, "{parted} ms");
}
