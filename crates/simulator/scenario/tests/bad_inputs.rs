//! The exact text of each error: place, message and suggested fix.

use std::io;

use heddle_scenario::{ScenarioError, Source, load};

/// A sound scenario; each case spoils it. Line numbers below are these.
const BASE: &str = r#"title = "x"
seeds = [1, 2]
[fabric]
kind = "two-pod"
hosts_per_tor = 8
host_rate = "10Gbps"
link_delay = "1us"
[transport]
kind = "tcp"
control = "newreno"
[scheme]
kind = "hula"
probe_period = "200us"
[workload]
kind = "flows"
sizes = "websearch"
load = 0.6
[measure]
warm_up = "20ms"
flows = 100
[[event]]
at = "30ms"
fail = ["core-2 agg-3"]
[[event]]
at = "40ms"
recover = ["core-2 agg-3"]
"#;

fn files(path: &str) -> io::Result<String> {
    match path {
        "falling.csv" => Ok("bytes,cdf\n1,0.5\n2,0.4\n3,1\n".into()),
        "twins.toml" => Ok("[[node]]\nname = \"a\"\n[[node]]\nname = \"a\"\n".into()),
        "ring.toml" => Ok(RING.into()),
        "island.toml" => Ok(ISLAND.into()),
        "flows.csv" => Ok("at,from,to,size\n1ms,host-1,host-2,1KB\n".into()),
        _ => Err(io::Error::new(io::ErrorKind::NotFound, "not found")),
    }
}

const RING: &str = r#"
node = [{ name = "h1" }, { name = "h2" }, { name = "h3" }, { name = "a" }, { name = "b" }, { name = "c" }]
link = [
    { between = "h1 a", rate = "1Gbps" }, { between = "h2 b", rate = "1Gbps" }, { between = "h3 c", rate = "1Gbps" },
    { between = "a b", rate = "1Gbps" }, { between = "b c", rate = "1Gbps" }, { between = "c a", rate = "1Gbps" },
]"#;

const ISLAND: &str = r#"
node = [{ name = "h1" }, { name = "h2" }, { name = "a" }, { name = "b", tier = 1 }, { name = "top" }]
link = [
    { between = "h1 a", rate = "1Gbps" }, { between = "h2 b", rate = "1Gbps" },
    { between = "a top", rate = "1Gbps" }, { between = "a top", rate = "1Gbps" },
]"#;

/// The base with some text replaced.
fn spoiled(from: &str, to: &str) -> ScenarioError {
    assert_eq!(BASE.matches(from).count(), 1, "{from:?} must be in the base once");
    let source = Source::new("s.toml", BASE.replace(from, to));
    load(&source, &files).expect_err(to)
}

/// Asserts the message of each spoiling: what is replaced, by what, and the error's text without the file's name.
fn refused(cases: &[(&str, &str, &str)]) {
    for (from, to, expected) in cases {
        let error = spoiled(from, to).to_string();
        assert_eq!(error, format!("s.toml:{expected}"), "{from:?} -> {to:?}");
    }
}

#[test]
fn the_base_is_sound() {
    load(&Source::new("s.toml", BASE), &files).unwrap();
}

/// The words are the TOML parser's; the line is ours.
#[test]
fn malformed_toml() {
    for (from, to, line) in [
        ("load = 0.6", "load = ", 17),
        ("load = 0.6", "load 0.6", 17),
        ("load = 0.6", "load = 0.6\nload = 0.7", 18),
        ("title = \"x\"", "title = \"x", 1),
        ("[scheme]", "[scheme", 11),
        ("[scheme]", "[fabric]", 11),
    ] {
        let error = spoiled(from, to);
        assert_eq!((error.line(), error.key(), error.help()), (Some(line), "", None), "{to:?}");
        assert!(!error.message().is_empty() && !error.message().contains('\n'), "{to:?}");
    }
}

