//! Links that lose packets or change during a run, against theory.

use heddle_sim::Outcome;

use crate::network::support::{run, scenario};

/// One flow from leaf to leaf over one spine: a round trip of 8 links of 100 us.
const ONE_FLOW: &str = r#"
    scheme = "ecmp"
    [fabric]
    kind = "leaf-spine"
    leaves = 2
    spines = 1
    hosts_per_leaf = 2
    parallel_links = 1
    link_delay = "100us"
    [workload]
    kind = "long"
    pairs = ["host-1 host-3"]
    [measure]
    warm_up = "500ms"
    duration = "8s"
"#;

fn goodput(outcome: &Outcome) -> f64 {
    outcome.long_flows[0].goodput().0 as f64
}

/// A window of sqrt(3 / (2 p)) segments on average (Mathis et al., CCR 1997, with an
/// acknowledgement for each segment).
#[test]
fn a_flow_under_random_loss_has_the_window_of_theory() {
    let loss = 0.002_f64;
    let event = format!(r#"[{{ at = "1us", degrade = ["leaf-1 spine-1"], loss = {loss} }}]"#);
    let outcome = run(&scenario(ONE_FLOW, &[("event", &event)]), 1);
    let window = (3.0 / (2.0 * loss)).sqrt();
    let expected = window * 1460.0 * 8.0 / 805e-6;
    let share = goodput(&outcome) / expected;
    assert!((0.8..1.1).contains(&share), "{share}");
    assert_eq!(outcome.totals.dropped, 0, "no queue is full");
}

#[test]
fn a_slower_link_is_the_bottleneck_until_it_is_repaired() {
    let goodput_until = |repair: &str| {
        let event = format!(
            r#"[{{ at = "1us", degrade = ["leaf-1 spine-1"], rate = "100Mbps" }}, {{ at = "{repair}", repair = ["leaf-1 spine-1"] }}]"#
        );
        goodput(&run(&scenario(ONE_FLOW, &[("event", &event), ("measure.duration", "2s")]), 1))
    };
    // Payload of a frame: 1460 of 1518 bytes.
    let never = goodput_until("99s") / (100e6 * 1460.0 / 1518.0);
    assert!((0.97..1.003).contains(&never), "{never}");
    assert!(goodput_until("600ms") > 20.0 * 100e6, "10 Gbps for most of the time");
}

#[test]
fn a_blackhole_stops_its_share_of_flows_and_no_others() {
    let text = ONE_FLOW.replace(r#"pairs = ["host-1 host-3"]"#, "start_within = \"1ms\"");
    let overrides = [
        ("fabric.hosts_per_leaf", "64"),
        ("fabric.spine_rate", "1Tbps"),
        ("measure.warm_up", "5ms"),
        ("measure.duration", "20ms"),
        ("event", r#"[{ at = "1us", degrade = ["leaf-1 spine-1"], blackhole = 0.25 }]"#),
    ];
    let outcome = run(&scenario(&text, &overrides), 1);
    let crosses = |host: u32| host >= 64;
    let over: Vec<_> =
        outcome.long_flows.iter().filter(|f| crosses(f.from) != crosses(f.to)).collect();
    let stopped = over.iter().filter(|f| f.delivered.0 == 0).count() as f64 / over.len() as f64;
    // Data or its acknowledgements: 1 - 0.75^2 = 0.44. Of about 64 flows the standard deviation is
    // 0.062.
    assert!((0.2..0.68).contains(&stopped), "{stopped}");
    let inside = outcome.long_flows.iter().filter(|f| crosses(f.from) == crosses(f.to));
    assert!(inside.clone().count() > 20 && inside.clone().all(|f| f.delivered.0 > 0));
}
