//! Fabric files: what they say, and what is refused.

use std::io;
use std::net::IpAddr;

use heddle_policy::cflb::{CflbConfig, Cipher, Field, PortRange, Rules};
use heddle_scenario::{CflbNetwork, FabricFile, ScenarioError, Source, load, load_fabric};

/// A fabric of two ToRs with two hosts each and seven spines, and `rest` from line 6 on.
fn fabric(rest: &str) -> Result<FabricFile, ScenarioError> {
    let text = format!(
        "[fabric]\nkind = \"leaf-spine\"\nspines = 7\nhosts_per_leaf = 2\nparallel_links = 1\n{rest}"
    );
    let no_files = |path: &str| Err(io::Error::other(path.to_owned()));
    load_fabric(&Source::new("f.toml", text), &no_files)
}

fn addresses(rest: &str) -> Vec<String> {
    let addresses = fabric(rest).unwrap_or_else(|error| panic!("{error}")).addresses;
    let text = |own: &Vec<IpAddr>| own.iter().map(IpAddr::to_string).collect::<Vec<_>>().join(" ");
    addresses.iter().map(text).collect()
}

fn refused(cases: &[(&str, &str)]) {
    for (rest, expected) in cases {
        let error = fabric(rest).expect_err(rest).to_string();
        assert_eq!(error, format!("f.toml:{expected}"), "{rest:?}");
    }
}

