//! VL2, BCube and graphs with shortest paths: what is refused, where, and what is advised.

use std::io;

use heddle_scenario::{GroupDraw, NonMinimal, PathChoice, Scenario, ScenarioError, Source, load};

/// Three switches in a ring, each with a host; one tier, so only shortest paths serve.
const RING: &str = r#"
node = [{ name = "h1" }, { name = "h2" }, { name = "h3" }, { name = "a" }, { name = "b" }, { name = "c" }]
link = [
    { between = "h1 a", rate = "1Gbps" }, { between = "h2 b", rate = "1Gbps" }, { between = "h3 c", rate = "1Gbps" },
    { between = "a b", rate = "1Gbps" }, { between = "b c", rate = "1Gbps" }, { between = "c a", rate = "1Gbps" },
]"#;

/// A scenario whose `[fabric]` has these keys from line 2 on, by this scheme.
fn scenario(scheme: &str, fabric: &str) -> Result<Scenario, ScenarioError> {
    let text = format!(
        "[fabric]\n{fabric}\n[scheme]\nkind = \"{scheme}\"\n[workload]\nkind = \"long\"\n[measure]\nduration = \"1s\"\n"
    );
    let files = |path: &str| match path {
        "ring.toml" => Ok(format!("routing = \"shortest\"{RING}")),
        "spiral.toml" => Ok(format!("routing = \"spiral\"{RING}")),
        _ => Err(io::Error::other(path.to_owned())),
    };
    load(&Source::new("s.toml", text), &files)
}

fn refused(cases: &[(&str, &str)]) {
    for (fabric, expected) in cases {
        let error = scenario("ecmp", fabric).expect_err(fabric).to_string();
        assert_eq!(error, *expected, "{fabric:?}");
    }
}

#[test]
fn vl2s_that_cannot_be() {
    refused(&[
        (
            "kind = \"vl2\"\nintermediate_ports = 4",
            "s.toml:1: fabric.aggregation_ports: this key is missing",
        ),
        (
            "kind = \"vl2\"\naggregation_ports = 5\nintermediate_ports = 4",
            "s.toml:3: fabric.aggregation_ports: 5 ports cannot be halved\nhelp: an even number from 2 up",
        ),
        (
            "kind = \"vl2\"\naggregation_ports = 4\nintermediate_ports = 0",
            "s.toml:4: fabric.intermediate_ports: 0 ports cannot be halved\nhelp: an even number from 2 up",
        ),
        (
            "kind = \"vl2\"\naggregation_ports = 4\nintermediate_ports = 4\nhosts_per_tor = 0",
            "s.toml:5: fabric.hosts_per_tor: must be at least 1",
        ),
        (
            "kind = \"vl2\"\naggregation_ports = 144\nintermediate_ports = 144",
            "s.toml:1: fabric: 103680 hosts are too many\nhelp: at most 65535",
        ),
        (
            "kind = \"vl2\"\naggregation_ports = 4294967294\nintermediate_ports = 4294967294\nhosts_per_tor = 4294967295",
            "s.toml:1: fabric: 18446744073709551615 hosts are too many\nhelp: at most 65535",
        ),
        (
            "kind = \"vl2\"\naggregation_ports = 4\nintermediate_ports = 4\nswitch_rate = \"1bps\"",
            "s.toml:5: fabric.switch_rate: 1bps is not a link's rate\nhelp: rates from 10Kbps to 100Tbps can be simulated",
        ),
        (
            "kind = \"vl2\"\naggregation_ports = 4\nintermediate_ports = 4\nswitch_rat = \"1Gbps\"",
            "s.toml:5: fabric.switch_rat: this key is not known here\nhelp: did you mean `switch_rate`?",
        ),
    ]);
}

