//! Keys, types, units and sizes.

use heddle_scenario::{Source, load};

use crate::bad_inputs::{BASE, files, refused, spoiled};

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
        (
            "\"hula\"",
            "\"ecmp\"",
            "13: scheme.probe_period: this key is not known here\nhelp: leave it out: there are no keys here",
        ),
        (
            "\"hula\"",
            "\"hulla\"",
            "12: scheme.kind: \"hulla\" is not one of \"ecmp\", \"ecmp-ns2\", \"conga-prime\", \"conga\", \"letitflow\", \
             \"drill\", \"flowcut\", \"spray\", \"hula\", \"mp-hula\", \"shuttle\", \"cflb\", \"external\" or \"ideal\"\nhelp: did you mean `hula`?",
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
            "8: transport.kind: `kind` is missing\nhelp: one of \"tcp\", \"mptcp\" or \"uet\"",
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
            "6: fabric.host_rate: a rate needs a unit (Tbps, Gbps, Mbps, Kbps, bps), as in \"40Gbps\"\n\
             help: did you mean `Gbps`?",
        ),
        (
            "\"1us\"",
            "\"1\u{b5}s\"",
            "7: fabric.link_delay: a time needs a unit (d, h, m, s, ms, us, ns, ps), as in \"100us\"\n\
             help: did you mean `us`?",
        ),
        (
            "\"1us\"",
            "\"-1us\"",
            "7: fabric.link_delay: a time is not negative and has no sign, as in \"100us\"",
        ),
        (
            "20ms",
            "1,5ms",
            "19: measure.warm_up: a time has a decimal point and no comma, as in \"100us\"",
        ),
        (
            "\"websearch\"",
            "\"sizes.csv\"",
            "16: workload.sizes: no distribution is called \"sizes.csv\"\nhelp: a file is named as in { file = \"sizes.csv\" }",
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
        ("[1, 2]", "1", "2: seeds: a list is expected, not 1\nhelp: in brackets: [1]"),
        (
            "load = 0.6",
            "load = \"60%\"",
            "17: workload.load: a number is expected, not \"60%\"\nhelp: as a fraction: 0.6",
        ),
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
            "\"newreno\"\noutput_limit = \"0B\"",
            "11: transport.output_limit: no data would be sent\n\
             help: at least 1B, which is a segment at a time; leave it out for no limit",
        ),
        (
            "\"newreno\"",
            "\"newreno\"\npacing = 200",
            "11: transport.pacing: true, false or { slow_start_ratio = 200, avoidance_ratio = 120 } is expected",
        ),
        (
            "\"newreno\"",
            "\"newreno\"\npacing = { slow_start_ratio = 0 }",
            "11: transport.pacing.slow_start_ratio: 0 percent is not a pacing ratio\n\
             help: from 1 to 1000; Linux has 200 in slow start, 120 after it",
        ),
        (
            "\"newreno\"",
            "\"newreno\"\npacing = { avoidance_ratio = 1001 }",
            "11: transport.pacing.avoidance_ratio: 1001 percent is not a pacing ratio\n\
             help: from 1 to 1000; Linux has 200 in slow start, 120 after it",
        ),
        (
            "\"newreno\"",
            "\"newreno\"\ninitial_ssthresh = 1",
            "11: transport.initial_ssthresh: 1 segments are too few\nhelp: at least 2 (RFC 5681 section 3.1)",
        ),
        (
            "\"newreno\"",
            "\"newreno\"\nrecovery = \"newreno\"\nloss_detection = \"rack\"",
            "12: transport.loss_detection: RACK needs selective acknowledgements\nhelp: `recovery = \"sack\"`",
        ),
        (
            "\"newreno\"",
            "\"newreno\"\nreordering_window = \"srtt\"",
            "11: transport.reordering_window: duplicate acknowledgements have none\n\
             help: `loss_detection = \"rack\"`; or `dup_threshold`",
        ),
        (
            "\"newreno\"",
            "\"newreno\"\nloss_detection = \"rack\"\nreordering_window = \"half\"",
            "12: transport.reordering_window: \"adaptive\", \"srtt\" or a time (\"50us\") is expected",
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
    is_refused(
        "event.7.at",
        "1s",
        "s.toml: event.7.at (from --set): there is no `7` here to set\nhelp: the list's items have numbers from 0 to 1",
    );
    is_refused(
        "title.x",
        "1",
        "s.toml: title.x (from --set): there is no `x` here to set\nhelp: the value has no keys: replace the whole of it",
    );
    is_refused(
        "workload.",
        "1",
        "s.toml: workload. (from --set): this is not a key\nhelp: write it as in `table.key`",
    );
}

