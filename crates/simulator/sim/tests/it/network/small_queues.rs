//! The share of a connection in its host's own queue, against arithmetic.

use heddle_sim::Outcome;
use heddle_units::Time;

use crate::network::support::{Overrides, replay, run};

/// Hosts of 10 Gbps at one leaf.
const ONE_LEAF: &str = r#"
    scheme = "ecmp"
    [fabric]
    kind = "leaf-spine"
    leaves = 1
    spines = 1
    hosts_per_leaf = 3
    [transport]
    kind = "tcp"
    [measure]
    warm_up = "0s"
    sample = ["host-1 leaf-1"]
    sample_every = "1us"
"#;

/// Bytes of a full segment on the wire.
const FRAME: u32 = 1518;

fn outcome(overrides: Overrides, flows: &str) -> Outcome {
    run(&replay(ONE_LEAF, overrides, flows), 1)
}

/// The longest queue of the first host, in bytes.
fn longest_queue(outcome: &Outcome) -> u32 {
    let port = outcome.samples.port("host-1", "leaf-1").expect("it is sampled");
    outcome.samples.queue_of(port).max().unwrap_or(0)
}

/// A window of 40 segments: all at once without a limit, and ten and one for each that leaves with
/// one, which takes as long.
#[test]
fn a_lone_flow_is_as_fast_with_a_short_queue() {
    let flow = "0s,host-1,host-2,58400B\n";
    let window = ("transport.initial_window", "40");
    let all = outcome(&[window], flow);
    let few = outcome(&[window, ("transport.output_limit", "15180B")], flow);
    assert!((38 * FRAME..=40 * FRAME).contains(&longest_queue(&all)), "{}", longest_queue(&all));
    assert!((9 * FRAME..=10 * FRAME).contains(&longest_queue(&few)), "{}", longest_queue(&few));
    assert_eq!(few.flows[0].fct, all.flows[0].fct);
    assert_eq!(few.flows[0].fct, few.flows[0].ideal_fct);
    let one = outcome(&[window, ("transport.output_limit", "1B")], flow);
    assert_eq!((longest_queue(&one) <= FRAME, one.flows[0].fct), (true, all.flows[0].fct));
}

/// A long flow has 4 MB in flight, 3.2 ms at 10 Gbps, when one of 2.5 MB starts: behind them its
/// window doubles every 3.2 ms, eight times. With 64 KB each in the queue they share the link from
/// the start, and 2.5 MB of each take 4.2 ms with their headers.
#[test]
fn a_long_flow_starves_no_other() {
    let flows = "0s,host-1,host-2,40MB\n10ms,host-1,host-3,2500KB\n";
    let second = |overrides: Overrides| {
        let outcome = outcome(overrides, flows);
        let fct = outcome.flows.iter().find(|flow| flow.size.0 == 2_500_000).unwrap().fct;
        (fct, longest_queue(&outcome))
    };
    let (starved, queue) = second(&[]);
    assert!(starved > Time::millis(15) && queue > 3_900_000, "{starved} {queue}");
    for transport in ["tcp", "mptcp"] {
        let kind = format!("{{ kind = \"{transport}\", output_limit = \"64KB\" }}");
        let (fct, queue) = second(&[("transport", &kind)]);
        let subflows = if transport == "tcp" { 1 } else { 2 };
        assert!((Time::millis(4)..Time::millis(5)).contains(&fct), "{transport}: {fct}");
        assert!(queue < 2 * subflows * (64_000 + FRAME), "{transport}: {queue}");
    }
}
