//! HULA during failure and recovery of links: traffic leaves after missed probes, and returns.
//! T_p = 200 us, T_fail = 600 us.

use heddle_scenario::Scenario;
use heddle_sim::{FlowRecord, Outcome};
use heddle_units::Time;

use crate::network::support::{run, scenario};

const PROBE_PERIOD: Time = Time::micros(200);
const FAIL_AFTER: Time = Time::micros(600);

/// Many flows of 15 KB, too few to fill a buffer.
const BASE: &str = r#"
    [transport]
    kind = "tcp"
    min_rto = "10ms"
    [workload]
    kind = "flows"
    sizes = "fixed:15KB"
    load = 0.1
    connections = "per-flow"
    [measure]
    probe_warm_up = "2ms"
    warm_up = "2ms"
    duration = "40ms"
    sample_every = "200us"
    [[event]]
    at = "10ms"
    [[event]]
    at = "20ms"
"#;

const DOWN: Time = Time::millis(10);
const UP: Time = Time::millis(20);

/// A fabric, a link of it that is down for a while, and the traffic pattern.
struct Fault {
    fabric: &'static str,
    link: (&'static str, &'static str),
    pattern: &'static str,
}

/// The links are remote from the senders; in the last one, the switch at the failed link still
/// receives probes of its ToR by a detour.
const FAULTS: [Fault; 3] = [
    Fault {
        fabric: r#"{ kind = "leaf-spine", hosts_per_leaf = 8, parallel_links = 1 }"#,
        link: ("spine-1", "leaf-2"),
        pattern: "cross-pod",
    },
    Fault {
        fabric: r#"{ kind = "two-pod", hosts_per_tor = 4 }"#,
        link: ("core-1", "agg-3"),
        pattern: "cross-pod",
    },
    Fault {
        fabric: r#"{ kind = "two-pod", hosts_per_tor = 4 }"#,
        link: ("agg-3", "tor-3"),
        pattern: "all-to-all",
    },
];

impl Fault {
    fn scenario(&self, scheme: &str) -> Scenario {
        let link = format!("[\"{} {}\"]", self.link.0, self.link.1);
        let overrides = [
            ("fabric", self.fabric),
            ("scheme", scheme),
            ("workload.pattern", self.pattern),
            ("event.0.fail", &link),
            ("event.1.recover", &link),
        ];
        scenario(BASE, &overrides)
    }
}

/// Flows that recovered from a loss by a timeout.
fn timed_out(outcome: &Outcome) -> Vec<&FlowRecord> {
    outcome.flows.iter().filter(|flow| flow.fct > Time::millis(9)).collect()
}

/// Except for one flow in some thousands that shares a flowlet slot with a flow to another ToR,
/// whose hop over the failed link is correct.
#[test]
fn traffic_leaves_a_failed_link_once_probes_have_been_missed() {
    let moved = DOWN + FAIL_AFTER + PROBE_PERIOD * 2;
    for fault in FAULTS {
        let (link, scenario) = (fault.link, fault.scenario("hula"));
        let (mut early, mut late) = (0, 0);
        for seed in 1..=8 {
            let outcome = run(&scenario, seed);
            assert_eq!(outcome.totals.dropped, 0, "{link:?}, seed {seed}");
            let timed_out = timed_out(&outcome);
            let started_late = timed_out.iter().filter(|flow| flow.start > moved).count();
            early += timed_out.len() - started_late;
            late += started_late;
        }
        assert!(early > 20, "{link:?}: flows were on it when it failed, {early} in all");
        assert!(late <= 2, "{link:?}: {late} flows took it later");
    }
}

/// Routing converges 100 ms after the failure.
#[test]
fn ecmp_goes_on_losing_flows() {
    for fault in FAULTS {
        let outcome = run(&fault.scenario("ecmp"), 1);
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
    for fault in FAULTS {
        let (link, scenario) = (fault.link, fault.scenario("hula"));
        for seed in 1..=4 {
            let outcome = run(&scenario, seed);
            let down = sent(&outcome, link, (DOWN + PROBE_PERIOD * 2, UP));
            assert!(down.iter().all(|&bytes| bytes == 0), "{link:?}: nothing, while it is down");
            let up = sent(&outcome, link, (UP, UP + PROBE_PERIOD * 10));
            assert!(
                up.iter().any(|&bytes| bytes > probes_at_most),
                "{link:?}, seed {seed}: {up:?}"
            );
        }
    }
}
