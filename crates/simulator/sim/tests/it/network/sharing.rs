//! Long flows through one bottleneck: utilisation, fairness and queue length.

use heddle_sim::Outcome;

use crate::network::support::{run, scenario};

/// Up to eight hosts of leaf 1 send, each to a leaf of its own, over one link of 10 Gbps.
const DUMBBELL: &str = r#"
    scheme = "ecmp"
    [fabric]
    kind = "leaf-spine"
    leaves = 9
    spines = 1
    hosts_per_leaf = 8
    parallel_links = 1
    host_rate = "40Gbps"
    spine_rate = "10Gbps"
    link_delay = "5us"
    [transport]
    kind = "tcp"
    control = "newreno"
    [workload]
    kind = "long"
    start_within = "10ms"
    [measure]
    warm_up = "50ms"
    duration = "200ms"
    sample_every = "20us"
"#;

/// Runs `senders` long flows with a congestion controller.
fn share(senders: u32, control: &str) -> Outcome {
    share_with(senders, ("transport.control", control))
}

/// Runs `senders` long flows with a change of the transport.
fn share_with(senders: u32, transport: (&str, &str)) -> Outcome {
    let pair = |sender: u32| format!("\"host-{} host-{}\"", sender + 1, 8 * (sender + 1) + 1);
    let pairs = (0..senders).map(pair).collect::<Vec<_>>().join(",");
    let overrides = [("workload.pairs", &*format!("[{pairs}]")), transport];
    run(&scenario(DUMBBELL, &overrides), 1)
}

/// Goodput in the measuring window, relative to the payload capacity of a link of 10 Gbps.
fn goodput(outcome: &Outcome) -> f64 {
    let totals = &outcome.totals;
    let rate = totals.delivered_in_window.0 as f64 * 8.0 / totals.window.as_secs_f64();
    rate / (10e9 * 1460.0 / 1518.0)
}

#[test]
fn one_long_flow_fills_its_link() {
    for control in ["newreno", "cubic", "dctcp"] {
        let goodput = goodput(&share(1, control));
        assert!((0.97..1.003).contains(&goodput), "{control}: {goodput}");
    }
}

/// Jain's index of fairness: 1 if all are equal, 1/n if one has everything.
fn jain(shares: &[f64]) -> f64 {
    let (sum, squares) = shares.iter().fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
    sum * sum / (shares.len() as f64 * squares)
}

/// Bytes that reached each receiver's leaf in the measuring window.
fn shares(outcome: &Outcome, senders: u32) -> Vec<f64> {
    let samples = &outcome.samples;
    let rows = || samples.sent.chunks(samples.ports.len()).skip(samples.measured_from);
    let share = |leaf: u32| {
        let port = samples.port("spine-1", &format!("leaf-{leaf}")).expect("they are linked");
        rows().map(|row| f64::from(row[port])).sum()
    };
    (2..senders + 2).map(share).collect()
}

#[test]
fn long_flows_share_a_bottleneck() {
    for control in ["newreno", "cubic", "dctcp"] {
        for senders in [2, 4, 8] {
            let outcome = share(senders, control);
            let (goodput, fairness) = (goodput(&outcome), jain(&shares(&outcome, senders)));
            assert!((0.97..1.003).contains(&goodput), "{senders} by {control}: {goodput}");
            assert!(fairness > 0.9, "{senders} by {control}: {fairness}");
        }
    }
}

/// Mean and largest queue at the bottleneck, in bytes.
fn queue(outcome: &Outcome) -> (f64, u32) {
    let port = outcome.samples.port("leaf-1", "spine-1").expect("they are linked");
    let queue: Vec<u32> = outcome.samples.queue_of(port).collect();
    let sum: f64 = queue.iter().map(|&bytes| f64::from(bytes)).sum();
    (sum / queue.len() as f64, queue.into_iter().max().unwrap_or(0))
}

/// DCTCP section 3.3: the queue swings about K, here 97.5 KB, and neither overflows nor runs empty.
#[test]
fn dctcp_keeps_the_queue_near_its_threshold() {
    const K: f64 = 97_500.0;
    for senders in [2, 4, 8] {
        let dctcp = share(senders, "dctcp");
        let (mean, _) = queue(&dctcp);
        assert!((0.3 * K..2.0 * K).contains(&mean), "{senders}: {mean}");
        assert_eq!(dctcp.totals.dropped, 0);
        let (drop_tail, _) = queue(&share(senders, "newreno"));
        assert!(mean < 0.6 * drop_tail, "{senders}: {mean}, drop-tail {drop_tail}");
    }
}

/// ECN of MPTCP: each subflow has a DCTCP window and an echo of its own.
#[test]
fn subflows_with_dctcp_windows_keep_the_queue_near_its_threshold() {
    const K: f64 = 97_500.0;
    const MPTCP: &str =
        r#"{ kind = "mptcp", subflows = 2, coupling = "uncoupled", control = "dctcp" }"#;
    for senders in [1, 2, 4] {
        let outcome = share_with(senders, ("transport", MPTCP));
        let (mean, _) = queue(&outcome);
        assert!((0.3 * K..2.0 * K).contains(&mean), "{senders}: {mean}");
        assert_eq!(outcome.totals.dropped, 0);
        let goodput = goodput(&outcome);
        assert!((0.97..1.003).contains(&goodput), "{senders}: {goodput}");
    }
}

/// A queue that drops at 375 KB fills up to that, and no further.
#[test]
fn loss_based_control_fills_the_buffer() {
    for control in ["newreno", "cubic"] {
        let outcome = share(4, control);
        let (_, most) = queue(&outcome);
        assert!((373_000..=375_000).contains(&most), "{control}: {most}");
        assert!(outcome.totals.dropped > 0);
    }
}