#[test]
fn unknown_keys_and_names() {
    refused(&[
        (
            "load = 0.6",
            "laod = 0.6",
            "17: workload.laod: this key is not known here\nhelp: did you mean `load`?",
        ),
        (
            "[measure]",
            "[mesure]",
            "18: mesure: this key is not known here\nhelp: did you mean `measure`?",
        ),
        (
            "link_delay",
            "link_dealy",
            "7: fabric.link_dealy: this key is not known here\nhelp: did you mean `link_delay`?",
        ),
        (
            "hosts_per_tor",
            "hosts_per_leaf",
            "5: fabric.hosts_per_leaf: this key is not known here\nhelp: did you mean `hosts_per_tor`?",
        ),
        (
            "probe_period",
            "zzz",
            "13: scheme.zzz: this key is not known here\nhelp: known here: `flowlet_gap`, `flowlet_slots`, \
             `probe_period`, `fail_after`, `tau`, `util_bits`, `update`, `local_detection`",
        ),
        ("\"hula\"", "\"ecmp\"", "13: scheme.probe_period: this key is not known here"),
        (
            "\"hula\"",
            "\"hulla\"",
            "12: scheme.kind: \"hulla\" is not one of \"ecmp\", \"conga-prime\", \"conga\", \"letitflow\", \
             \"drill\", \"spray\", \"hula\", \"mp-hula\", \"cflb\" or \"ideal\"\nhelp: did you mean `hula`?",
        ),
        (
            "\"newreno\"",
            "\"bbr\"",
            "10: transport.control: \"bbr\" is not one of \"newreno\", \"cubic\" or \"dctcp\"\n\
             help: known here: `newreno`, `cubic`, `dctcp`",
        ),
        (
            "kind = \"tcp\"\n",
            "",
            "8: transport.kind: `kind` is missing\nhelp: one of \"tcp\" or \"mptcp\"",
        ),
        (
            "\"websearch\"",
            "\"webserach\"",
            "16: workload.sizes: no distribution is called \"webserach\"\nhelp: did you mean `websearch`?",
        ),
        ("load = 0.6\n", "", "14: workload.load: this key is missing"),
    ]);
}

#[test]
fn missing_units_and_wrong_types() {
    refused(&[
        (
            "\"1us\"",
            "1",
            "7: fabric.link_delay: a time in quotes with its unit, as in \"100us\" is expected, not 1",
        ),
        (
            "\"1us\"",
            "\"1\"",
            "7: fabric.link_delay: a time needs a unit (d, h, m, s, ms, us, ns, ps), as in \"100us\"",
        ),
        (
            "\"10Gbps\"",
            "\"10GB\"",
            "6: fabric.host_rate: a rate needs a unit (Tbps, Gbps, Mbps, Kbps, bps), as in \"40Gbps\"",
        ),
        ("load = 0.6", "load = \"high\"", "17: workload.load: a number is expected, not \"high\""),
        (
            "hosts_per_tor = 8",
            "hosts_per_tor = -8",
            "5: fabric.hosts_per_tor: a whole number from 0 to 4294967295 is expected, not -8",
        ),
        ("[1, 2]", "[1, 1.5]", "2: seeds.1: a whole number from 0 up is expected, not 1.5"),
        (
            "[1, 2]",
            "[99999999999999999999]",
            "2: seeds.0: a whole number from 0 up is expected, not \"99999999999999999999\"",
        ),
        ("[1, 2]", "1", "2: seeds: a list is expected, not 1"),
    ]);
    let not_a_table = Source::new("s.toml", "fabric = 1");
    let error = load(&not_a_table, &files).unwrap_err();
    assert_eq!(error.to_string(), "s.toml:1: fabric: a table is expected");
}

