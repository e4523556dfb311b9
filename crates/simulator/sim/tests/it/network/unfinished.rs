//! Flows that a run does not finish are reported, and long flows by their goodput.

use heddle_units::{Bytes, Rate, Time};

use crate::network::support::{replay, run, scenario};

const CUT_SHORT: &str = r#"
    scheme = "ecmp"
    fabric = { kind = "leaf-spine", leaves = 2, spines = 2, hosts_per_leaf = 2, host_rate = "1Gbps", spine_rate = "1Gbps" }
    workload = { kind = "flows", sizes = "fixed:200KB", load = 0.8 }
    [measure]
    warm_up = "1ms"
    duration = "20ms"
"#;

#[test]
fn each_flow_that_does_not_finish_is_in_the_outcome() {
    let outcome = run(&scenario(CUT_SHORT, &[]), 1);
    let totals = outcome.totals;
    assert!(totals.unfinished > 0, "the load leaves flows at the end");
    assert_eq!(totals.unfinished, outcome.unfinished.len() as u64);
    assert_eq!(totals.measured, totals.unfinished + outcome.flows.len() as u64);
    for flow in &outcome.unfinished {
        assert_eq!(flow.size, Bytes(200_000));
        assert!(flow.delivered < flow.size && flow.start <= totals.simulated);
    }
    assert!(outcome.unfinished.iter().any(|flow| flow.delivered > Bytes(0)));
    assert!(outcome.unfinished.is_sorted_by_key(|flow| flow.start));
}

#[test]
fn long_flows_have_a_goodput_and_do_not_count_as_unfinished() {
    let text = CUT_SHORT.replace(
        r#"workload = { kind = "flows", sizes = "fixed:200KB", load = 0.8 }"#,
        r#"workload = { kind = "long", pairs = ["host-1 host-3", "host-2 host-4"], start_within = "10us" }"#,
    );
    let outcome = run(&scenario(&text, &[]), 1);
    assert_eq!((outcome.totals.unfinished, outcome.totals.measured), (0, 0));
    assert_eq!(outcome.long_flows.len(), 2);
    let sum: u64 = outcome.long_flows.iter().map(|flow| flow.delivered.0).sum();
    assert_eq!(sum, outcome.totals.delivered_in_window.0);
    for flow in &outcome.long_flows {
        assert_eq!((flow.time, flow.host_rate), (Time::millis(20), Rate(1_000_000_000)));
        assert!((Rate(300_000_000)..flow.host_rate).contains(&flow.goodput()), "{flow:?}");
    }
}

const ONE_FLOW: &str = r#"
    scheme = "ecmp"
    fabric = { kind = "leaf-spine", leaves = 2, spines = 1, hosts_per_leaf = 1, parallel_links = 1, host_rate = "1Gbps", spine_rate = "1Gbps", convergence = "1ms" }
    [measure]
    flows = 1
    time_limit = "1h"
"#;
const FLOW: &str = "0us,host-1,host-2,20KB\n";

/// Buffers that take no packet, which files cannot give: every retransmission is lost, and the run
/// stops long before its limit.
#[test]
fn a_run_in_which_no_packet_arrives_any_more_is_stopped() {
    let mut scenario = replay(ONE_FLOW, &[], FLOW);
    scenario.fabric.port.bytes = Bytes(100);
    let outcome = run(&scenario, 1);
    assert!(outcome.totals.stalled, "{:?}", outcome.totals);
    assert_eq!((outcome.flows.len(), outcome.unfinished.len()), (0, 1));
    assert!(outcome.totals.simulated < Time::secs(300), "{:?}", outcome.totals.simulated);
}

/// The link is down for half a minute, so that the next retransmission comes ten seconds after its
/// recovery.
#[test]
fn a_long_outage_that_ends_stops_no_run() {
    let events = r#"[{ at = "50us", fail = ["leaf-1 spine-1"] }, { at = "30s", recover = ["leaf-1 spine-1"] }]"#;
    let outcome = run(&replay(ONE_FLOW, &[("event", events)], FLOW), 1);
    assert!(!outcome.totals.stalled);
    assert_eq!((outcome.flows.len(), outcome.unfinished.len()), (1, 0));
    assert!(outcome.flows[0].fct > Time::secs(40), "{:?}", outcome.flows[0]);
}
