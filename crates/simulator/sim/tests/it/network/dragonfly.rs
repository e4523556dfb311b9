//! Traffic on a dragonfly.

use heddle_units::{Bytes, Rate, Time};

use crate::network::support::{replay, run, scenario};

/// Figure 5 of Kim et al.: 9 groups of 4 routers, each with 2 hosts.
const DRAGONFLY: &str = r#"
    scheme = "ecmp"
    [fabric]
    kind = "dragonfly"
    routers = 4
    global_delay = "5us"
    [transport]
    kind = "tcp"
    control = "dctcp"
    [workload]
    kind = "long"
    [measure]
    warm_up = "50ms"
    duration = "100ms"
"#;

/// Section 4.1: the worst case of minimal routing. All of a group send to the next, over the one
/// link between both.
#[test]
fn a_group_that_sends_to_one_other_has_one_link() {
    let pairs: Vec<String> = (1..=8).map(|i| format!("\"host-{i} host-{}\"", i + 8)).collect();
    let pairs = format!("[{}]", pairs.join(", "));
    let sum = |overrides: &[(&str, &str)]| {
        let pairs = [("workload.pairs", pairs.as_str())];
        let outcome = run(&scenario(DRAGONFLY, &[&pairs[..], overrides].concat()), 1);
        let goodputs = outcome.long_flows.iter().map(|flow| flow.goodput().0 as f64);
        goodputs.sum::<f64>() * 1518.0 / 1460.0 / 10e9
    };
    let one = sum(&[]);
    assert!((0.97..1.005).contains(&one), "{one}");
    // With two groups eight links join them, and each router has two.
    let eight =
        sum(&[("fabric.groups", "2"), ("scheme", "spray"), ("transport.dup_threshold", "100")]);
    assert!((7.5..8.04).contains(&eight), "{eight}");
}

/// Host 1 is of router 1, which leads to groups 2 and 3; host 17 of group 3's first router, to
/// which the link from group 1 leads; host 24 of its last.
#[test]
fn a_packet_crosses_the_links_of_its_minimal_path() {
    let replayed = DRAGONFLY.replace("[workload]\n    kind = \"long\"\n", "");
    let replayed = replayed.split("[measure]").next().unwrap();
    let flows = "0s,host-1,host-17,1460B\n1ms,host-1,host-24,1460B\n2ms,host-8,host-24,1460B\n3ms,host-1,host-2,1460B\n";
    let outcome = run(&replay(replayed, &[], flows), 1);
    // Links of 10 Gbps with the delays of those of hosts, and of those inside of groups and between
    // them.
    let time = |local: u64, global: u64| {
        let links = 2 + local + global;
        let crossing = |bytes| Rate::gbps(10).time_for(Bytes(bytes)) * links;
        let delays = Time::micros(1) * (2 + local) + Time::micros(5) * global;
        (crossing(64) + delays) * 2 + crossing(1518) + delays
    };
    let expected = [time(0, 1), time(1, 1), time(2, 1), time(0, 0)];
    assert_eq!(outcome.flows.iter().map(|flow| flow.fct).collect::<Vec<_>>(), expected);
    assert!(outcome.flows.iter().all(|flow| flow.fct == flow.ideal_fct));
}

/// Share of the hosts' links that long flows between hosts fill, each packet on a path of its own.
fn throughput(routing: &str, pairs: impl Iterator<Item = (u32, u32)>) -> f64 {
    let pairs: Vec<String> =
        pairs.map(|(a, b)| format!("\"host-{} host-{}\"", a + 1, b + 1)).collect();
    let pairs = format!("[{}]", pairs.join(", "));
    let mut overrides = vec![
        ("fabric.routing", routing),
        ("fabric.global_delay", "1us"),
        ("workload.pairs", pairs.as_str()),
        ("transport.dup_threshold", "1000"),
        ("measure.warm_up", "5ms"),
        ("measure.duration", "5ms"),
    ];
    if routing != "minimal" {
        overrides.push(("fabric.intermediate", "packet"));
    }
    let outcome = run(&scenario(DRAGONFLY, &overrides), 1);
    let goodputs = outcome.long_flows.iter().map(|flow| flow.goodput().0 as f64);
    goodputs.sum::<f64>() * 1518.0 / 1460.0 / 10e9 / 72.0
}

/// Share of the hosts' links by Valiant's routing, whose packets cross 16/9 links between groups on
/// average: 1 of those 2 of 9 whose intermediate group is that of an end, else 2. A link between
/// groups carries 16/9 of what a host sends, and the acknowledgements of as many packets: 54 %.
const VALIANT: f64 = 9.0 / 16.0 / (1.0 + 64.0 / 1518.0);

/// Kim et al., section 4.2, worst-case traffic: each group sends to the next. By minimal routing
/// 1/(a p), what one link carries for all hosts of a group.
#[test]
fn valiant_carries_half_of_the_capacity_under_adversarial_traffic() {
    let throughput_by = |routing| throughput(routing, (0..72).map(|host| (host, (host + 8) % 72)));
    let [minimal, valiant, ugal_l, ugal_g] =
        ["minimal", "valiant", "ugal-l", "ugal-g"].map(throughput_by);
    assert!((0.122..0.1251).contains(&minimal), "{minimal}");
    assert!((0.9 * VALIANT..VALIANT).contains(&valiant), "{valiant}");
    assert!((0.9 * VALIANT..VALIANT).contains(&ugal_g), "{ugal_g}");
    // No back-pressure tells a router of the queues of others.
    assert!((2.0 * minimal..valiant).contains(&ugal_l), "{ugal_l}");
}

/// Section 4.2, uniform traffic: Valiant's algorithm costs about half of the capacity. Each host
/// sends to one in every other group.
#[test]
fn valiant_costs_half_of_the_capacity_under_uniform_traffic() {
    let to = |host| (1..9).map(move |group| (host, (host + 8 * group) % 72));
    let throughput_by = |routing| throughput(routing, (0..72).flat_map(to));
    let [minimal, valiant, ugal_l, ugal_g] =
        ["minimal", "valiant", "ugal-l", "ugal-g"].map(throughput_by);
    assert!((0.85..1.0).contains(&minimal), "{minimal}");
    assert!((0.9 * VALIANT..VALIANT).contains(&valiant), "{valiant}");
    assert!((1.2 * VALIANT..minimal).contains(&ugal_l), "{ugal_l}");
    assert!((1.3 * VALIANT..minimal).contains(&ugal_g), "{ugal_g}");
}

/// A flow keeps its intermediate group: no packet overtakes another, and flows take as long as
/// their paths are.
#[test]
fn a_flow_keeps_its_intermediate_group() {
    let replayed = DRAGONFLY.replace("[workload]\n    kind = \"long\"\n", "");
    let replayed = replayed.split("[measure]").next().unwrap();
    let flows: String = (0..64)
        .map(|i| format!("{}ms,host-{},host-{},200KB\n", i, i % 8 + 1, 20 + i % 40))
        .collect();
    let reordered = |intermediate: &str| {
        let keys = [("fabric.routing", "valiant"), ("fabric.intermediate", intermediate)];
        let outcome = run(&replay(replayed, &keys, &flows), 1);
        assert_eq!(outcome.flows.len(), 64);
        assert_eq!(outcome.totals.unroutable, 0);
        outcome.totals.retransmitted
    };
    assert_eq!(reordered("flow"), 0);
    assert!(reordered("packet") > 0, "duplicate acknowledgements");
}