#[test]
fn rates_and_sizes_that_cannot_be() {
    refused(&[
        (
            "\"10Gbps\"",
            "\"0bps\"",
            "6: fabric.host_rate: 0bps is not a link's rate\nhelp: rates from 10Kbps to 100Tbps can be simulated",
        ),
        (
            "\"10Gbps\"",
            "\"1000Tbps\"",
            "6: fabric.host_rate: 1000Tbps is not a link's rate\nhelp: rates from 10Kbps to 100Tbps can be simulated",
        ),
        (
            "\"1us\"",
            "\"1000s\"",
            "7: fabric.link_delay: 1000s is not a link's delay\nhelp: delays up to 1s can be simulated",
        ),
        ("hosts_per_tor = 8", "hosts_per_tor = 0", "5: fabric.hosts_per_tor: must be at least 1"),
        (
            "hosts_per_tor = 8",
            "hosts_per_tor = 20000",
            "3: fabric: 80000 hosts are too many\nhelp: at most 65535",
        ),
        (
            "kind = \"two-pod\"\nhosts_per_tor = 8\nhost_rate",
            "kind = \"leaf-spine\"\nleaves = 70000\nhosts_per_leaf = 1\nhost_rate",
            "3: fabric: 70000 hosts are too many\nhelp: at most 65535",
        ),
        (
            "kind = \"two-pod\"\nhosts_per_tor = 8\nhost_rate",
            "kind = \"leaf-spine\"\nspines = 4000000000\nhost_rate",
            "3: fabric: 4000000000 switches above the ToRs are too many\nhelp: at most 65535",
        ),
        (
            "kind = \"two-pod\"\nhosts_per_tor = 8\nhost_rate",
            "kind = \"fat-tree\"\nk = 5\nhost_rate",
            "5: fabric.k: 5 is not a fat-tree's number of ports\nhelp: an even number from 2 to 510",
        ),
        (
            "hosts_per_tor = 8",
            "port_buffer = \"1KB\"",
            "5: fabric.port_buffer: 1KB does not hold one full packet of 1518B\nhelp: a larger buffer, or a smaller `transport.mss`",
        ),
        (
            "hosts_per_tor = 8",
            "mark_above = \"400KB\"",
            "5: fabric.mark_above: 400KB is never reached: the buffer holds 375KB\nhelp: a larger buffer, or a smaller `mark_above`",
        ),
        (
            "\"newreno\"",
            "\"newreno\"\nmss = 65535",
            "11: transport.mss: 65535 is not a segment's payload\nhelp: from 28 to 8960 bytes; 1460 fills an MTU of 1500",
        ),
        (
            "\"newreno\"",
            "\"newreno\"\nmss = 1",
            "11: transport.mss: 1 is not a segment's payload\nhelp: from 28 to 8960 bytes; 1460 fills an MTU of 1500",
        ),
        (
            "\"newreno\"",
            "\"newreno\"\ninitial_window = 0",
            "11: transport.initial_window: must be at least 1",
        ),
        (
            "\"newreno\"",
            "\"newreno\"\nmin_rto = \"0s\"",
            "11: transport.min_rto: must be longer than 0s",
        ),
        (
            "\"newreno\"",
            "\"newreno\"\nmin_rto = \"90s\"",
            "11: transport.min_rto: 90s is more than `max_rto`, 60s",
        ),
        (
            "\"newreno\"",
            "\"newreno\"\nreceive_window = \"1KB\"",
            "11: transport.receive_window: 1KB is not a window\nhelp: from 14600B (the initial window) to 1073741824B (RFC 7323)",
        ),
        (
            "kind = \"two-pod\"\nhosts_per_tor = 8\nhost_rate",
            "kind = \"leaf-spine\"\nleaves = 1\nhosts_per_leaf = 65535\nspines = 1\nhost_rate",
            "3: fabric: 65537 ports of leaf-1 are too many\nhelp: at most 65535",
        ),
    ]);
}