#[test]
fn ultra_ethernets_transport() {
    let tcp = "kind = \"tcp\"\ncontrol = \"newreno\"";
    refused(&[
        (
            tcp,
            "kind = \"uet\"",
            "8: transport.control: NSCC needs ports that mark\nhelp: a ramp at 10Gbps: `fabric.red = { min = \"5KB\", \
             max = \"22KB\", probability = 1.0, weight = 1.0 }`; or `control = \"rccc\"` or `\"fixed\"`",
        ),
        (
            tcp,
            "kind = \"uet\"\ndup_threshold = 3",
            "10: transport.dup_threshold: this key is not known here\nhelp: known here: `mss`, `control`, `base_rtt`, \
             `target_delay`, `window`, `rto`, `packets_per_ack`, `probes`",
        ),
        (
            tcp,
            "kind = \"uet\"\npackets_per_ack = 0",
            "10: transport.packets_per_ack: must be at least 1",
        ),
        (
            tcp,
            "kind = \"uet\"\nwindow = \"1KB\"",
            "10: transport.window: 1KB does not hold one full packet\nhelp: at least 4154B",
        ),
        (tcp, "kind = \"uet\"\nrto = \"0s\"", "10: transport.rto: must be longer than 0s"),
        (
            tcp,
            "kind = \"uet\"\nmss = 9000",
            "10: transport.mss: 9000 is not a segment's payload\nhelp: from 28 to 8960 bytes; 1460 fills an MTU of 1500",
        ),
    ]);
}

#[test]
fn probes_where_switches_trim() {
    let uet = "kind = \"uet\"\ncontrol = \"rccc\"\nprobes = true";
    let text = BASE.replace("kind = \"tcp\"\ncontrol = \"newreno\"", uet);
    let trims = [("fabric.control_first", "true"), ("fabric.trim_above", "100KB")];
    let source = Source::new("s.toml", &text);
    let source = trims.iter().fold(source, |source, (key, value)| source.with(*key, *value));
    let error = load(&source, &files).unwrap_err().to_string();
    let expected = "transport.probes: switches that trim tell of losses at once\nhelp: leave it out, or `fabric.trim_above`";
    assert!(error.ends_with(expected), "{error}");
}

/// Hosts choose paths by what ECMP hashes and ports mark.
#[test]
fn entropy_values_that_nothing_would_hash_or_mark() {
    let ecmp = "kind = \"ecmp\"\n[entropy]\n";
    let hula = "kind = \"hula\"\nprobe_period = \"200us\"";
    for (entropy, expected) in [
        (
            "kind = \"reps\"",
            "14: entropy.kind: \"reps\" needs ports that mark\nhelp: `fabric.mark_above`, as in \
             `mark_above = \"97.5KB\"`, or `transport.control = \"dctcp\"`",
        ),
        (
            "kind = \"plb\"\nrehash_rounds = 0",
            "15: entropy.rehash_rounds: 0 round trips cannot be counted\nhelp: from 1 to 31",
        ),
        (
            "kind = \"flowbender\"\nthreshold = 0.0",
            "15: entropy.threshold: 0 is no share of the acknowledgements\nhelp: above 0, at most 1",
        ),
    ] {
        let error = spoiled(hula, &format!("{ecmp}{entropy}")).to_string();
        assert_eq!(error, format!("s.toml:{expected}"), "{entropy}");
    }
    let error = spoiled(hula, &format!("{hula}\n[entropy]\nkind = \"spray\"")).to_string();
    assert_eq!(
        error,
        "s.toml:15: entropy.kind: hosts choose paths by \"spray\", and switches by \"hula\"\n\
         help: `scheme = \"ecmp\"`, or `entropy = \"flow\"`"
    );
}
