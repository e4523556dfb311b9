//! Pacing: a window that a host could send at once does not become a queue.

use heddle_scenario::{Source, load};
use heddle_sim::Outcome;
use heddle_units::{Bytes, Rate, Time};

use crate::network::support::{Overrides, replay, run, scenario};

/// A host of 100 Gbps sends to one of 10 Gbps; a round trip takes 200 us, and the initial window is
/// 64 segments.
const ONE_TO_ONE: &str = r#"
    scheme = "ecmp"
    [fabric]
    kind = "leaf-spine"
    leaves = 1
    spines = 1
    hosts_per_leaf = 2
    host_rate = "100Gbps"
    link_delay = "50us"
    link = [{ between = "host-2 leaf-1", rate = "10Gbps" }]
    port_buffer = "1MB"
    [transport]
    kind = "tcp"
    initial_window = 64
    [measure]
    probe_warm_up = "1ms"
    sample = ["leaf-1 host-2"]
    sample_every = "1us"
"#;

const PACED: (&str, &str) = ("transport.pacing", "true");

/// Bytes of a full segment on the wire.
const FRAME: u64 = 1518;

/// The longest queue at the last hop from a time on, in packets that wait or are being sent.
fn longest_queue(outcome: &Outcome, from: Time) -> f64 {
    let samples = &outcome.samples;
    let port = samples.port("leaf-1", "host-2").expect("it is sampled");
    let rows = samples.times.iter().zip(samples.queued.chunks(samples.ports.len()));
    let queues = rows.filter(|(time, _)| **time >= from).map(|(_, row)| row[port]);
    f64::from(queues.max().unwrap_or(0)) / FRAME as f64
}

/// A window of 64 segments over 200 us at 200 percent: 1.56 us for each, more than the 1.21 us that
/// one takes on the link. So the queue is longest when the eleventh segment joins the ten that are
/// not paced; without pacing it is that of the whole window, which the host sends ten times as fast
/// as the link.
#[test]
fn the_queue_of_a_paced_window_is_that_of_its_first_ten_segments() {
    let flow = "0s,host-1,host-2,93440B\n";
    let outcome_with = |overrides: Overrides| run(&replay(ONE_TO_ONE, overrides, flow), 1);
    let (paced, burst) = (outcome_with(&[PACED]), outcome_with(&[]));
    let frame_time = Rate::gbps(10).time_for(Bytes(FRAME)).as_secs_f64();
    for (outcome, longest) in
        [(&paced, 11.0 - 200e-6 / 128.0 / frame_time), (&burst, 64.0 - 63.0 / 10.0)]
    {
        let queue = longest_queue(outcome, Time::ZERO);
        // The sample may be a microsecond late.
        assert!((longest - 1.0..longest + 0.05).contains(&queue), "{queue}, not {longest}");
    }
    let tight = ("fabric.port_buffer", "16KB");
    assert_eq!(outcome_with(&[PACED, tight]).totals.dropped, 0);
    assert!(outcome_with(&[tight]).totals.dropped > 40);
}

/// The last segment leaves 54 waits after the tenth.
#[test]
fn a_paced_flow_takes_as_long_as_computed() {
    let paced = run(&replay(ONE_TO_ONE, &[PACED], "0s,host-1,host-2,93440B\n"), 1);
    let one_way = |bytes: u64| {
        let rates = [10, 100].map(|gbps| Rate::gbps(gbps).time_for(Bytes(bytes)));
        Time::micros(100) + rates[0] + rates[1]
    };
    let (start, handshake) = (Time::millis(1), one_way(64) * 2);
    let tick = |time: Time| time.0 >> 14;
    let srtt = Time((tick(start + handshake) - tick(start)) << 14);
    let wait = Time::nanos(1460 * srtt.as_nanos() * 100 / (64 * 1460) / 200);
    assert_eq!(paced.flows[0].fct, handshake + wait * 54 + one_way(FRAME));
}

/// After a pause no acknowledgement clocks the window of a connection that does not restart. Its
/// first segment is late, which halves the first wait, to 0.8 of a segment's time: so two segments
/// meet, and no more.
#[test]
fn a_window_after_a_pause_is_paced_from_its_first_segment_on() {
    let graph = "id,after,from,to,size,delay\n\
        a,,host-1,host-2,93440B,0s\n\
        b,a,host-1,host-2,93440B,5ms\n";
    let queue = |pacing: &str| {
        let source = Source::new("test.toml", ONE_TO_ONE)
            .with("workload", "{ kind = \"flow-graph\", file = \"flows.csv\" }")
            .with("transport.idle_restart", "false")
            .with("transport.pacing", pacing);
        let scenario = load(&source, &|_: &str| Ok(graph.to_owned())).expect("a scenario");
        let outcome = run(&scenario, 1);
        longest_queue(&outcome, outcome.flows[1].start)
    };
    assert!(queue("false") > 50.0, "{}", queue("false"));
    assert!(queue("true") < 1.5, "{}", queue("true"));
}

const MANY: &str = r#"
    scheme = "ecmp"
    [fabric]
    kind = "leaf-spine"
    leaves = 2
    spines = 2
    hosts_per_leaf = 4
    parallel_links = 1
    spine_rate = "10Gbps"
    port_buffer = "60KB"
    mark_above = "30KB"
    [transport]
    kind = "tcp"
    min_rto = "1ms"
    pacing = true
    [workload]
    kind = "flows"
    sizes = "websearch"
    load = 0.5
    [measure]
    warm_up = "1ms"
    flows = 40
"#;

/// Every control, coupling, detection of losses and way to use connections, with losses and marks.
#[test]
fn every_paced_flow_finishes() {
    let controls = ["newreno", "cubic", "dctcp"].map(|control| format!("control = \"{control}\""));
    let couplings = ["lia", "olia", "balia", "uncoupled"]
        .map(|coupling| format!("coupling = \"{coupling}\", subflows = 3"));
    let mut dropped = 0;
    let tcp = controls.map(|keys| format!("kind = \"tcp\", {keys}"));
    let mptcp = couplings.map(|keys| format!("kind = \"mptcp\", {keys}"));
    for kind in tcp.iter().chain(&mptcp) {
        for losses in ["recovery = \"newreno\"", "recovery = \"sack\"", "loss_detection = \"rack\""]
        {
            let transport = format!("{{ {kind}, {losses}, min_rto = \"1ms\", pacing = true }}");
            for connections in ["persistent", "per-flow"] {
                let keys =
                    [("transport", transport.as_str()), ("workload.connections", connections)];
                let outcome = run(&scenario(MANY, &keys), 1);
                assert_eq!(outcome.flows.len(), 40, "{keys:?}");
                dropped += outcome.totals.dropped;
            }
        }
    }
    assert!(dropped > 0, "buffers are small");
}