#[test]
fn fabrics_that_cannot_be_routed() {
    let shape = "kind = \"two-pod\"\nhosts_per_tor = 8\nhost_rate = \"10Gbps\"";
    refused(&[
        (
            "hosts_per_tor = 8",
            "failed = [\"core-1\", \"core-2\"]",
            "3: fabric: no path leads from tor-1 up and then down to tor-3\nhelp: leave links up that join all ToRs",
        ),
        (
            "hosts_per_tor = 8",
            "failed = [\"host-3 tor-1\"]",
            "3: fabric: host-3 has no link that is up",
        ),
        (
            "hosts_per_tor = 8",
            "failed = [\"core-3\"]",
            "5: fabric.failed.0: no node is called \"core-3\"\nhelp: did you mean `core-2`?",
        ),
        (
            "hosts_per_tor = 8",
            "failed = [\n\"core-2 agg-4\",\n\"tor-1 agg-4\"]",
            "7: fabric.failed.1: no link joins tor-1 and agg-4",
        ),
        (
            "hosts_per_tor = 8",
            "failed = [\"a b c d\"]",
            "5: fabric.failed.0: \"a b c d\" is neither a link nor a switch\nhelp: write a link as in \"core-2 agg-4\", a switch as in \"core-2\"",
        ),
        (
            "hosts_per_tor = 8",
            "failed = [\"core-2 agg-4 #1\"]",
            "5: fabric.failed.0: parallel links fail together from the start\nhelp: fail one of them by an [[event]] at \"0s\", with `convergence = \"0s\"`",
        ),
        (
            "hosts_per_tor = 8",
            "link = [{ between = \"core-2 agg-4\" }]",
            "5: fabric.link.0: nothing is changed\nhelp: give a `rate` or a `delay`",
        ),
        (
            "hosts_per_tor = 8",
            "link = [{ between = \"core-2 agg-4 #2\", rate = \"1Gbps\" }]",
            "5: fabric.link.0.between: there is no link #2 here\nhelp: the links between core-2 and agg-4 are #1 to #1",
        ),
        (
            shape,
            "kind = \"file\"\npath = \"ring.toml\"",
            "3: fabric: the link between a and b joins two nodes of tier 1\nhelp: packets go up and then down: give the nodes a `tier` so that each link joins a lower and a higher one, or write `routing = \"shortest\"` at the top of its file",
        ),
        (
            shape,
            "kind = \"file\"\npath = \"island.toml\"",
            "3: fabric: no path leads from a up and then down to b\nhelp: leave links up that join all ToRs",
        ),
        (
            shape,
            "kind = \"file\"\npath = \"nowhere.toml\"",
            "5: fabric.path: cannot read nowhere.toml: not found",
        ),
    ]);
    let twins = spoiled(shape, "kind = \"file\"\npath = \"twins.toml\"");
    assert_eq!(twins.to_string(), "twins.toml:4: node.1.name: two nodes are called \"a\"");
}