#[test]
fn bcubes_that_cannot_be() {
    refused(&[
        ("kind = \"bcube\"\nports = 4", "s.toml:1: fabric.levels: this key is missing"),
        (
            "kind = \"bcube\"\nports = 1\nlevels = 1",
            "s.toml:3: fabric.ports: a switch joins at least 2 servers",
        ),
        (
            "kind = \"bcube\"\nports = 8\nlevels = 5",
            "s.toml:1: fabric: 262144 hosts are too many\nhelp: at most 65535",
        ),
        (
            "kind = \"bcube\"\nports = 2\nlevels = 4294967295",
            "s.toml:1: fabric: 18446744073709551615 hosts are too many\nhelp: at most 65535",
        ),
        (
            "kind = \"bcube\"\nports = 4\nlevels = 1\nrate = \"60Tbps\"",
            "s.toml:5: fabric.rate: 120Tbps is not a link's rate\nhelp: rates from 10Kbps to 100Tbps can be simulated",
        ),
        (
            "kind = \"bcube\"\nports = 4\nlevels = 1\nfailed = [\"switch-0-1\", \"switch-1-1\"]",
            "s.toml:1: fabric: no path leads from relay-1 to relay-2\nhelp: leave links up that join all ToRs",
        ),
        (
            "kind = \"bcube\"\nports = 4\nlevels = 1\nfailed = [\"host-1 relay-1\"]",
            "s.toml:1: fabric: host-1 has no link that is up",
        ),
    ]);
}

#[test]
fn dragonflies_that_cannot_be() {
    refused(&[
        ("kind = \"dragonfly\"", "s.toml:1: fabric.routers: this key is missing"),
        ("kind = \"dragonfly\"\nrouters = 0", "s.toml:3: fabric.routers: must be at least 1"),
        (
            "kind = \"dragonfly\"\nrouters = 4\nglobal_links = 0",
            "s.toml:4: fabric.global_links: must be at least 1",
        ),
        (
            "kind = \"dragonfly\"\nrouters = 4\ngroups = 1",
            "s.toml:4: fabric.groups: 1 groups cannot be joined by 8 links of each\nhelp: from 2 to 9: a group has `routers` times `global_links`",
        ),
        (
            "kind = \"dragonfly\"\nrouters = 64",
            "s.toml:1: fabric: 4196352 hosts are too many\nhelp: at most 65535",
        ),
        (
            "kind = \"dragonfly\"\nrouters = 4\nglobal_delay = \"2s\"",
            "s.toml:4: fabric.global_delay: 2s is not a link's delay\nhelp: delays up to 1s can be simulated",
        ),
        (
            "kind = \"dragonfly\"\nrouters = 2\ngroups = 2\nfailed = [\"router-1\"]",
            "s.toml:1: fabric: host-1 has no link that is up",
        ),
    ]);
}

