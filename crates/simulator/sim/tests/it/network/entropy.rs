//! Load balancing by hosts: entropy values that ECMP's switches hash.

use heddle_sim::Outcome;

use crate::network::support::{run, scenario};

/// Eight flows without end from one leaf to the other. A flow alone fills its host's link and
/// nothing else: hosts are 50 times slower than the links between switches. Hosts' own ports do not
/// mark.
const LONG: &str = r#"
    scheme = "ecmp"
    [fabric]
    kind = "leaf-spine"
    leaves = 2
    spines = 2
    hosts_per_leaf = 8
    parallel_links = 1
    host_rate = "200Mbps"
    spine_rate = "10Gbps"
    mark_above = "6KB"
    host_mark_above = "9MB"
    convergence = "10s"
    [transport]
    kind = "tcp"
    control = "dctcp"
    loss_detection = "rack"
    receive_window = "64KB"
    [workload]
    kind = "long"
    pairs = [
        "host-1 host-9", "host-2 host-10", "host-3 host-11", "host-4 host-12",
        "host-5 host-13", "host-6 host-14", "host-7 host-15", "host-8 host-16",
    ]
    start_within = "1ms"
    [measure]
"#;

type Keys<'a> = [(&'a str, &'a str)];

/// Flows with less than half of the rate that each can have, over three seeds of 24 flows in all.
fn slow_flows(entropy: &str, keys: &Keys) -> usize {
    let keys = [&[("entropy", entropy)], keys].concat();
    let slow = |seed| {
        let outcome = run(&scenario(LONG, &keys), seed);
        assert_eq!(outcome.long_flows.len(), 8);
        outcome.long_flows.iter().filter(|flow| flow.goodput().0 < 96_000_000).count()
    };
    (1..=3).map(slow).sum()
}