#[test]
fn schemes_that_do_not_fit() {
    let scheme = "kind = \"hula\"\nprobe_period = \"200us\"";
    let leaf_spine =
        "kind = \"leaf-spine\"\n[transport]\nkind = \"tcp\"\n[scheme]\nkind = \"conga-prime\"";
    let middle = "kind = \"two-pod\"\nhosts_per_tor = 8\nhost_rate = \"10Gbps\"\nlink_delay = \"1us\"\n[transport]\n\
        kind = \"tcp\"\ncontrol = \"newreno\"\n[scheme]\nkind = \"hula\"\nprobe_period = \"200us\"";
    refused(&[
        (
            scheme,
            "kind = \"conga\"",
            "12: scheme.kind: conga is made for two tiers of switches; this fabric has 3\nhelp: \"conga-prime\" is CONGA inside pods and ECMP for each flowlet across them",
        ),
        (
            middle,
            leaf_spine,
            "8: scheme.kind: conga-prime needs to know the pod of each ToR; this fabric has no pods\nhelp: on two tiers of switches use \"conga\"",
        ),
        (
            scheme,
            "kind = \"conga-prime\"\nmetric_bits = 4",
            "13: scheme.metric_bits: 4 bits cannot be sent\nhelp: from 1 to 3",
        ),
        (
            scheme,
            "kind = \"drill\"\nsamples = 0",
            "13: scheme.samples: must be at least 1\nhelp: DRILL(2, 1) is `samples = 2`, `memory = 1`",
        ),
        (
            scheme,
            "kind = \"letitflow\"\nflowlet_slots = 0",
            "13: scheme.flowlet_slots: a flowlet table cannot have 0 slots\nhelp: from 1 to 16777216",
        ),
        (
            "probe_period = \"200us\"",
            "util_bits = 0",
            "13: scheme.util_bits: 0 bits cannot be sent\nhelp: from 1 to 16",
        ),
        (
            "probe_period = \"200us\"",
            "util_bits = 17",
            "13: scheme.util_bits: 17 bits cannot be sent\nhelp: from 1 to 16",
        ),
        (
            "probe_period = \"200us\"",
            "probe_period = \"0s\"",
            "13: scheme.probe_period: must be longer than 0s",
        ),
        (
            "probe_period = \"200us\"",
            "probe_period = \"10000000s\"",
            "13: scheme.probe_period: 10000000s is too long\nhelp: at most 86400s",
        ),
        (
            "probe_period = \"200us\"",
            "fail_after = \"100us\"",
            "13: scheme.fail_after: 100us is less than a probe period, 200us: every entry would be stale\nhelp: leave it out for 3 probe periods",
        ),
    ]);
}

#[test]
fn loads_that_nothing_can_carry() {
    refused(&[
        (
            "load = 0.6",
            "load = 1.7",
            "17: workload.load: 1.7 is more than any link can carry (a load of 1 is 160Gbps)\nhelp: above 0 and below 1",
        ),
        (
            "load = 0.6",
            "load = 1",
            "17: workload.load: 1 is more than any link can carry (a load of 1 is 160Gbps)\nhelp: above 0 and below 1",
        ),
        ("load = 0.6", "load = 0", "17: workload.load: 0 is not a load\nhelp: above 0 and below 1"),
        (
            "load = 0.6",
            "load = -0.5",
            "17: workload.load: -0.5 is not a load\nhelp: above 0 and below 1",
        ),
        (
            "load = 0.6",
            "load = nan",
            "17: workload.load: NaN is not a load\nhelp: above 0 and below 1",
        ),
        (
            "load = 0.6",
            "load = 0.6\ncapacity = \"0bps\"",
            "18: workload.capacity: must be above 0bps",
        ),
        (
            "hosts_per_tor = 8",
            "hosts_per_tor = 4",
            "17: workload.load: 0.6 is more than any link can carry (96Gbps over 8 senders is 12Gbps each; host-1 has 10Gbps)\nhelp: below 0.5, or a smaller `capacity`",
        ),
        (
            "hosts_per_tor = 8",
            "link = [{ between = \"host-20 tor-3\", rate = \"1Gbps\" }]",
            "17: workload.load: 0.6 is more than any link can carry (96Gbps over 16 receivers is 6Gbps each; host-20 has 1Gbps)\nhelp: below 0.1, or a smaller `capacity`",
        ),
        (
            "load = 0.6",
            "load = 0.6\npattern = \"incast\"",
            "14: workload.senders: this key is missing\nhelp: the incast pattern needs the number of hosts that answer",
        ),
        (
            "load = 0.6",
            "load = 0.6\npattern = \"incast\"\nsenders = 32",
            "19: workload.senders: 32 of 32 hosts cannot all send to another one\nhelp: from 1 to 31",
        ),
        (
            "load = 0.6",
            "load = 0.6\nsenders = 3",
            "18: workload.senders: only the incast pattern has senders\nhelp: pattern = \"incast\"",
        ),
        (
            "load = 0.6",
            "load = 0.6\nconnections = \"per-flow\"\nconnections_per_pair = 3",
            "19: workload.connections_per_pair: each flow has a connection of its own\nhelp: connections = \"persistent\"",
        ),
        (
            "load = 0.6",
            "load = 0.6\nconnections_per_pair = 0",
            "18: workload.connections_per_pair: 0 connections make no pool\nhelp: from 1 to 1000",
        ),
        (
            "\"websearch\"",
            "\"fixed:0B\"",
            "16: workload.sizes: a flow of no bytes never ends\nhelp: at least 1B",
        ),
        (
            "\"websearch\"",
            "\"fixed:10\"",
            "16: workload.sizes: a size needs a unit (GB, MB, KB, B, GiB, MiB, KiB), as in \"1.5MB\"",
        ),
        (
            "\"websearch\"",
            "{ file = \"none.csv\" }",
            "16: workload.sizes.file: cannot read none.csv: not found",
        ),
        (
            "\"websearch\"",
            "7",
            "16: workload.sizes: a name such as \"websearch\", a size such as \"fixed:100KB\" or { file = \"sizes.csv\" } is expected",
        ),
        (
            "load = 0.6",
            "load = 1e-12",
            "17: workload.load: 0.000000000001 of 160Gbps is a flow every 83291540 s\nhelp: a larger load, or a larger `capacity`",
        ),
    ]);
    let falling = spoiled("\"websearch\"", "{ file = \"falling.csv\" }");
    assert_eq!((falling.file(), falling.line()), ("falling.csv", Some(3)));
    assert_eq!(falling.message(), "sizes and probabilities must rise from line to line");
}

