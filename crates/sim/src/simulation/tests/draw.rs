//! A scenario drawn from a seed: small, and likely to meet full buffers, marks, failures and collisions.

use heddle_scenario::{Scenario, Source, load};

use crate::random::{Random, Stream};

/// A shape, the schemes that fit it, and a switch and a link that it can do without for a while.
const FABRICS: [(&str, &[&str], [&str; 2]); 3] = [
    (
        "kind = \"two-pod\"\nhosts_per_tor = 2\ncore_rate = \"10Gbps\"",
        &["conga-prime"],
        ["core-1", "tor-1 agg-2"],
    ),
    (
        "kind = \"leaf-spine\"\nleaves = 3\nspines = 2\nhosts_per_leaf = 2\nspine_rate = \"10Gbps\"",
        &["conga"],
        ["spine-2", "leaf-1 spine-1 #2"],
    ),
    ("kind = \"fat-tree\"\nk = 4\nhosts_per_tor = 1", &["conga-prime"], ["core-3", "tor-2 agg-1"]),
];

/// Schemes that fit every fabric.
const SCHEMES: [&str; 6] = ["ecmp", "letitflow", "drill", "spray", "hula", "ideal"];

pub(super) fn scenario(seed: u64) -> Scenario {
    let mut random = Random::new(seed, Stream::Traffic);
    let mut one_of =
        |choices: &[&'static str]| choices[random.below(choices.len() as u64) as usize];
    let (shape, own, broken) =
        FABRICS[one_of(&["0", "1", "2"]).parse::<usize>().expect("a number")];
    let scheme = one_of(&[&SCHEMES, own].concat());
    let text = format!(
        r#"
        title = "{scheme}, seed {seed}"
        [scheme]
        kind = "{scheme}"
        {flowlets}
        [fabric]
        {shape}
        port_buffer = "{buffer}"
        mark_above = "{mark_above}"
        {port_limit}
        convergence = "{convergence}"
        [transport]
        kind = "tcp"
        control = "{control}"
        recovery = "{recovery}"
        initial_window = {window}
        min_rto = "500us"
        max_rto = "10ms"
        {delayed_ack}
        [workload]
        kind = "flows"
        sizes = "fixed:{flows}
        pattern = {pattern}
        connections = "{connections}"
        [measure]
        warm_up = "{warm_up}"
        flows = 60
        sample_every = "50us"
        [[event]]
        at = "{fails}"
        fail = ["{broken}"]
        [[event]]
        at = "{recovers}"
        recover = ["{broken}"]
        "#,
        flowlets = match scheme {
            "hula" => one_of(&[
                "",
                "probe_period = \"50us\"",
                "flowlet_slots = 4\nlocal_detection = true"
            ]),
            "letitflow" | "conga" | "conga-prime" => one_of(&["", "flowlet_slots = 2"]),
            _ => "",
        },
        buffer = one_of(&["4KB", "20KB", "200KB"]),
        mark_above = one_of(&["0B", "3KB"]),
        port_limit = one_of(&["", "", "port_packets = 0", "port_packets = 5"]),
        convergence = one_of(&["0s", "300us", "2ms"]),
        control = one_of(&["newreno", "cubic", "dctcp"]),
        recovery = one_of(&["sack", "newreno"]),
        window = one_of(&["1", "10", "40"]),
        delayed_ack = one_of(&["", "delayed_ack = \"100us\""]),
        flows = one_of(&[
            "1B\"
load = 0.001",
            "1460B\"
load = 0.5",
            "30KB\"
load = 0.9",
            "100KB\"
load = 0.6"
        ]),
        pattern = one_of(&["\"all-to-all\"", "\"permutation\"", "\"incast\"\nsenders = 3"]),
        connections = one_of(&["persistent", "per-flow"]),
        warm_up = one_of(&["0s", "200us"]),
        fails = one_of(&["0s", "1100us", "1500us"]),
        recovers = one_of(&["1500us", "3ms"]),
        broken = one_of(&broken),
    );
    let no_files = |path: &str| Err(std::io::Error::other(path.to_owned()));
    load(&Source::new("drawn.toml", text), &no_files).unwrap_or_else(|error| panic!("{error}"))
}