/// One of the two paths is slower than a host, but carries the acknowledgements of all. No timer
/// expires: it is the marks that tell.
const SLOW_LINK: [(&str, &str); 4] = [
    ("fabric.link", r#"[{ between = "leaf-1 spine-1", rate = "50Mbps" }]"#),
    ("transport.min_rto", "2s"),
    ("measure.warm_up", "500ms"),
    ("measure.duration", "50ms"),
];

#[test]
fn flows_leave_a_slow_path_for_its_marks() {
    let flow = slow_flows("flow", &SLOW_LINK);
    assert!(flow >= 6, "about half of 24");
    assert_eq!(slow_flows("flowbender", &SLOW_LINK), 0);
    // PLB waits for rounds with half of the packets marked, so that a queue of one packet has to
    // count.
    let early = [&SLOW_LINK[..], &[("fabric.mark_above", "1400B")]].concat();
    let plb = slow_flows("plb", &early);
    assert!(2 * plb <= flow, "{plb} of {flow} are left");
}

/// One of the two paths is cut, and routing does not learn of it.
#[test]
fn flows_leave_a_dead_path_after_timeouts() {
    let cut = [
        ("event", r#"[{ at = "10ms", fail = ["leaf-1 spine-1"] }]"#),
        ("transport.max_rto", "20ms"),
        ("measure.warm_up", "1s"),
        ("measure.duration", "50ms"),
    ];
    assert!(slow_flows("flow", &cut) >= 6, "about half of 24");
    for entropy in ["flowbender", "plb"] {
        assert_eq!(slow_flows(entropy, &cut), 0, "{entropy}");
    }
}

/// One flow over four paths of its own rate, of which one is cut after 20 ms; 100 ms are measured
/// from 50 ms on.
fn sprayed(entropy: &str, keys: &Keys) -> Outcome {
    let base = [
        ("entropy", entropy),
        ("fabric.spines", "4"),
        ("fabric.host_rate", "1Gbps"),
        ("fabric.spine_rate", "1Gbps"),
        ("fabric.mark_above", "15KB"),
        ("workload.pairs", r#"["host-1 host-9"]"#),
        ("measure.warm_up", "50ms"),
        ("measure.duration", "100ms"),
        ("measure.sample_every", "50ms"),
    ];
    run(&scenario(LONG, &[&base[..], keys].concat()), 1)
}

/// Share of the first leaf's bytes that go to each spine.
fn shares(outcome: &Outcome) -> [f64; 4] {
    let samples = &outcome.samples;
    let sent = [1, 2, 3, 4].map(|spine| {
        let port = samples.port("leaf-1", &format!("spine-{spine}")).expect("they are linked");
        samples.sent.chunks(samples.ports.len()).map(|row| f64::from(row[port])).sum::<f64>()
    });
    let total: f64 = sent.iter().sum();
    sent.map(|bytes| bytes / total)
}

#[test]
fn spraying_and_reps_send_a_flow_over_all_paths_and_other_policies_over_one() {
    for entropy in ["spray", "reps"] {
        let shares = shares(&sprayed(entropy, &[]));
        assert!(shares.iter().all(|share| (0.2..0.3).contains(share)), "{entropy}: {shares:?}");
    }
    for entropy in ["flow", "flowbender", "plb"] {
        let shares = shares(&sprayed(entropy, &[]));
        assert!(shares.iter().any(|share| *share > 0.999), "{entropy}: {shares:?}");
    }
}

#[test]
fn reps_avoids_a_dead_path_and_spraying_does_not() {
    let cut = [("event", r#"[{ at = "20ms", fail = ["leaf-1 spine-1"] }]"#)];
    let goodput = |entropy| sprayed(entropy, &cut).long_flows[0].goodput().0 / 1_000_000;
    assert!(goodput("spray") < 100, "a quarter of the packets is lost: {}", goodput("spray"));
    assert!(goodput("reps") > 900, "{}", goodput("reps"));
}

/// Each MPTCP subflow has a value of its own, and an acknowledgement that is delayed echoes too.
#[test]
fn subflows_and_delayed_acknowledgements_have_entropy_values() {
    let more: [&Keys; 2] = [
        &[("transport.kind", "mptcp"), ("transport.coupling", "uncoupled")],
        &[("transport.delayed_ack", "200us")],
    ];
    for keys in more {
        for entropy in ["flowbender", "plb"] {
            let cut = [("event", r#"[{ at = "10ms", fail = ["leaf-1 spine-1"] }]"#)];
            let window = [
                ("transport.max_rto", "20ms"),
                ("measure.warm_up", "1s"),
                ("measure.duration", "50ms"),
            ];
            let slow = slow_flows(entropy, &[keys, &cut, &window].concat());
            assert_eq!(slow, 0, "{entropy} {keys:?}");
        }
    }
}

/// Each subflow of MPTCP has a ring and a failure of its own. A dead path is found as by TCP; the
/// windows of coupled subflows are smaller and grow more slowly, so that the random values after
/// each thaw cost them more.
#[test]
fn reps_under_mptcp_avoids_a_dead_path_with_every_coupling() {
    let cut = ("event", r#"[{ at = "20ms", fail = ["leaf-1 spine-1"] }]"#);
    let goodput = |entropy, coupling: &str, control: &str| {
        let keys = [
            cut,
            ("transport.kind", "mptcp"),
            ("transport.coupling", coupling),
            ("transport.control", control),
        ];
        let outcome = sprayed(entropy, &keys);
        outcome.long_flows[0].goodput().0 / 1_000_000
    };
    assert!(goodput("reps", "uncoupled", "dctcp") > 900);
    for coupling in ["lia", "olia", "balia"] {
        let (reps, spray) =
            (goodput("reps", coupling, "newreno"), goodput("spray", coupling, "newreno"));
        assert!(reps > 500 && spray < 100, "{coupling}: {reps} {spray}");
    }
}

/// Flows of a connection each, of which some open while a path is dead: handshakes and joins find
/// another, and every flow finishes.
#[test]
fn connections_open_over_a_dead_path_with_reps_under_mptcp() {
    let keys = [
        ("entropy", "reps"),
        ("transport.kind", "mptcp"),
        ("transport.coupling", "lia"),
        ("transport.control", "newreno"),
        (
            "workload",
            r#"{ kind = "flows", sizes = "fixed:100KB", load = 0.2, connections = "per-flow" }"#,
        ),
        ("event", r#"[{ at = "1010us", fail = ["leaf-1 spine-1"] }]"#),
        ("measure.warm_up", "1ms"),
        ("measure.flows", "200"),
    ];
    let outcome = run(&scenario(LONG, &keys), 1);
    assert_eq!((outcome.flows.len(), outcome.totals.unfinished), (200, 0));
    assert!(outcome.totals.lost_to_failures > 100, "{:?}", outcome.totals);
}
