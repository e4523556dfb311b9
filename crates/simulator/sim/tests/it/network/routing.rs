//! Convergence of routing after failures and recoveries.

use std::ops::Range;

use heddle_sim::{FlowRecord, Outcome};
use heddle_units::Time;

use crate::network::support::{run, scenario};

/// Flows of 15 KB over three spines, too few to fill a buffer; routing converges in 5 ms.
const THREE_SPINES: &str = r#"
    scheme = "ecmp"
    [fabric]
    kind = "leaf-spine"
    spines = 3
    hosts_per_leaf = 8
    parallel_links = 1
    convergence = "5ms"
    [transport]
    kind = "tcp"
    min_rto = "2ms"
    [workload]
    kind = "flows"
    sizes = "fixed:15KB"
    load = 0.1
    connections = "per-flow"
    [measure]
    probe_warm_up = "2ms"
    warm_up = "0s"
    duration = "28ms"
    sample_every = "200us"
"#;

fn millis(range: Range<u64>) -> Range<Time> {
    Time::millis(range.start)..Time::millis(range.end)
}

/// Flows that started in a time and lost a packet.
fn hit(outcome: &Outcome, range: Range<u64>) -> usize {
    assert_eq!(outcome.totals.dropped, 0, "nothing but failures loses packets");
    let is_hit =
        |f: &&FlowRecord| f.fct > Time::millis(2) && millis(range.clone()).contains(&f.start);
    outcome.flows.iter().filter(is_hit).count()
}

/// Data bytes that went from spine 1 to leaf 2 in a time.
fn over_spine_1(outcome: &Outcome, range: Range<u64>) -> u64 {
    let samples = &outcome.samples;
    let port = samples.port("spine-1", "leaf-2").expect("they are linked");
    let probes = 4 * 64;
    let rows = samples.sent.chunks(samples.ports.len()).zip(&samples.times);
    let rows = rows.filter(|(_, at)| millis(range.clone()).contains(at));
    rows.map(|(row, _)| u64::from(row[port].saturating_sub(probes))).sum()
}

#[test]
fn each_failure_is_known_after_its_own_convergence() {
    let two = r#"[
        { at = "8ms", fail = ["spine-1 leaf-2"] },
        { at = "12ms", fail = ["spine-2 leaf-2"] },
    ]"#;
    for seed in 1..=3 {
        let outcome = run(&scenario(THREE_SPINES, &[("event", two)]), seed);
        let hits = [2..6, 8..12, 13..17, 17..30].map(|range| hit(&outcome, range));
        assert_eq!((hits[0], hits[3]), (0, 0), "before, and when both are known");
        assert!(hits[1] > 20, "the first is not known");
        assert!(hits[2] > 20, "the first is known, the second is not: {hits:?}");
    }
}

#[test]
fn a_link_that_was_down_from_the_start_is_used_once_it_recovers() {
    let back = r#"[{ at = "8ms", recover = ["spine-1 leaf-2"] }]"#;
    for scheme in ["ecmp", "letitflow", "drill", "spray", "hula"] {
        let down = r#"["spine-1 leaf-2"]"#;
        let overrides = [("scheme", scheme), ("fabric.failed", down), ("event", back)];
        let outcome = run(&scenario(THREE_SPINES, &overrides), 1);
        assert_eq!(over_spine_1(&outcome, 0..13), 0, "{scheme}");
        assert!(over_spine_1(&outcome, 14..30) > 1_000_000, "{scheme}");
    }
}
