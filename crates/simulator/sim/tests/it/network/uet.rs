//! UET hosts: what a flow takes where nothing disturbs it, and how flows share their host's link.

use heddle_scenario::Scenario;
use heddle_units::Time;

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

/// Hosts with a link of 25 Gbps to each of four planes.
const PLANES: &str = r#"
    scheme = "ecmp"
    entropy = "flow"
    [fabric]
    kind = "leaf-spine"
    leaves = 8
    spines = 8
    hosts_per_leaf = 2
    planes = 4
    tors_per_host = 4
    host_rate = "25Gbps"
    spine_rate = "100Gbps"
    parallel_links = 1
    control_first = true
    port_buffer = "180KB"
    trim_above = "180KB"
    red = { min = "35KB", max = "140KB", probability = 1.0, weight = 1.0 }
    [transport]
    kind = "uet"
"#;

/// 1000 packets of 4154 bytes, the last of which arrive when the first 249 have passed each link.
#[test]
fn packets_with_values_of_their_own_leave_by_the_link_that_is_free() {
    for entropy in ["spray", "bitmap", "reps"] {
        let scenario = replay(PLANES, &[("entropy", entropy)], "0us,host-1,host-16,4096000B");
        let outcome = run(&scenario, 1);
        let flow = outcome.flows[0];
        assert_eq!(flow.fct, flow.ideal_fct, "{entropy}");
        let [least, most] = [249, 255].map(|packets| packets * 4154 * 8 / 25);
        assert!((least..most).contains(&flow.fct.as_nanos()), "{entropy}: {:?}", flow.fct);
        assert_eq!((outcome.totals.retransmitted, outcome.totals.trimmed), (0, 0), "{entropy}");
    }
}

#[test]
fn flows_with_one_value_and_those_with_credit_keep_to_one_link() {
    for (entropy, control) in [("flow", "nscc"), ("plb", "nscc"), ("spray", "rccc")] {
        let overrides = [("entropy", entropy), ("transport.control", control)];
        let outcome = run(&replay(PLANES, &overrides, "0us,host-1,host-16,4096000B"), 1);
        let least = 999 * 4154 * 8 / 25;
        assert!(outcome.flows[0].fct.as_nanos() > least, "{entropy}, {control}");
    }
}

/// A value names its link on the way there, and the acknowledgement tells that link's policy.
#[test]
fn what_is_marked_in_one_plane_is_avoided_there() {
    let flows = "0us,host-1,host-9,4MB\n0us,host-2,host-10,4MB";
    let slow = r#"[{ between = "leaf-1 spine-1", rate = "5Gbps" }]"#;
    let times = ["spray", "reps"].map(|entropy| {
        let overrides = [("entropy", entropy), ("fabric.link", slow)];
        let outcome = run(&replay(PLANES, &overrides, flows), 1);
        outcome.flows.iter().map(|flow| flow.fct.as_nanos()).max().unwrap()
    });
    assert!(times[1] * 10 < times[0] * 9, "{times:?}");
}

/// The same with credit of receivers, and a first window of so many full packets of 4154 bytes.
fn rccc(window: u64, flows: &str) -> Scenario {
    let window = format!("{}B", window * 4154);
    replay(FABRIC, &[("transport.control", "rccc"), ("transport.window", &window)], flows)
}

/// 12 packets under one ToR, a window of four. A packet takes 332.32 ns on a link, a control packet
/// 5.12 ns, a link 1 us. In ns after the first arrival, A = 2664.64:
///
/// | Packets | Arrive | Granted: a hundredth apart, the first two behind acknowledgements | Credit at the client |
/// | --- | --- | --- | --- |
/// | 0 to 3 | 0, 332.32, 664.64, 996.96 | 5.12, 337.44, 671.352, 1007.028 | 2015.36, 2347.68, 2681.592, 3017.268 |
/// | 4 to 7 | 4680, 5012.32, 5346.232, 5681.908 | 4685.12, 5017.44, 5351.352, 5687.028 | the last 7697.268 |
/// | 11 | 10361.908 | | |
#[test]
fn a_flow_goes_by_the_schedule_of_its_credit() {
    let outcome = run(&rccc(4, "0us,host-1,host-2,49152B"), 1);
    assert_eq!(outcome.flows[0].fct, Time(13_026_548));
    assert_eq!(outcome.totals.retransmitted, 0);
}