#[test]
fn long_flows_and_replays() {
    let flows = "kind = \"flows\"\nsizes = \"websearch\"\nload = 0.6\n[measure]\nwarm_up = \"20ms\"\nflows = 100";
    let long = |pairs: &str, measure: &str| {
        format!("kind = \"long\"\npairs = {pairs}\n[measure]\n{measure}")
    };
    let replay =
        |measure: &str| format!("kind = \"replay\"\nfile = \"flows.csv\"\n[measure]\n{measure}");
    for (to, expected) in [
        (
            long("[]", "duration = \"1s\""),
            "16: workload.pairs: there are no pairs\nhelp: leave `pairs` out for a permutation of all hosts",
        ),
        (
            long("[\"host-1 tor-1\"]", "duration = \"1s\""),
            "16: workload.pairs.0: tor-1 is a switch, not a host",
        ),
        (
            long("[\"host-1 host-1\"]", "duration = \"1s\""),
            "16: workload.pairs.0: host-1 cannot send to itself",
        ),
        (
            long("[\"host-1\"]", "duration = \"1s\""),
            "16: workload.pairs.0: \"host-1\" is not a pair of hosts\nhelp: write sender and receiver as in \"host-1 host-9\"",
        ),
        (
            long("[\"host-1 host-2\"]", "flows = 3"),
            "18: measure.flows: flows without end do not finish\nhelp: give a `duration`",
        ),
        (replay("flows = 2"), "18: measure.flows: flows of the replay after the warm-up: 1"),
        (
            replay("warm_up = \"1s\""),
            "18: measure.warm_up: flows of the replay after the warm-up: 0",
        ),
    ] {
        refused(&[(flows, &to, expected)]);
    }
}

#[test]
fn times_and_seeds() {
    refused(&[
        ("[1, 2]", "[]", "2: seeds: at least one seed is needed\nhelp: seeds = [1, 2, 3]"),
        (
            "[1, 2]",
            "[1,\n1]",
            "3: seeds.1: seed 1 is given twice\nhelp: a seed gives the same run each time",
        ),
        ("flows = 100", "flows = 0", "20: measure.flows: must be at least 1"),
        (
            "flows = 100\n",
            "",
            "18: measure: nothing says how long to measure\nhelp: give `flows`, as in `flows = 20000`, or `duration`, as in `duration = \"100ms\"`",
        ),
        (
            "flows = 100",
            "flows = 100\nduration = \"1s\"",
            "21: measure.duration: a run ends by `flows` or by `duration`, not by both",
        ),
        (
            "flows = 100",
            "flows = 100\ntime_limit = \"21ms\"",
            "21: measure.time_limit: 21ms is over before measuring starts, at 21ms\nhelp: a longer `time_limit`, or shorter warm-ups",
        ),
        (
            "flows = 100",
            "duration = \"1s\"\ntime_limit = \"1s\"",
            "21: measure.time_limit: 1s is over before measuring ends, at 1.021s\nhelp: a longer `time_limit`, or a shorter `duration`",
        ),
        (
            "flows = 100",
            "flows = 100\nsample_every = \"0s\"",
            "21: measure.sample_every: must be longer than 0s",
        ),
    ]);
}

