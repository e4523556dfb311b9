//! UET hosts over switches that send control packets first and trim: invariants after each event.

use heddle_scenario::{Scenario, Source, load};

use super::run_checked;

const INCAST: &str = r#"
    [fabric]
    kind = "fat-tree"
    k = 4
    rate = "100Gbps"
    port_buffer = "60KB"
    control_first = true
    trim_above = "50KB"
    red = { min = "10KB", max = "40KB", probability = 1.0, weight = 1.0 }
    convergence = "200us"
    [transport]
    kind = "uet"
    [workload]
    kind = "replay"
    file = "flows.csv"
    [[event]]
    at = "20us"
    fail = ["core-1 agg-1"]
"#;

/// Eight to one, and others beside them, over a link that dies.
const FLOWS: &str = "at,from,to,size
0us,host-3,host-1,200KB
0us,host-5,host-1,200KB
0us,host-6,host-1,200KB
0us,host-7,host-1,200KB
0us,host-9,host-1,200KB
0us,host-10,host-1,200KB
0us,host-13,host-1,200KB
1us,host-14,host-1,200KB
2us,host-1,host-12,500KB
3us,host-1,host-16,500KB
";

fn scenario(text: &str, changes: &[(&str, &str)]) -> Scenario {
    let source = Source::new("uet.toml", text);
    let source = changes.iter().fold(source, |source, (key, value)| source.with(*key, *value));
    let flows = |_: &str| Ok(FLOWS.to_owned());
    load(&source, &flows).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn trimmed_packets_come_again_over_every_kind_of_path() {
    let hosts = ["reps", "bitmap", "spray", "flow"].map(|entropy| (entropy, "ecmp"));
    let switches = ["spray", "drill", "hula", "shuttle", "flowcut"].map(|scheme| ("flow", scheme));
    for (entropy, scheme) in hosts.into_iter().chain(switches) {
        for control in ["nscc", "rccc", "nscc-rccc"] {
            let keys = [("entropy", entropy), ("scheme", scheme), ("transport.control", control)];
            let outcome = run_checked(&scenario(INCAST, &keys), 1);
            assert_eq!(outcome.flows.len(), 10, "{keys:?}: {:?}", outcome.totals);
            assert!(outcome.totals.trimmed > 0, "{keys:?}");
            assert!(outcome.totals.retransmitted >= outcome.totals.trimmed);
        }
    }
}

#[test]
fn without_trimming_full_ports_drop_and_timeouts_repair() {
    let text = INCAST.replace("trim_above = \"50KB\"", "");
    for control in ["nscc", "rccc", "nscc-rccc"] {
        let keys = [("entropy", "spray"), ("scheme", "ecmp"), ("transport.control", control)];
        let outcome = run_checked(&scenario(&text, &keys), 1);
        assert_eq!((outcome.flows.len(), outcome.totals.trimmed), (10, 0), "{control}");
        assert!(outcome.totals.dropped > 0 && outcome.totals.timeouts > 0, "{control}");
    }
}