#[test]
fn a_scheme_that_needs_up_and_down_cannot_run_on_shortest_paths() {
    let bcube = ("kind = \"bcube\"\nports = 4\nlevels = 1", 6, "the shortest of all");
    let dragonfly = ("kind = \"dragonfly\"\nrouters = 4\ngroups = 3", 6, "minimal");
    for (fabric, line, paths) in [bcube, dragonfly] {
        for scheme in ["hula", "mp-hula", "shuttle", "conga", "conga-prime"] {
            let error = scenario(scheme, fabric).unwrap_err().to_string();
            let expected = format!(
                "s.toml:{line}: scheme.kind: {scheme} needs paths that go up and then down; this fabric's are {paths}\n\
                 help: \"ecmp\", \"cflb\", \"letitflow\", \"drill\", \"flowcut\" or \"spray\""
            );
            assert_eq!(error, expected);
        }
        for scheme in ["ecmp", "cflb", "letitflow", "drill", "flowcut", "spray", "ideal"] {
            scenario(scheme, fabric).unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

#[test]
fn routing_by_groups_that_cannot_be() {
    let dragonfly = "kind = \"dragonfly\"\nrouters = 4\ngroups = 3\n";
    for scheme in ["cflb", "flowcut"] {
        let error = scenario(scheme, &format!("{dragonfly}routing = \"ugal-l\"")).unwrap_err();
        let expected = format!(
            "s.toml:7: scheme.kind: {scheme} knows minimal paths only; this fabric's routing is ugal-l\n\
             help: \"ecmp\", \"letitflow\", \"drill\" or \"spray\", or `fabric.routing = \"minimal\"`"
        );
        assert_eq!(error.to_string(), expected);
    }
    for scheme in ["hula", "mp-hula", "shuttle", "conga", "conga-prime"] {
        let fabric = format!("{dragonfly}routing = \"valiant\"");
        let error = scenario(scheme, &fabric).unwrap_err().to_string();
        assert!(error.contains("needs paths that go up and then down"), "{error}");
    }
    refused(&[
        (
            "kind = \"bcube\"\nports = 4\nlevels = 1\nrouting = \"valiant\"",
            "s.toml:5: fabric.routing: packets of this fabric do not go from group to group\nhelp: leave it out, or take `kind = \"dragonfly\"` or a file with `routing = \"minimal\"`",
        ),
        (
            &format!("{dragonfly}intermediate = \"packet\""),
            "s.toml:5: fabric.intermediate: the default routing, \"minimal\", has no intermediate group\nhelp: `routing = \"valiant\"`, or leave it out",
        ),
        (
            &format!("{dragonfly}routing = \"valiant\"\nintermediate = \"pod\""),
            "s.toml:6: fabric.intermediate: \"pod\" is not one of \"flow\" or \"packet\"\nhelp: known here: `flow`, `packet`",
        ),
        (
            "kind = \"dragonfly\"\nrouters = 4\ngroups = 2\nrouting = \"ugal-l\"",
            "s.toml:5: fabric.routing: ugal-l needs a third group, between those of both ends\nhelp: `routing = \"minimal\"`, or more groups",
        ),
        (
            &format!("{dragonfly}routing = \"valient\""),
            "s.toml:5: fabric.routing: \"valient\" is not one of \"minimal\", \"valiant\", \"ugal-l\" or \"ugal-g\"\nhelp: did you mean `valiant`?",
        ),
    ]);
}

#[test]
fn schemes_without_tables_of_destinations_run_by_groups() {
    let resolved = |scheme: &str, keys: &str| {
        let fabric = format!("kind = \"dragonfly\"\nrouters = 4\ngroups = 3\n{keys}");
        scenario(scheme, &fabric).unwrap_or_else(|error| panic!("{error}")).fabric.non_minimal
    };
    assert_eq!(resolved("cflb", "routing = \"minimal\""), None);
    assert_eq!(resolved("ecmp", "routing = \"minimal\"\nintermediate = \"packet\""), None);
    let by_flow = NonMinimal { choice: PathChoice::Valiant, draw: GroupDraw::Flow };
    for scheme in ["ecmp", "ecmp-ns2", "letitflow", "drill", "spray", "ideal"] {
        assert_eq!(resolved(scheme, "routing = \"valiant\""), Some(by_flow));
    }
    let by_packet = NonMinimal { choice: PathChoice::UgalG, draw: GroupDraw::Packet };
    let keys = "routing = \"ugal-g\"\nintermediate = \"packet\"";
    assert_eq!(resolved("ecmp", keys), Some(by_packet));
}

#[test]
fn a_file_may_ask_for_shortest_paths() {
    let ring = scenario("ecmp", "kind = \"file\"\npath = \"ring.toml\"").unwrap();
    assert_eq!(ring.fabric.graph.links.len(), 6);
    refused(&[(
        "kind = \"file\"\npath = \"spiral.toml\"",
        "spiral.toml:1: routing: \"spiral\" is not one of \"up-down\", \"shortest\" or \"minimal\"\n\
         help: known here: `up-down`, `shortest`, `minimal`",
    )]);
}