#[test]
fn events() {
    refused(&[
        (
            "at = \"40ms\"",
            "at = \"20ms\"",
            "25: event.1.at: 20ms is earlier than the event before, at 30ms\nhelp: list events in order of time",
        ),
        (
            "at = \"40ms\"",
            "at = \"100s\"",
            "25: event.1.at: 100s is not before `measure.time_limit`, 100s",
        ),
        (
            "fail = [\"core-2 agg-3\"]",
            "fail = [\"core-2 agg-9\"]",
            "23: event.0.fail.0: no node is called \"agg-9\"\nhelp: did you mean `agg-4`?",
        ),
        (
            "fail = [\"core-2 agg-3\"]",
            "fail = [\"core-2 tor-1\"]",
            "23: event.0.fail.0: no link joins core-2 and tor-1",
        ),
        (
            "recover = [\"core-2 agg-3\"]",
            "recover = [\"core-1 agg-3\"]",
            "26: event.1.recover.0: core-1 agg-3 is not down",
        ),
        (
            "recover = [\"core-2 agg-3\"]",
            "fail = [\"agg-3 core-2\"]",
            "26: event.1.fail.0: agg-3 core-2 is down already",
        ),
        (
            "recover = [\"core-2 agg-3\"]",
            "",
            "24: event.1: an event either fails or recovers something\nhelp: give one of `fail` and `recover`, as in `fail = [\"core-2 agg-4\"]`",
        ),
    ]);
}

#[test]
fn overrides() {
    let set = |key: &str, value: &str| {
        load(&Source::new("s.toml", BASE).with(key, value), &files)
            .map_err(|error| error.to_string())
    };
    let is_refused =
        |key, value, expected: &str| assert_eq!(set(key, value).unwrap_err(), expected);
    assert!(set("workload.load", "0.5").is_ok());
    assert!(set("workload.sizes", "fixed:1MB").is_ok());
    assert!(set("event.1.at", "50ms").is_ok());
    assert!(set("seeds", "[7]").is_ok_and(|scenario| scenario.seeds == [7]));
    is_refused(
        "workload.load",
        "1.7",
        "s.toml: workload.load (from --set): 1.7 is more than any link can carry (a load of 1 is 160Gbps)\nhelp: above 0 and below 1",
    );
    is_refused(
        "workload.laod",
        "0.7",
        "s.toml: workload.laod (from --set): this key is not known here\nhelp: did you mean `load`?",
    );
    is_refused("event.7.at", "1s", "s.toml: event.7.at (from --set): there is no `7` here to set");
    is_refused("title.x", "1", "s.toml: title.x (from --set): there is no `x` here to set");
    is_refused(
        "workload.",
        "1",
        "s.toml: workload. (from --set): this is not a key\nhelp: write it as in `table.key`",
    );
}

#[test]
fn parts_of_an_error_can_be_had_one_by_one() {
    let error = spoiled("load = 0.6", "load = 1.7");
    assert_eq!((error.file(), error.line(), error.key()), ("s.toml", Some(17), "workload.load"));
    assert!(error.message().starts_with("1.7 is more"));
    assert_eq!(error.help(), Some("above 0 and below 1"));
    assert_eq!(error.override_source(), None);
}
