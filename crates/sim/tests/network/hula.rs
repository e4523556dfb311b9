//! HULA as a network: traffic moves off loaded and failed paths, and back. T_p = 200 us, T_fail = 600 us.

use heddle_scenario::Scenario;
use heddle_sim::{FlowRecord, Outcome};
use heddle_units::Time;

use crate::lab::{replay, run, scenario};

const PROBE_PERIOD: Time = Time::micros(200);
const FAIL_AFTER: Time = Time::micros(600);

const LEAF_SPINE: &str = r#"
    scheme = "hula"
    [fabric]
    kind = "leaf-spine"
    hosts_per_leaf = 8
    parallel_links = 1
    spine_rate = "10Gbps"
    [transport]
    kind = "tcp"
    min_rto = "10ms"
    [measure]
    probe_warm_up = "2ms"
    sample_every = "200us"
"#;

/// One flow of 25 MB, which fills a link of 10 Gbps for 20 ms, and a small one every 10 us beside it.
fn one_elephant(scheme: &str) -> Scenario {
    let mouse = |i: u32| format!("{}us,host-{},host-{},1000B", 10 * i, i % 6 + 2, i % 7 + 10);
    let mice = (0..1900).map(mouse).collect::<Vec<_>>().join("\n");
    let list = format!("0s,host-1,host-9,25MB\n{mice}");
    replay(LEAF_SPINE, &[("scheme", scheme)], &list)
}

/// How much longer small flows took than in an empty fabric, on average, in seconds; after a few probes.
fn delay_of_mice(outcome: &Outcome) -> f64 {
    let is_mouse = |flow: &&FlowRecord| flow.size.0 == 1000 && flow.start > Time::millis(4);
    let delays: Vec<f64> = outcome
        .flows
        .iter()
        .filter(is_mouse)
        .map(|flow| (flow.fct - flow.unloaded).as_secs_f64())
        .collect();
    delays.iter().sum::<f64>() / delays.len() as f64
}

#[test]
fn the_best_hop_moves_away_from_a_loaded_uplink() {
    for seed in 1..=5 {
        let hula = delay_of_mice(&run(&one_elephant("hula"), seed));
        let ecmp = delay_of_mice(&run(&one_elephant("ecmp"), seed));
        assert!(hula < 1e-6, "seed {seed}: nobody waits behind the elephant: {hula}");
        assert!(ecmp > 50e-6, "seed {seed}: by hash, half do: {ecmp}");
    }
}

/// Many flows of 15 KB, too few to fill a buffer, while a link is down from 10 ms to 20 ms.
fn faulty(fabric: &str, link: &str, scheme: &str) -> Scenario {
    let link = format!("[\"{link}\"]");
    let overrides = [
        ("fabric", fabric),
        ("scheme", scheme),
        (
            "workload",
            r#"{ kind = "flows", sizes = "fixed:15KB", load = 0.1, connections = "per-flow" }"#,
        ),
        ("measure.warm_up", "2ms"),
        ("measure.duration", "40ms"),
        ("event", r#"[{ at = "10ms" }, { at = "20ms" }]"#),
        ("event.0.fail", &link),
        ("event.1.recover", &link),
    ];
    scenario(LEAF_SPINE, &overrides)
}

const DOWN: Time = Time::millis(10);
const UP: Time = Time::millis(20);

/// Fabrics, and a link in each that the hosts' own switches do not see.
const FABRICS: [(&str, &str); 2] = [
    (
        r#"{ kind = "leaf-spine", hosts_per_leaf = 8, parallel_links = 1, spine_rate = "40Gbps" }"#,
        "spine-1 leaf-2",
    ),
    (r#"{ kind = "two-pod", hosts_per_tor = 4 }"#, "core-1 agg-3"),
];

/// Flows that lost a packet and found out by the timer alone.
fn timed_out(outcome: &Outcome) -> Vec<&FlowRecord> {
    outcome.flows.iter().filter(|flow| flow.fct > Time::millis(9)).collect()
}

#[test]
fn traffic_leaves_a_failed_link_once_probes_have_been_missed() {
    let moved = DOWN + FAIL_AFTER + PROBE_PERIOD * 2;
    for (fabric, link) in FABRICS {
        let mut hit = 0;
        for seed in 1..=8 {
            let outcome = run(&faulty(fabric, link, "hula"), seed);
            assert_eq!(outcome.totals.dropped, 0, "{link}, seed {seed}");
            let timed_out = timed_out(&outcome);
            let late: Vec<_> = timed_out.iter().filter(|flow| flow.start > moved).collect();
            assert!(late.is_empty(), "{link}, seed {seed}: {late:?}");
            hit += timed_out.len();
        }
        assert!(hit > 20, "{link}: flows were on it when it failed, {hit} in all");
    }
}

/// Routing takes 100 ms to learn of the failure.
#[test]
fn ecmp_goes_on_losing_flows() {
    for (fabric, link) in FABRICS {
        let outcome = run(&faulty(fabric, link, "ecmp"), 1);
        let late = |flow: &&&FlowRecord| (DOWN + Time::millis(5)..UP).contains(&flow.start);
        assert!(timed_out(&outcome).iter().filter(late).count() > 50);
    }
}

/// Bytes a sample that a port sent from one time to another.
fn sent(outcome: &Outcome, (from, to): (&str, &str), (begin, end): (Time, Time)) -> Vec<u32> {
    let samples = &outcome.samples;
    let port = samples.port(from, to).expect("they are linked");
    let rows = samples.sent.chunks(samples.ports.len()).zip(&samples.times);
    rows.filter(|(_, at)| (begin..end).contains(at)).map(|(row, _)| row[port]).collect()
}

#[test]
fn a_link_that_recovers_is_used_again() {
    let probes_at_most = 4 * 64;
    for (fabric, link) in FABRICS {
        let ends = link.split_once(' ').expect("two ends");
        for seed in 1..=4 {
            let outcome = run(&faulty(fabric, link, "hula"), seed);
            let down = sent(&outcome, ends, (DOWN + PROBE_PERIOD * 2, UP));
            assert!(down.iter().all(|&bytes| bytes == 0), "{link}: nothing, while it is down");
            let up = sent(&outcome, ends, (UP, UP + PROBE_PERIOD * 10));
            assert!(up.iter().any(|&bytes| bytes > probes_at_most), "{link}, seed {seed}: {up:?}");
        }
    }
}
