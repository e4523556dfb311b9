//! Shared buffers and RED at switch ports, in whole runs.

use heddle_sim::Outcome;

use crate::network::support::{Overrides, run, scenario};

/// Queues at two receivers' ports, and on the way to them.
const DCTCP: &str = r#"
    scheme = "ecmp"
    [fabric]
    kind = "leaf-spine"
    leaves = 2
    spines = 2
    hosts_per_leaf = 4
    spine_rate = "10Gbps"
    parallel_links = 1
    host_mark_above = "30KB"
    [transport]
    kind = "tcp"
    control = "dctcp"
    [workload]
    kind = "flows"
    sizes = "hadoop"
    load = 0.7
    [measure]
    warm_up = "2ms"
    flows = 500
"#;

fn outcome(overrides: Overrides) -> Outcome {
    run(&scenario(DCTCP, overrides), 1)
}

/// RED whose average is the queue and whose thresholds are one is the marking of DCTCP (Alizadeh et
/// al., SIGCOMM 2010, section 3.1).
#[test]
fn red_of_weight_1_and_one_threshold_is_a_threshold() {
    let step = outcome(&[("fabric.mark_above", "30KB")]);
    let red = r#"{ min = "30KB", max = "30KB", weight = 1.0 }"#;
    let red = outcome(&[("fabric.red", red)]);
    assert!(step.totals.ecn_marked > 1000, "{}", step.totals.ecn_marked);
    assert_eq!(red.totals.ecn_marked, step.totals.ecn_marked);
    assert_eq!((red.digest, red.flows), (step.digest, step.flows));
}

/// A smaller probability and a slower average mark less; another seed draws other marks.
#[test]
fn red_marks_by_its_keys() {
    let marked = |red: &str| outcome(&[("fabric.red", red)]).totals.ecn_marked;
    let certain = marked(r#"{ min = "30KB", max = "30KB", weight = 1.0 }"#);
    let likely = marked(r#"{ min = "30KB", max = "90KB", weight = 1.0, probability = 0.5 }"#);
    let seldom = marked(r#"{ min = "30KB", max = "300KB", weight = 1.0, probability = 0.01 }"#);
    assert!(certain > likely && likely > seldom && seldom > 0, "{certain} {likely} {seldom}");
}

/// Packets that all switches hold, switch by switch: never more than the buffer, of which
/// thresholds leave a part free.
#[test]
fn a_switch_holds_no_more_than_its_shared_buffer() {
    let incast = [
        ("fabric.shared_buffer", r#"{ bytes = "60KB", alpha = 1.0 }"#),
        ("transport.control", "newreno"),
        ("fabric.host_mark_above", "9MB"),
        ("measure.sample_every", "5us"),
        ("measure.sample", r#"["spine-1", "spine-2", "leaf-1", "leaf-2"]"#),
    ];
    let outcome = outcome(&incast);
    let ports = &outcome.samples.ports;
    let mut fullest = 0;
    for row in outcome.samples.queued.chunks(ports.len()) {
        for switch in ["leaf-1", "leaf-2", "spine-1", "spine-2"] {
            let held_by_switch = |(port, held): (&heddle_sim::PortName, &u32)| {
                (port.from == switch).then_some(u64::from(*held))
            };
            let held: u64 = ports.iter().zip(row).filter_map(held_by_switch).sum();
            assert!(held <= 60_000, "{switch} holds {held}");
            fullest = fullest.max(held);
        }
    }
    assert!(fullest > 30_000, "{fullest}");
    assert!(outcome.totals.dropped > 0 && outcome.totals.dropped_at_senders == 0);
    let of_ports: u64 = outcome.port_counters.iter().map(|port| port.dropped).sum();
    assert_eq!(of_ports, outcome.totals.dropped);
    assert!(outcome.unfinished.is_empty());
}

/// A buffer that is shared takes a burst that a fixed part of it does not (the reason to share).
#[test]
fn a_shared_buffer_takes_a_burst_that_a_part_of_it_does_not() {
    let incast = [
        ("workload.pattern", "incast"),
        ("workload.senders", "7"),
        ("workload.sizes", "fixed:14KB"),
    ];
    let control = [
        ("transport.control", "newreno"),
        ("fabric.host_mark_above", "9MB"),
        ("workload.load", "0.02"),
    ];
    let dropped = |buffer: (&'static str, &'static str)| {
        outcome(&[&incast[..], &control, &[buffer]].concat()).totals.dropped
    };
    // A leaf has 6 ports: 40 KB each, or 240 KB together. An incast of 7 packets of 14 KB is 98 KB.
    let apart = dropped(("fabric.port_buffer", "40KB"));
    let shared = dropped(("fabric.shared_buffer", r#"{ bytes = "240KB", alpha = 4.0 }"#));
    assert!(apart > 100 && shared * 20 < apart, "{apart} {shared}");
}
