//! One flow in an empty fabric, to the picosecond.

use heddle_sim::{FlowRecord, Outcome};
use heddle_units::{Bytes, Rate, Time};

use crate::network::support::{replay, run, scenario};

const TWO_POD: &str = r#"
    scheme = "ecmp"
    [fabric]
    kind = "two-pod"
    hosts_per_tor = 2
    link_delay = "1us"
    [measure]
"#;

/// Time to send a frame with `payload` bytes, at least 64 bytes long, over links of these rates one
/// after the other.
fn store_and_forward(payload: u64, rates: &[Rate]) -> Time {
    let frame = Bytes((payload + 58).max(64));
    rates.iter().fold(Time::ZERO, |sum, rate| sum + rate.time_for(frame))
}

/// Host, ToR, aggregation, core, aggregation, ToR, host.
fn six_hops() -> [Rate; 6] {
    [10, 40, 40, 40, 40, 10].map(Rate::gbps)
}

#[test]
fn a_packet_is_stored_and_forwarded_at_each_of_six_hops() {
    for size in [1, 5, 6, 7, 500, 1460] {
        let flow = format!("5us,host-1,host-8,{size}B");
        let outcome = run(&replay(TWO_POD, &[], &flow), 1);
        let frames = [0, 0, size].map(|payload| store_and_forward(payload, &six_hops()));
        let expected = frames.into_iter().fold(Time::micros(18), |sum, frame| sum + frame);
        let flow = outcome.flows[0];
        assert_eq!(flow.fct, expected, "SYN, SYN/ACK and {size} bytes");
        assert_eq!(flow.ideal_fct, expected, "{size} bytes");
        assert_eq!(flow.start, Time::micros(1005), "probes' warm-up, then the replay");
    }
}

/// Two SYNs' frames and one of a byte, which has the least length, over six links: 20 bytes more
/// each, and on a full one too.
#[test]
fn preamble_and_gap_take_the_time_of_20_bytes_a_frame() {
    for (size, scheme) in [(1, "ecmp"), (1460, "hula")] {
        let flow = format!("5us,host-1,host-8,{size}B");
        let with = |key: &str| {
            let overrides = [("transport.preamble_and_gap", key), ("scheme", scheme)];
            run(&replay(TWO_POD, &overrides, &flow), 1)
        };
        let (with, without) = (with("true"), with("false"));
        let gaps = six_hops().map(|rate| rate.time_for(Bytes(20)));
        let gaps = gaps.into_iter().fold(Time::ZERO, |sum, gap| sum + gap);
        let ideal = |outcome: &Outcome| outcome.flows[0].ideal_fct;
        assert_eq!(ideal(&with), ideal(&without) + gaps * 3, "{size} bytes");
        if scheme == "ecmp" {
            assert_eq!(with.flows[0].fct, ideal(&with), "{size} bytes");
        } else {
            let [with, without] = [&with, &without].map(|outcome| outcome.totals.probe_bytes.0);
            assert_eq!((with % 84, without % 64, with > 0), (0, 0, true), "probes");
        }
    }
}

/// With one rate on the path the last segment never waits for more than those before it.
#[test]
fn segments_are_pipelined_behind_the_slowest_link() {
    let one_rate = [("fabric.core_rate", "10Gbps")];
    let outcome = run(&replay(TWO_POD, &one_rate, "0s,host-1,host-8,14600B"), 1);
    let rates = [Rate::gbps(10); 6];
    let handshake = Time::micros(12) + store_and_forward(0, &rates) * 2;
    let first = Time::micros(6) + store_and_forward(1460, &rates);
    let expected = handshake + first + Rate::gbps(10).time_for(Bytes(9 * 1518));
    assert_eq!((outcome.flows[0].fct, outcome.flows[0].ideal_fct), (expected, expected));
}

#[test]
fn the_hosts_of_a_tor_are_two_hops_apart() {
    let outcome = run(&replay(TWO_POD, &[], "0s,host-1,host-2,1000B"), 1);
    let rates = [Rate::gbps(10); 2];
    let frames = store_and_forward(0, &rates) * 2 + store_and_forward(1000, &rates);
    assert_eq!(outcome.flows[0].fct, Time::micros(6) + frames);
    assert_eq!(outcome.flows[0].ideal_fct, outcome.flows[0].fct);
}

/// Flows that find the fabric empty, after the first of the run.
fn alone(outcome: &Outcome) -> Vec<FlowRecord> {
    let end = |flow: &FlowRecord| flow.start + flow.fct;
    // The last acknowledgement is on its way for a while after the flow has ended.
    let clear = Time::micros(50);
    let pairs = outcome.flows.windows(2);
    pairs.filter(|w| end(&w[0]) + clear < w[1].start).map(|w| w[1]).collect()
}

#[test]
fn a_flow_alone_takes_as_long_as_computed() {
    for (connections, handshakes) in [("persistent", 0), ("per-flow", 2)] {
        let workload = r#"{ kind = "flows", sizes = "fixed:777B", load = 0.0001 }"#;
        let overrides = [
            ("workload", workload),
            ("workload.connections", connections),
            ("measure.warm_up", "500ms"),
            ("measure.flows", "200"),
        ];
        let outcome = run(&scenario(TWO_POD, &overrides), 1);
        let frames =
            store_and_forward(777, &six_hops()) + store_and_forward(0, &six_hops()) * handshakes;
        let expected = frames + Time::micros(6 + 6 * handshakes);
        let alone = alone(&outcome);
        assert!(alone.len() > 100);
        for flow in alone {
            assert_eq!((flow.fct, flow.ideal_fct), (expected, expected), "{connections}");
        }
    }
}
