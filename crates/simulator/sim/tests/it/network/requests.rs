//! Requests in a closed loop against the laws of queueing.

use std::collections::BTreeMap;

use heddle_sim::Outcome;

use crate::network::support::{Overrides, run, scenario};

/// Eight clients and servers; a request is 100 bytes, a response 20 KB.
const CLIENTS: &str = r#"
    scheme = "ecmp"
    [fabric]
    kind = "leaf-spine"
    leaves = 2
    spines = 2
    hosts_per_leaf = 4
    parallel_links = 1
    [workload]
    kind = "requests"
    sizes = "fixed:20KB"
    [measure]
    warm_up = "5ms"
    duration = "40ms"
"#;

fn requests(changes: Overrides) -> Outcome {
    run(&scenario(CLIENTS, changes), 1)
}

fn mean_seconds(outcome: &Outcome) -> f64 {
    let sum: f64 = outcome.requests.iter().map(|request| request.time.as_secs_f64()).sum();
    sum / outcome.requests.len() as f64
}

fn per_second(outcome: &Outcome) -> f64 {
    outcome.requests.len() as f64 / outcome.totals.window.as_secs_f64()
}

/// Little's law: as many requests are under way as clients have slots.
#[test]
fn the_requests_under_way_are_those_of_the_clients() {
    for (outstanding, under_way) in [("1", 8.0), ("4", 32.0)] {
        let outcome = requests(&[("workload.outstanding", outstanding)]);
        let found = per_second(&outcome) * mean_seconds(&outcome);
        assert!((found / under_way - 1.0).abs() < 0.02, "{outstanding}: {found}");
    }
}

/// The response time law: X = N / (R + Z), with exponential Z. 8 clients and 40 ms are about 800
/// pauses: three standard errors are 11 %.
#[test]
fn clients_think_between_requests() {
    let outcome = requests(&[("workload.think", "300us")]);
    let law = 8.0 / (mean_seconds(&outcome) + 300e-6);
    let found = per_second(&outcome);
    assert!((found / law - 1.0).abs() < 0.11, "{found} {law}");
}

/// One client alone: its request and its response each take their ideal times, one after the other.
#[test]
fn a_request_of_a_client_alone_takes_the_ideal_times_of_both_flows() {
    let fabric = "{ kind = \"leaf-spine\", leaves = 2, spines = 1, hosts_per_leaf = 1, parallel_links = 1, interfaces = 1 }";
    let one = requests(&[("fabric", fabric), ("workload.connections_per_pair", "1")]);
    // Both hosts are clients of the other; on links of their own neither disturbs the other but by
    // acknowledgements of 64 bytes.
    let ideal = |bytes: u64| {
        let flow = one.flows.iter().find(|flow| flow.size.0 == bytes);
        flow.expect("measured").ideal_fct
    };
    let whole = ideal(100) + ideal(20_000);
    let least = one.requests.iter().map(|request| request.time).min().expect("requests");
    assert!(least >= whole && least < whole + whole / 10, "{least} {whole}");
    let mean = mean_seconds(&one);
    assert!(mean < whole.as_secs_f64() * 1.5, "{mean}");
}

/// Each request goes to three different servers, and is done with the last response.
#[test]
fn a_request_waits_for_all_of_its_servers() {
    let outcome = requests(&[("workload.fan_out", "3"), ("workload.think", "100us")]);
    let of_size = |bytes: u64| outcome.flows.iter().filter(move |flow| flow.size.0 == bytes);
    for request in outcome.requests.iter().take(100) {
        let asked: Vec<_> = of_size(100)
            .filter(|flow| flow.start == request.start && flow.from == request.client)
            .collect();
        let mut servers: Vec<u32> = asked.iter().map(|flow| flow.to).collect();
        servers.sort_unstable();
        servers.dedup();
        assert_eq!((asked.len(), servers.len()), (3, 3), "{request:?}");
        let ends = of_size(20_000).filter(|flow| flow.to == request.client);
        let mut ends = ends.map(|flow| flow.start + flow.fct);
        assert!(ends.any(|end| end == request.start + request.time), "{request:?}");
    }
}

/// With pairs each client asks one server, and each server answers one client.
#[test]
fn clients_of_pairs_ask_one_server_each() {
    let outcome = requests(&[("workload.pattern", "cross-pod-pairs")]);
    let mut server_of = BTreeMap::new();
    for flow in outcome.flows.iter().filter(|flow| flow.size.0 == 100) {
        assert_eq!(*server_of.entry(flow.from).or_insert(flow.to), flow.to);
    }
    let mut servers: Vec<u32> = server_of.values().copied().collect();
    servers.sort_unstable();
    assert_eq!((server_of.len(), servers), (4, vec![4, 5, 6, 7]));
}
