//! Workloads, times and seeds.

use crate::bad_inputs::{refused, spoiled};

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
            "load = 0.6",
            "load = 0.6\npattern = \"incast\"\nsenders = 3\nconnections = \"closed-loop\"",
            "20: workload.connections: the flows of an incast start at once\nhelp: connections = \"persistent\"",
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
            "16: workload.pairs.0: host-1 cannot send to itself\nhelp: two different hosts",
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
            "flows = 100\nwarm_up_limit = \"20ms\"",
            "21: measure.warm_up_limit: 20ms is no longer than `warm_up`, 20ms\nhelp: the longest warm-up, as in `warm_up_limit = \"1s\"`",
        ),
        (
            "flows = 100",
            "flows = 100\nwarm_up_limit = \"200s\"",
            "18: measure.time_limit: 100s is over before measuring starts, at 200.001s\nhelp: a longer `time_limit`, or shorter warm-ups",
        ),
        (
            "warm_up = \"20ms\"",
            "warm_up = \"99us\"\nwarm_up_limit = \"20ms\"",
            "20: measure.warm_up_limit: the test observes 100 times in `warm_up`, which is 99us\nhelp: a `warm_up` of at least 100us",
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
        (
            "flows = 100",
            "flows = 100\nsample = [\"switches\"]",
            "21: measure.sample: nothing says how often\nhelp: with a time between two samples, as in `sample_every = \"100us\"`",
        ),
        (
            "flows = 100",
            "flows = 100\nsample_every = \"1ms\"\nsample = []",
            "22: measure.sample: there are no links\nhelp: leave it out for the links between switches, or `sample_every` for no samples",
        ),
        (
            "flows = 100",
            "flows = 100\nsample_every = \"1ms\"\nsample = [\"hosts\", \"tor-1 core-1\"]",
            "22: measure.sample.1: no link joins tor-1 and core-1",
        ),
        (
            "flows = 100",
            "flows = 100\nsize_classes = []",
            "21: measure.size_classes: 0 bounds between classes\nhelp: from 1 to 8",
        ),
        (
            "flows = 100",
            "flows = 100\nsize_classes = [\"1MB\", \"1000KB\"]",
            "21: measure.size_classes.1: 1MB is not above what is before it\nhelp: rising bounds, as in [\"100KB\", \"10MB\"]",
        ),
        (
            "flows = 100",
            "flows = 100\nsize_classes = [\"0B\"]",
            "21: measure.size_classes.0: 0B is not above what is before it\nhelp: rising bounds, as in [\"100KB\", \"10MB\"]",
        ),
    ]);
}

#[test]
fn collectives() {
    let workload = "kind = \"flows\"\nsizes = \"websearch\"\nload = 0.6";
    let with =
        |rest: &str| format!("kind = \"collective\"\noperation = \"ring-all-reduce\"\n{rest}");
    let cases = [
        (
            "size = \"1MB\"\nhosts = [\"host-1\"]",
            "18: workload.hosts: a collective operation has at least 2 hosts",
        ),
        (
            "size = \"1MB\"\nhosts = [\"host-1\", \"host-2\", \"host-1\"]",
            "18: workload.hosts.2: host-1 is listed twice",
        ),
        (
            "size = \"1MB\"\nhosts = [\"host-1\", \"tor-1\"]",
            "18: workload.hosts.1: tor-1 is a switch, not a host",
        ),
        (
            "size = \"31B\"",
            "17: workload.size: 31B cannot be parted among 32 hosts\nhelp: at least a byte for each host",
        ),
    ];
    for (rest, expected) in cases {
        assert_eq!(spoiled(workload, &with(rest)).to_string(), format!("s.toml:{expected}"));
    }
}

#[test]
fn operations_of_collectives() {
    let workload = "kind = \"flows\"\nsizes = \"websearch\"\nload = 0.6";
    let five = "hosts = [\"host-1\", \"host-2\", \"host-3\", \"host-4\", \"host-5\"]";
    let five_in_groups = format!("group = 5\n{five}");
    let cases = [
        (
            "halving-doubling-all-reduce",
            five,
            "18: workload.hosts: halving and doubling need a power of two of hosts, not 5\n\
             help: 4 or 8 of them, or `operation = \"ring-all-reduce\"`, which takes any number",
        ),
        (
            "hierarchical-all-reduce",
            "",
            "14: workload.group: the number of hosts of a group is missing\n\
             help: 32 hosts have groups of 2, 4, 8, 16",
        ),
        (
            "hierarchical-all-reduce",
            "group = 32",
            "18: workload.group: 32 hosts are not two or more groups of 32\n\
             help: 32 hosts have groups of 2, 4, 8, 16",
        ),
        (
            "hierarchical-all-reduce",
            five_in_groups.as_str(),
            "18: workload.group: 5 hosts are not two or more groups of 5\n\
             help: `hosts` of a number that is no prime, or `operation = \"ring-all-reduce\"`",
        ),
        (
            "ring-all-reduce",
            "group = 4",
            "18: workload.group: belongs to `operation = \"hierarchical-all-reduce\"`\n\
             help: leave it out, or `operation = \"hierarchical-all-reduce\"`",
        ),
        (
            "all-to-all",
            "draw = 7",
            "18: workload.draw: belongs to `operation = \"expert-all-to-all\"`\n\
             help: leave it out, or `operation = \"expert-all-to-all\"`",
        ),
        (
            "expert-all-to-all",
            "experts = 33",
            "18: workload.experts: a token cannot have 33 of 32 experts\n\
             help: from 1 to 32: each host has one expert",
        ),
        (
            "expert-all-to-all",
            "token = \"0B\"",
            "18: workload.token: must be at least 1B\nhelp: as in `token = \"8192B\"`",
        ),
        (
            "expert-all-to-all",
            "token = \"1B\"\nexperts = 3",
            "18: workload.token: 1MB a host in tokens of 1B take 96000000 draws\n\
             help: larger tokens: at most 67108864 draws",
        ),
    ];
    for (operation, rest, expected) in cases {
        let table =
            format!("kind = \"collective\"\noperation = \"{operation}\"\nsize = \"1MB\"\n{rest}");
        assert_eq!(spoiled(workload, &table).to_string(), format!("s.toml:{expected}"));
    }
}

#[test]
fn requests() {
    let workload = "kind = \"flows\"\nsizes = \"websearch\"\nload = 0.6";
    let with = |rest: &str| format!("kind = \"requests\"\nsizes = \"websearch\"\n{rest}");
    let cases = [
        (
            "pattern = \"permutation\"",
            "17: workload.pattern: requests go from clients to servers\nhelp: \"cross-pod\", \"cross-pod-pairs\" or \"all-to-all\"",
        ),
        (
            "pattern = \"cross-pod-pairs\"\nfan_out = 2",
            "18: workload.fan_out: 2 servers for each request, of 1\nhelp: at most 1",
        ),
        (
            "connections = \"closed-loop\"",
            "17: workload.connections: requests are a closed loop by themselves\nhelp: connections = \"persistent\"",
        ),
    ];
    for (rest, expected) in cases {
        assert_eq!(spoiled(workload, &with(rest)).to_string(), format!("s.toml:{expected}"));
    }
}
