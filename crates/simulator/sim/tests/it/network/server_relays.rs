//! BCube, whose servers relay for each other, and VL2: paths that do not go up and down a tree of
//! pods.

use std::collections::BTreeSet;

use heddle_sim::Outcome;
use heddle_units::Time;

use crate::network::conservation::{assert_balanced, assert_finished};
use crate::network::support::{replay, run, scenario};

/// 16 servers of two ports; windows that overflow no buffer. Server 00 is host-1, server 11 is
/// host-6; between are 01 (host-2) or 10 (host-5).
const BCUBE: &str = r#"
    scheme = "ecmp"
    [fabric]
    kind = "bcube"
    ports = 4
    levels = 1
    [transport]
    kind = "tcp"
    receive_window = "128KB"
    [workload]
    kind = "long"
    pairs = ["host-1 host-6"]
    [measure]
    probe_warm_up = "0s"
    warm_up = "20ms"
    duration = "50ms"
    sample_every = "1ms"
"#;

/// 6 ToRs of 3 hosts, in three pairs.
const VL2: &str = r#"
    scheme = "ecmp"
    [fabric]
    kind = "vl2"
    aggregation_ports = 4
    intermediate_ports = 6
    hosts_per_tor = 3
    [transport]
    kind = "tcp"
    receive_window = "128KB"
    [workload]
    kind = "long"
    pairs = ["host-1 host-18"]
    [measure]
    probe_warm_up = "0s"
    warm_up = "20ms"
    duration = "50ms"
"#;

/// A flow from each host to three others, of sizes around a window.
fn flows(hosts: u32) -> String {
    let flow = |from: u32, step: u32| {
        let to = (from + step) % hosts;
        format!("{}us,host-{},host-{},{}KB\n", from * 7, from + 1, to + 1, 10 + from * step)
    };
    (0..hosts).flat_map(|from| [1, 5, hosts - 2].map(|step| flow(from, step))).collect()
}

/// Bytes that one node sent to another while samples were taken.
fn sent(outcome: &Outcome, from: &str, to: &str) -> u64 {
    let samples = &outcome.samples;
    let port = samples.port(from, to).expect("they are linked");
    samples.sent.chunks(samples.ports.len()).map(|row| u64::from(row[port])).sum()
}

/// Payload delivered over the measured time, in bits per second.
fn goodput(outcome: &Outcome) -> f64 {
    outcome.totals.delivered_in_window.0 as f64 * 8.0 / outcome.totals.window.as_secs_f64()
}

/// Of the bytes on the wire, 1460 in 1518 are payload.
const PAYLOAD: f64 = 1460.0 / 1518.0;

#[test]
fn every_flow_completes_by_every_scheme_that_needs_no_tiers() {
    for scheme in ["ecmp", "letitflow", "drill", "spray", "ideal"] {
        for (text, hosts) in [(BCUBE, 16), (VL2, 18)] {
            let overrides = [("scheme", scheme), ("measure", "{ probe_warm_up = \"0s\" }")];
            let scenario = replay(text, &overrides, &flows(hosts));
            let outcome = run(&scenario, 1);
            assert_balanced(&outcome);
            assert_finished(&scenario, &outcome);
            assert_eq!(outcome.totals.unroutable, 0, "{scheme}");
        }
    }
}

