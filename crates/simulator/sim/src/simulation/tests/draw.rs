//! A small scenario drawn from a seed, likely to have full buffers, ECN marks, failures and hash
//! collisions.

use heddle_scenario::{Scenario, Source, load};

use crate::random::{Random, Stream};

const BASE: &str = r#"
    [transport]
    kind = "tcp"
    min_rto = "500us"
    max_rto = "10ms"

    [workload]
    kind = "flows"
    capacity = "30Gbps"

    [measure]
    probe_warm_up = "200us"
    duration = "1ms"
    sample_every = "50us"

    [[event]]

    [[event]]
"#;

/// A fabric, a scheme that not every fabric supports, and links that may fail for a while.
struct Shape {
    fabric: &'static str,
    scheme: &'static str,
    breaks: [&'static str; 3],
}

const SHAPES: [Shape; 3] = [
    Shape {
        fabric: r#"{ kind = "two-pod", hosts_per_tor = 2, core_rate = "10Gbps" }"#,
        scheme: "conga-prime",
        breaks: ["core-1", "tor-1 agg-2", "host-3 tor-2"],
    },
    Shape {
        fabric: r#"{ kind = "leaf-spine", leaves = 3, hosts_per_leaf = 2, spine_rate = "10Gbps" }"#,
        scheme: "conga",
        breaks: ["spine-2", "leaf-1 spine-1 #2", "host-2 leaf-1"],
    },
    Shape {
        fabric: r#"{ kind = "fat-tree", k = 4, hosts_per_tor = 1 }"#,
        scheme: "conga-prime",
        breaks: ["core-3", "tor-2 agg-1", "host-8 tor-8"],
    },
];

/// Schemes that every fabric supports.
const SCHEMES: [&str; 14] = [
    "ecmp",
    r#"{ kind = "cflb", elephants = "40KB" }"#,
    r#"{ kind = "cflb", field = "source-port", radix = 5, elephants = "0B", placing = "first-fit" }"#,
    r#"{ kind = "letitflow", flowlet_slots = 2 }"#,
    "drill",
    "flowcut",
    r#"{ kind = "flowcut", flow_slots = 4, lost_after = "100us", drain_ratio = 2, drain_after = "3KB" }"#,
    "spray",
    "hula",
    r#"{ kind = "hula", probe_period = "50us", update = "listing" }"#,
    r#"{ kind = "hula", flowlet_slots = 4, local_detection = true }"#,
    r#"{ kind = "mp-hula", association_slots = 4096, mapping_rows = 4096 }"#,
    r#"{ kind = "mp-hula", flowlet_slots = 4, best_k = 1, association_slots = 4, mapping_rows = 4 }"#,
    "ideal",
];

/// Other keys with their values; an empty value is the default.
const CHOICES: [(&str, &[&str]); 15] = [
    ("fabric.port_buffer", &["4KB", "20KB", "200KB"]),
    ("fabric.port_packets", &["", "0", "5"]),
    ("fabric.mark_above", &["0B", "3KB"]),
    ("fabric.convergence", &["0s", "300us", "1ms"]),
    ("transport.recovery", &["sack", "newreno"]),
    ("transport.initial_window", &["1", "10", "40"]),
    ("transport.delayed_ack", &["", "100us"]),
    ("transport.mss", &["1460", "500"]),
    ("workload.sizes", &["fixed:700B", "fixed:30KB", "fixed:60KB"]),
    ("workload.load", &["0.2", "0.6", "0.9"]),
    ("workload.pattern", &["all-to-all", "permutation", "incast"]),
    ("workload.connections", &["persistent", "per-flow"]),
    ("measure.warm_up", &["0s", "200us"]),
    ("event.0.at", &["0s", "300us", "500us"]),
    ("event.1.at", &["500us", "800us"]),
];

/// Keys, and others with their values instead of them.
const INSTEAD: [&[(&str, &str, &str)]; 4] = [&[], &[SHARED], &[RED], &[SHARED, RED]];
const SHARED: (&str, &str, &str) =
    ("fabric.port_buffer", "fabric.shared_buffer", r#"{ bytes = "30KB", alpha = 0.5 }"#);
const RED: (&str, &str, &str) =
    ("fabric.mark_above", "fabric.red", r#"{ min = "1KB", max = "3KB", weight = 0.2 }"#);

/// TCP and MPTCP.
const PROTOCOLS: [&[(&str, &[&str])]; 2] = [
    &[("transport.control", &["newreno", "cubic", "dctcp"])],
    &[
        ("transport.kind", &["mptcp"]),
        ("transport.subflows", &["1", "2", "3", "8"]),
        ("transport.coupling", &["uncoupled", "lia", "olia", "balia"]),
        ("transport.scheduler", &["lowest-rtt", "round-robin", "redundant"]),
        ("transport.join", &["after-data", "at-once"]),
        ("transport.version", &["0", "1"]),
    ],
];

pub(super) fn scenario(seed: u64) -> Scenario {
    let mut random = Random::new(seed, Stream::Traffic);
    let mut draw = |count: usize| random.below(count as u64) as usize;
    let shape = &SHAPES[draw(SHAPES.len())];
    let scheme = *SCHEMES.get(draw(SCHEMES.len() + 1)).unwrap_or(&shape.scheme);
    let link = format!("[\"{}\"]", shape.breaks[draw(shape.breaks.len())]);
    let mut source = Source::new(format!("seed {seed}"), BASE)
        .with("fabric", shape.fabric)
        .with("scheme", scheme)
        .with("event.0.fail", &link)
        .with("event.1.recover", &link);
    let protocol = PROTOCOLS[draw(PROTOCOLS.len())];
    let instead = INSTEAD[draw(INSTEAD.len())];
    for (key, values) in protocol.iter().chain(&CHOICES) {
        let value = values[draw(values.len())];
        let (key, value) = match instead.iter().find(|(replaced, ..)| replaced == key) {
            Some((_, key, value)) => (key, *value),
            None => (key, value),
        };
        if !value.is_empty() {
            source = source.with(*key, value);
        }
        if value == "incast" {
            source = source.with("workload.senders", "3");
        }
    }
    let no_files = |path: &str| Err(std::io::Error::other(path.to_owned()));
    load(&source, &no_files).unwrap_or_else(|error| panic!("{error}"))
}
