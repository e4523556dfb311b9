//! RACK-TLP under packet spraying: reordering without loss costs little.

use heddle_sim::Outcome;

use crate::network::support::{run, scenario};

/// Every host sends without end to one other, over a fabric that is as fast as they are: under
/// spraying, a third of the segments are reordered.
const PERMUTATION: &str = r#"
    scheme = "spray"
    [fabric]
    kind = "fat-tree"
    k = 4
    link_delay = "5us"
    [transport]
    kind = "tcp"
    control = "dctcp"
    receive_window = "256KB"
    [workload]
    kind = "long"
    start_within = "1ms"
    [measure]
    warm_up = "20ms"
    duration = "20ms"
"#;

/// Flows at half of the fabric's capacity.
const MODERATE: &str = r#"
    scheme = "spray"
    [fabric]
    kind = "leaf-spine"
    spines = 8
    hosts_per_leaf = 8
    parallel_links = 1
    spine_rate = "10Gbps"
    link_delay = "5us"
    [transport]
    kind = "tcp"
    control = "dctcp"
    receive_window = "128KB"
    [workload]
    kind = "flows"
    sizes = "websearch"
    load = 0.5
    connections = "per-flow"
    [measure]
    warm_up = "5ms"
    flows = 400
"#;

const RACK: (&str, &str) = ("transport.loss_detection", "rack");
const IDEAL: (&str, &str) = ("scheme", "ideal");

const RFC: (&str, &str) = ("transport.reordering_window", "adaptive");

/// Mean goodput of the flows without end, in Gbps.
fn goodput(outcome: &Outcome) -> f64 {
    let sum: f64 = outcome.long_flows.iter().map(|flow| flow.goodput().0 as f64).sum();
    sum / outcome.long_flows.len() as f64 / 1e9
}

/// Counting takes hundreds of late segments for lost, so that windows stay small and fewer are
/// late. RACK has its recoveries while its windows adapt.
#[test]
fn spraying_under_rack_has_few_recoveries_and_nearly_the_goodput_without_a_fabric() {
    let mptcp = [
        ("transport.kind", "mptcp"),
        ("transport.coupling", "uncoupled"),
        ("transport.control", "newreno"),
    ];
    for kind in [&[][..], &mptcp] {
        let outcome_with =
            |more: &[(&str, &str)]| run(&scenario(PERMUTATION, &[kind, more].concat()), 1);
        let (counting, rack, ideal) =
            (outcome_with(&[]), outcome_with(&[RACK]), outcome_with(&[RACK, IDEAL]));
        assert!(rack.totals.reordered > 5 * counting.totals.reordered);
        let told = format!(
            "{kind:?}: {} {} recoveries, {} {} {} Gbps",
            counting.totals.fast_recoveries,
            rack.totals.fast_recoveries,
            goodput(&counting),
            goodput(&rack),
            goodput(&ideal)
        );
        assert!(3 * rack.totals.fast_recoveries < counting.totals.fast_recoveries, "{told}");
        assert!(goodput(&counting) < 0.8 * goodput(&ideal), "{told}");
        assert!(goodput(&rack) > 0.93 * goodput(&ideal), "{told}");
    }
}

/// RFC 8985's window begins with a quarter of the least round trip, and grows by needless
/// retransmissions.
#[test]
fn under_spraying_a_window_of_a_round_trip_sends_hardly_anything_again() {
    let totals_with = |more: &[(&str, &str)]| run(&scenario(PERMUTATION, more), 1).totals;
    let (learning, whole) = (totals_with(&[RACK, RFC]), totals_with(&[RACK]));
    assert_eq!((learning.dropped, whole.dropped), (0, 0), "nothing is lost");
    let told = format!("{} {}", learning.retransmitted, whole.retransmitted);
    assert!(learning.retransmitted > 20 * whole.retransmitted, "{told}");
}

#[test]
fn at_moderate_load_mean_completion_times_are_within_a_twentieth_of_the_bound() {
    let mean = |more: &[(&str, &str)]| {
        let outcome = run(&scenario(MODERATE, more), 1);
        let sum: f64 = outcome.flows.iter().map(|flow| flow.fct.as_secs_f64()).sum();
        (sum / outcome.flows.len() as f64, outcome.totals)
    };
    let (rack, totals) = mean(&[RACK]);
    let (ideal, _) = mean(&[RACK, IDEAL]);
    assert!(totals.reordered > 1000 && totals.fast_recoveries < 10, "{totals:?}");
    assert!((rack / ideal - 1.0).abs() < 0.05, "{rack} {ideal}");
}