/// Relays route around a port that fails: what was lost on it is sent again by another way.
#[test]
fn flows_outlive_a_port_of_a_relay() {
    let overrides = [
        ("event", r#"[{ at = "200us", fail = ["relay-1 switch-0-1", "switch-1-2"] }]"#),
        ("fabric.convergence", "1ms"),
        ("measure", "{ probe_warm_up = \"0s\" }"),
    ];
    let scenario = replay(BCUBE, &overrides, &flows(16));
    let outcome = run(&scenario, 1);
    assert_balanced(&outcome);
    assert_finished(&scenario, &outcome);
    assert!(outcome.totals.lost_to_failures > 0);
}

/// From 00 to 11 one digit is corrected at 01 or 10, whose own host has no part in it.
#[test]
fn a_server_relays_what_is_not_its_own() {
    let mut relayed = [0, 0];
    for seed in 1..=8 {
        let outcome = run(&scenario(BCUBE, &[]), seed);
        let by = [sent(&outcome, "relay-2", "switch-1-2"), sent(&outcome, "relay-5", "switch-0-2")];
        let came =
            [sent(&outcome, "switch-0-1", "relay-2"), sent(&outcome, "switch-1-1", "relay-5")];
        let under_way = |way: usize| came[way].abs_diff(by[way]);
        assert!(under_way(0) + under_way(1) < 3 * 1518, "all that came goes on");
        assert!(by[0] == 0 || by[1] == 0, "one flow, one path");
        assert!(by[0] + by[1] > outcome.totals.delivered.0, "the whole flow, with headers");
        relayed.iter_mut().zip(by).for_each(|(sum, bytes)| *sum += bytes);
    }
    assert!(relayed.iter().all(|bytes| *bytes > 0), "both ways are taken by some seed");
}

/// A flow of TCP has one path: on BCube one of the server's two ports of 1 Gbps, not the 2 Gbps
/// inside it.
#[test]
fn one_flow_fills_the_narrowest_link_of_its_path() {
    for (text, overrides, bound) in [
        (BCUBE, vec![], 1e9),
        (BCUBE, vec![("fabric.rate", "400Mbps")], 0.4e9),
        (VL2, vec![], 1e9),
        (VL2, vec![("fabric.host_rate", "20Gbps"), ("fabric.switch_rate", "2Gbps")], 2e9),
    ] {
        let goodput = goodput(&run(&scenario(text, &overrides), 1));
        let most = bound * PAYLOAD;
        assert!((0.98 * most..1.001 * most).contains(&goodput), "{goodput:e} of {most:e}");
    }
}

/// Flows over different ports of a server do not share a link of 1 Gbps: the link inside carries
/// both.
#[test]
fn a_servers_ports_add_up() {
    let both = r#"["host-1 host-2", "host-1 host-5"]"#;
    let outcome = run(&scenario(BCUBE, &[("workload.pairs", both)]), 1);
    let most = 2e9 * PAYLOAD;
    assert!((0.98 * most..1.001 * most).contains(&goodput(&outcome)));
}

/// A further digit to correct is two further links of 1 us and 1 Gbps, crossed by the SYN, the
/// SYN/ACK and the data.
#[test]
fn a_relay_adds_its_links_to_the_way() {
    let one = |pair: &str| {
        let overrides = [("measure", "{ probe_warm_up = \"0s\" }")];
        let scenario = replay(BCUBE, &overrides, &format!("0s,{pair},1460B\n"));
        run(&scenario, 1).flows[0].fct
    };
    let transmissions = Time::nanos((64 + 64 + 1518) * 8);
    let longer = (Time::micros(3) + transmissions) * 2;
    assert_eq!(one("host-1,host-6") - one("host-1,host-2"), longer);
}

/// 8 servers of three ports, numbered in binary: from 000 (host-1) to 111 (host-8) three digits are
/// corrected in any order, over two links each.
const THREE_DIGITS: &str = r#"
    scheme = "ecmp"
    [fabric]
    kind = "bcube"
    ports = 2
    levels = 2
    [transport]
    kind = "mptcp"
    subflows = 2
    receive_window = "128KB"
    [workload]
    kind = "long"
    pairs = ["host-1 host-8"]
    [measure]
    probe_warm_up = "0s"
    warm_up = "20ms"
    duration = "30ms"
    sample_every = "2ms"
"#;

/// The links between switches that carried data in the measuring window.
fn links_with_data(outcome: &Outcome) -> Vec<(&str, &str)> {
    let samples = &outcome.samples;
    let rows = samples.sent.chunks(samples.ports.len()).skip(samples.measured_from);
    let sent = |port| rows.clone().map(|row| u64::from(row[port])).sum::<u64>();
    // Acknowledgements have a tenth of the bytes and less.
    let most = (0..samples.ports.len()).map(sent).max().unwrap_or(0);
    let busy = (0..samples.ports.len()).filter(|port| sent(*port) > most / 5);
    busy.map(|port| (samples.ports[port].from.as_str(), samples.ports[port].to.as_str())).collect()
}

/// Two subflows by ECMP: they share all 6 links, the first two, the last two, or none. The links
/// that carry data tell which.
#[test]
fn subflows_that_share_a_link_of_a_relayed_path_are_detected() {
    let mut seen = BTreeSet::new();
    for seed in 1..=16 {
        let outcome = run(&scenario(THREE_DIGITS, &[]), seed);
        let links = links_with_data(&outcome);
        let leaving = links.iter().filter(|(from, _)| *from == "relay-1").count();
        let told = outcome.path_use.expect("it takes samples");
        assert!(told.samples >= 10, "{told:?}");
        assert_eq!(told.shared, if links.len() < 12 { told.samples } else { 0 }, "{links:?}");
        let at_first = if leaving == 1 { told.samples } else { 0 };
        assert_eq!(told.shared_first_hop, at_first, "{links:?}");
        let ways = if links.len() == 6 { 1 } else { 2 };
        assert_eq!(told.paths_sum, ways * told.samples, "{links:?}");
        seen.insert((links.len(), leaving));
    }
    let kinds = [(12, 2), (10, 1), (10, 2)];
    assert!(kinds.iter().all(|kind| seen.contains(kind)), "{seen:?}");
}
