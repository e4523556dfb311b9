//! Traffic on a dragonfly.

use heddle_units::{Bytes, Rate, Time};

use crate::support::{replay, run, scenario};

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

/// Section 4.1: the worst case of minimal routing. All of a group send to the next, over the one link between both.
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

/// Host 1 is of router 1, which leads to groups 2 and 3; host 17 of group 3's first router, to which the link from group 1 leads; host 24 of its last.
#[test]
fn a_packet_crosses_the_links_of_its_minimal_path() {
    let replayed = DRAGONFLY.replace("[workload]\n    kind = \"long\"\n", "");
    let replayed = replayed.split("[measure]").next().unwrap();
    let flows = "0s,host-1,host-17,1460B\n1ms,host-1,host-24,1460B\n2ms,host-8,host-24,1460B\n3ms,host-1,host-2,1460B\n";
    let outcome = run(&replay(replayed, &[], flows), 1);
    // Links of 10 Gbps with the delays of those of hosts, and of those inside of groups and between them.
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