#[test]
fn a_fabric_alone_is_enough() {
    let file = fabric("").unwrap();
    let default = CflbNetwork {
        constants: CflbConfig {
            field: Field::Ports,
            cipher: Cipher::Rc5,
            radix: 7,
            rules: Rules::Even,
        },
        ttl: 64,
        ttls: (64, 95),
        reserved: vec![(0, 1023)],
        key_file: None,
        key_check: None,
    };
    assert_eq!(file.cflb, default);
    assert_eq!(file.fabric.graph.nodes.len(), 4 + 2 + 7);
    assert_eq!(addresses(""), ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"]);
}

#[test]
fn paths_of_a_fabric_file_are_minimal() {
    let text = |routing: &str| {
        format!(
            "[fabric]\nkind = \"dragonfly\"\nrouters = 4\ngroups = 3\nrouting = \"{routing}\"\n"
        )
    };
    let no_files = |path: &str| Err(io::Error::other(path.to_owned()));
    let load = |routing: &str| load_fabric(&Source::new("f.toml", text(routing)), &no_files);
    assert_eq!(load("minimal").unwrap().fabric.non_minimal, None);
    let expected = "f.toml:5: fabric.routing: paths of a fabric file are minimal\n\
                    help: leave it out; scenarios can have other routing";
    assert_eq!(load("valiant").unwrap_err().to_string(), expected);
}

#[test]
fn every_key_of_cflb_can_be_given() {
    let file = fabric(
        "failed = [\"spine-7\"]\n[cflb]\nfield = \"source-port\"\nsource_ports = \"32768-60999\"\nradix = 8\nttl = 32\n\
         ttls = \"32-40\"\nreserved = [\"40000-40010\", \"50000\"]\nkey_file = \"fabric.key\"\nkey_check = \"00C0FFEE\"\n",
    );
    let expected = CflbNetwork {
        constants: CflbConfig {
            field: Field::SourcePort(PortRange { low: 32768, high: 60999 }),
            cipher: Cipher::Feistel,
            radix: 8,
            rules: Rules::Even,
        },
        ttl: 32,
        ttls: (32, 40),
        reserved: vec![(40000, 40010), (50000, 50000)],
        key_file: Some("fabric.key".into()),
        key_check: Some("00c0ffee".into()),
    };
    let file = file.unwrap();
    assert_eq!(file.cflb, expected);
    assert_eq!(file.fabric.failed.len(), 2);
}

#[test]
fn hosts_have_addresses_by_number_or_their_own() {
    let both = "[addresses]\nipv4 = \"192.0.2.0/29\"\nipv6 = \"2001:db8::/64\"\n";
    assert_eq!(
        addresses(both),
        [
            "192.0.2.1 2001:db8::1",
            "192.0.2.2 2001:db8::2",
            "192.0.2.3 2001:db8::3",
            "192.0.2.4 2001:db8::4"
        ]
    );
    let hosts = "[addresses.hosts]\nhost-3 = [\"192.0.2.7\", \"2001:db8::7\"]\n";
    assert_eq!(addresses(hosts), ["10.0.0.1", "10.0.0.2", "192.0.2.7 2001:db8::7", "10.0.0.4"]);
}

#[test]
fn a_flow_label_names_paths_where_there_is_ipv6() {
    let file =
        fabric("[cflb]\nfield = \"flow-label\"\n[addresses]\nipv6 = \"fd00::/64\"\n").unwrap();
    assert_eq!(
        (file.cflb.constants.field, file.cflb.constants.cipher),
        (Field::FlowLabel, Cipher::Feistel)
    );
    refused(&[
        (
            "[cflb]\nfield = \"flow-label\"\n",
            " addresses: host-1 has no IPv6 address, so no flow label to name paths by\nhelp: ipv6 = \"fd00::/64\"",
        ),
        (
            "[cflb]\nfield = \"flow-label\"\nreserved = [\"22\"]\n[addresses]\nipv6 = \"fd00::/64\"\n",
            "8: cflb.reserved: the flow label names the path, ports do not\nhelp: leave it out",
        ),
    ]);
}

#[test]
fn networks_that_cannot_be() {
    refused(&[
        (
            "[cflb]\nradix = 6\n",
            "7: cflb.radix: a radix of 6 is below a router's next hops, 7\nhelp: 7 or more",
        ),
        (
            "[cflb]\nelephants = \"1B\"\n",
            "7: cflb.elephants: this key is not known here\nhelp: known here: `field`, `source_ports`, `cipher`, `radix`, \
             `rules`, `ttl`, `ttls`, `reserved`, `key_file`, `key_check`",
        ),
        (
            "[cflb]\nttl = 2\n",
            "7: cflb.ttl: a packet with a TTL of 2 does not cross the fabric\nhelp: 4 or more: a path can have 3 routers",
        ),
        (
            "[cflb]\nttls = \"0-255\"\n",
            "7: cflb.ttls: a packet with a TTL of 0 does not cross the fabric\nhelp: 4 or more: a path can have 3 routers",
        ),
        (
            "[cflb]\nttls = \"64-256\"\n",
            "7: cflb.ttls: \"64-256\" is not a range of TTLs\nhelp: lowest and highest, as in \"64-95\"",
        ),
        (
            "[cflb]\nreserved = [\n\"22\",\n\"low\"]\n",
            "9: cflb.reserved.1: \"low\" is not a range of ports\nhelp: lowest and highest, as in \"1024-65535\"",
        ),
        (
            "[cflb]\nfield = \"source-port\"\nsource_ports = \"2000-3000\"\nreserved = [\"0-2500\", \"2400-9999\"]\n",
            "9: cflb.reserved: no port is left to name paths by\nhelp: reserve fewer ports",
        ),
        (
            "[cflb]\nkey_check = \"xyz\"\n",
            "7: cflb.key_check: \"xyz\" is not a check value\nhelp: 8 hexadecimal digits",
        ),
    ]);
}

#[test]
fn addresses_that_cannot_be() {
    refused(&[
        (
            "[addresses]\nipv4 = \"10.0.0.1\"\n",
            "7: addresses.ipv4: \"10.0.0.1\" is not a prefix\nhelp: as in \"10.0.0.0/8\"",
        ),
        (
            "[addresses]\nipv4 = \"fd00::/64\"\n",
            "7: addresses.ipv4: \"fd00::/64\" is not a prefix\nhelp: as in \"10.0.0.0/8\"",
        ),
        (
            "[addresses]\nipv6 = \"10.0.0.0/8\"\n",
            "7: addresses.ipv6: \"10.0.0.0/8\" is not a prefix\nhelp: as in \"fd00::/64\"",
        ),
        (
            "[addresses]\nipv4 = \"10.1.2.3/8\"\n",
            "7: addresses.ipv4: \"10.1.2.3/8\" has bits set beyond its length\nhelp: \"10.0.0.0/8\"",
        ),
        (
            "[addresses]\nipv4 = \"192.0.2.0/30\"\n",
            "7: addresses.ipv4: 192.0.2.0/30 has 2 addresses for 4 hosts\nhelp: a shorter prefix",
        ),
        (
            "[addresses]\nipv6 = \"fd00::/126\"\n",
            "7: addresses.ipv6: fd00::/126 has 3 addresses for 4 hosts\nhelp: a shorter prefix",
        ),
        (
            "[addresses.hosts]\nhost-5 = [\"192.0.2.7\"]\n",
            "7: addresses.hosts.host-5: no node is called \"host-5\"\nhelp: did you mean `host-4`?",
        ),
        (
            "[addresses.hosts]\nleaf-1 = [\"192.0.2.7\"]\n",
            "7: addresses.hosts.leaf-1: leaf-1 is a switch, not a host",
        ),
        (
            "[addresses.hosts]\nhost-1 = []\n",
            "7: addresses.hosts.host-1: there are no addresses\nhelp: leave the host out for an address by its number",
        ),
        (
            "[addresses.hosts]\nhost-1 = [\"10.0.0.300\"]\n",
            "7: addresses.hosts.host-1.0: \"10.0.0.300\" is not a host's address\nhelp: as in \"192.0.2.7\" or \"2001:db8::7\"",
        ),
        (
            "[addresses.hosts]\nhost-1 = [\"224.0.0.1\"]\n",
            "7: addresses.hosts.host-1.0: \"224.0.0.1\" is not a host's address\nhelp: as in \"192.0.2.7\" or \"2001:db8::7\"",
        ),
        (
            "[addresses.hosts]\nhost-1 = [\"10.0.0.3\"]\n",
            "7: addresses.hosts.host-1: 10.0.0.3 is host-3's address too\n\
             help: give each host addresses of its own, outside the prefix",
        ),
        (
            "[addresses.hosts]\nhost-1 = [\"192.0.2.1\", \"192.0.2.1\"]\n",
            "7: addresses.hosts.host-1: 192.0.2.1 is host-1's address too\n\
             help: give each host addresses of its own, outside the prefix",
        ),
    ]);
}

#[test]
fn a_scenario_is_not_a_fabric_file() {
    refused(&[
        (
            "[scheme]\nkind = \"cflb\"\n[workload]\nkind = \"long\"\n",
            "8: workload: this belongs to a scenario, and a fabric file is wanted here\n\
             help: keep `[fabric]` alone, and add `[cflb]` and `[addresses]` if their defaults do not suit",
        ),
        (
            "[adresses]\n",
            "6: adresses: this key is not known here\nhelp: did you mean `addresses`?",
        ),
        ("failed = [\"leaf-2\"]\n", "1: fabric: host-3 has no link that is up"),
    ]);
    let no_files = |path: &str| Err(io::Error::other(path.to_owned()));
    let nothing = load_fabric(&Source::new("f.toml", ""), &no_files).unwrap_err();
    assert_eq!(nothing.to_string(), "f.toml: fabric: this key is missing");
    let text = "[fabric]\nkind = \"two-pod\"\n[cflb]\n";
    let error = load(&Source::new("f.toml", text), &no_files).unwrap_err();
    assert_eq!(
        error.to_string(),
        "f.toml:3: cflb: this belongs to a fabric file, and a scenario is wanted here\n\
         help: a scenario names the scheme in `[scheme]`, with `kind = \"cflb\"`"
    );
}
