//! UET hosts: what a flow takes where nothing disturbs it, and how flows share their host's link.

use crate::network::support::{replay, run};

const FABRIC: &str = r#"
    scheme = "ecmp"
    entropy = "spray"
    [fabric]
    kind = "fat-tree"
    k = 4
    rate = "100Gbps"
    control_first = true
    port_buffer = "180KB"
    trim_above = "180KB"
    red = { min = "35KB", max = "140KB", probability = 1.0, weight = 1.0 }
    [transport]
    kind = "uet"
"#;

#[test]
fn a_flow_alone_takes_the_ideal_time_without_a_handshake() {
    // Whole packets, or one path: otherwise a short last packet overtakes the one before it.
    for flow in ["host-1,host-16,1024000B", "host-1,host-2,100B", "host-1,host-2,4097B"] {
        let outcome = run(&replay(FABRIC, &[], &format!("0us,{flow}")), 1);
        let record = outcome.flows[0];
        assert_eq!(record.fct, record.ideal_fct, "{flow}");
        assert_eq!(outcome.totals.retransmitted, 0);
    }
}

#[test]
fn flows_of_a_host_share_its_link_in_turn() {
    let flows = "0us,host-1,host-5,400KB\n0us,host-1,host-9,400KB\n0us,host-1,host-13,400KB";
    let outcome = run(&replay(FABRIC, &[], flows), 1);
    let mut ends: Vec<u64> = outcome.flows.iter().map(|flow| flow.fct.as_nanos()).collect();
    ends.sort_unstable();
    // 98 packets each at 332 ns: one that came first would end 65 us before the last.
    assert!(ends[2] - ends[0] < 2_000, "{ends:?}");
}

#[test]
fn a_run_repeats_itself() {
    let flows = "0us,host-3,host-1,400KB\n0us,host-5,host-1,400KB\n0us,host-9,host-1,400KB";
    for entropy in ["flow", "spray", "bitmap", "reps", "plb", "flowbender"] {
        let scenario = replay(FABRIC, &[("entropy", entropy)], flows);
        let [first, second] = [(); 2].map(|()| run(&scenario, 3));
        assert_eq!(first, second, "{entropy}");
        assert_eq!(first.flows.len(), 3);
    }
}
