//! Flows on connections: in turn on a persistent one, each on its own otherwise.

use std::collections::BTreeMap;

use heddle_sim::{FlowRecord, Outcome};
use heddle_units::{Bytes, Rate};

use crate::network::support::{run, scenario};

/// Two hosts that send to two others, at times more than a connection can carry at once.
const TWO_POD: &str = r#"
    scheme = "ecmp"
    [fabric]
    kind = "two-pod"
    hosts_per_tor = 1
    [workload]
    kind = "flows"
    sizes = "fixed:100KB"
    load = 0.3
    capacity = "20Gbps"
    connections_per_pair = 1
    [measure]
    warm_up = "2ms"
    flows = 500
"#;

fn with(connections: &str) -> Outcome {
    let each = match connections {
        "persistent" => TWO_POD.to_owned(),
        // Losses at the senders' ports put flows out of order: a host's buffer is made too small
        // for them.
        _ => TWO_POD
            .replace("connections_per_pair = 1", "")
            .replace("hosts_per_tor = 1", "hosts_per_tor = 1\nhost_buffer = \"40KB\""),
    };
    run(&scenario(&each, &[("workload.connections", connections)]), 1)
}

/// Flows of each pair of hosts, in the order in which they finished.
fn by_pair(outcome: &Outcome) -> BTreeMap<(u32, u32), Vec<FlowRecord>> {
    let mut pairs: BTreeMap<_, Vec<FlowRecord>> = BTreeMap::new();
    for flow in &outcome.flows {
        pairs.entry((flow.from, flow.to)).or_default().push(*flow);
    }
    pairs
}

#[test]
fn flows_of_one_connection_finish_in_the_order_in_which_they_start() {
    let pairs = by_pair(&with("persistent"));
    assert_eq!(pairs.len(), 4);
    assert!(pairs.values().all(|flows| flows.is_sorted_by_key(|flow| flow.start)));
    let pairs = by_pair(&with("per-flow"));
    assert!(pairs.values().any(|flows| !flows.is_sorted_by_key(|flow| flow.start)));
}

/// A flow's completion time counts its wait: its bytes follow those of the flow before it, at 10
/// Gbps at most.
#[test]
fn waiting_for_the_connection_counts() {
    let outcome = with("persistent");
    assert_eq!(outcome.totals.dropped, 0, "nothing is delivered out of turn");
    let end = |flow: &FlowRecord| flow.start + flow.fct;
    let (mut waited, least) = (0, Rate::gbps(10).time_for(Bytes::kb(100)));
    for flows in by_pair(&outcome).values() {
        for pair in flows.windows(2) {
            assert!(end(&pair[0]) + least < end(&pair[1]), "{pair:?}");
            waited += u32::from(pair[1].start < end(&pair[0]));
        }
    }
    assert!(waited > 50, "{waited} waited");
}

#[test]
fn a_connection_for_each_flow_costs_a_handshake() {
    let segments = |outcome: &Outcome| outcome.totals.segments - outcome.totals.retransmitted;
    let per_flow = with("per-flow");
    let started = per_flow.totals.flows_started;
    // 69 segments of data; the last flows have not sent all of theirs.
    let least = (started - 30) * 70;
    assert!((least..=started * 70).contains(&segments(&per_flow)), "{}", segments(&per_flow));
    let persistent = with("persistent");
    let most = persistent.totals.flows_started * 69 + 4;
    assert!(segments(&persistent) <= most, "4 handshakes in all");
}