/// Two to one: first windows of a round trip each meet at the last port; then both have half of 99 %
/// of the link, and what waits there goes down.
#[test]
fn flows_to_a_host_share_its_credit_in_turn() {
    let outcome = run(&rccc(40, "0us,host-5,host-1,2MB\n0us,host-9,host-1,2MB"), 1);
    let ends = [0, 1].map(|flow: usize| outcome.flows[flow].fct.as_nanos());
    // 489 packets each at 332.32 ns; a grant for each of the two is 2.7 us.
    assert!(ends[0].abs_diff(ends[1]) < 2_700, "{ends:?}");
    let least = 2 * 489 * 33_232 / 100;
    let last = ends[0].max(ends[1]);
    assert!(last > least && last < least * 100 / 99 + 10_000, "{ends:?}");
    assert_eq!((outcome.totals.trimmed, outcome.totals.dropped), (0, 0));
}

/// Windows of 15 to one overflow the port, which trims; all comes again with credit.
#[test]
fn an_incast_is_served_by_credit() {
    let flows: String = (2..=16).map(|host| format!("0us,host-{host},host-1,400KB\n")).collect();
    let outcome = run(&rccc(40, &flows), 1);
    assert_eq!(outcome.flows.len(), 15);
    assert!(outcome.totals.trimmed > 0);
    assert_eq!(
        (outcome.totals.retransmitted, outcome.totals.timeouts),
        (outcome.totals.trimmed, 0)
    );
}

/// With NSCC beside credit, windows shrink by what is trimmed in the fabric alone: at the last hop
/// credit has shared the link already, and ports to hosts do not mark.
#[test]
fn at_the_last_hop_credit_alone_acts() {
    let flows: String = (2..=16).map(|host| format!("0us,host-{host},host-1,400KB\n")).collect();
    let keys = |control, to_hosts| {
        [("transport.control", control), ("entropy", "spray"), ("fabric.red.to_hosts", to_hosts)]
    };
    let last = |control, to_hosts| {
        let outcome = run(&replay(FABRIC, &keys(control, to_hosts), &flows), 1);
        assert_eq!((outcome.flows.len(), outcome.totals.timeouts), (15, 0), "{control}");
        let last = outcome.flows.iter().map(|flow| flow.fct).max().unwrap();
        (last, outcome.totals.ecn_marked)
    };
    let [both, credit] = ["nscc-rccc", "rccc"].map(|control| last(control, "false"));
    assert!(both.0 < credit.0 * 102 / 100, "{both:?} {credit:?}");
    assert!(both.1 < last("nscc-rccc", "true").1, "{both:?}");
}

/// Windows of 15 to one overflow the port, which drops. The last packets' losses are known by probes
/// long before their timeouts.
#[test]
fn without_trimming_probes_find_losses_before_timeouts() {
    let flows: String = (2..=16).map(|host| format!("0us,host-{host},host-1,400KB\n")).collect();
    let text = FABRIC.replace("trim_above = \"180KB\"", "");
    let [waits, asks] = ["false", "true"].map(|probes| {
        let keys = [("transport.probes", probes), ("transport.rto", "1ms")];
        let outcome = run(&replay(&text, &keys, &flows), 1);
        assert_eq!(outcome.flows.len(), 15);
        let last = outcome.flows.iter().map(|flow| flow.fct).max().unwrap();
        (last, outcome.totals.timeouts, outcome.totals.dropped)
    });
    assert!(asks.1 < waits.1, "{waits:?} {asks:?}");
    assert!(asks.0 < waits.0, "{waits:?} {asks:?}");
}

#[test]
fn a_run_repeats_itself() {
    let flows = "0us,host-3,host-1,400KB\n0us,host-5,host-1,400KB\n0us,host-9,host-1,400KB";
    for entropy in ["flow", "spray", "bitmap", "reps", "plb", "flowbender"] {
        for control in ["nscc", "rccc", "nscc-rccc"] {
            let keys = [("entropy", entropy), ("transport.control", control)];
            let scenario = replay(FABRIC, &keys, flows);
            let [first, second] = [(); 2].map(|()| run(&scenario, 3));
            assert_eq!(first, second, "{entropy} {control}");
            assert_eq!(first.flows.len(), 3);
        }
    }
}
