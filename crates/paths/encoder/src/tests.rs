//! Keys, look-ups, encodings and errors over two leaves, two hosts each, and some spines.

use heddle_policy::cflb::{
    Addresses, CflbConfig, Cipher, Field, Fields, PortRange, Ports, Reason, Rules,
};
use heddle_scenario::Graph;

use crate::testing::{
    PORTS, addresses, config, fabric_file, fat_tree, key, leaf_spine, network, network_of,
};
use crate::{End, Family, Flow, Key, Network, Parts, PathEncoderError, PortRules};

fn flow(network: &Network, from: u32, to: u32) -> Flow {
    let addresses = network.pair_of(from, to, Family::V4).unwrap().addresses;
    Flow { addresses, protocol: 6, ports: PORTS }
}

#[test]
fn a_key_is_hexadecimal_and_as_long_as_its_cipher_wants() {
    let text = " 00112233445566778899AABBCCDDEEFF\n";
    let key = Key::parse(text, Cipher::Rc5).unwrap();
    assert_eq!((key.bytes()[1], key.bytes()[15], key.bytes().len()), (0x11, 0xff, 16));
    assert_eq!(format!("{key:?}"), "Key(..)");
    let error = |text| Key::parse(text, Cipher::Skip32).unwrap_err();
    assert_eq!(error("0011"), PathEncoderError::KeyLength { needed: 20, given: 4 });
    assert_eq!(error("00112233445566 78899"), PathEncoderError::KeyDigit { place: 15 });
    assert_eq!(error("+0112233445566778899"), PathEncoderError::KeyDigit { place: 1 });
}

/// By `printf 'heddle cflb key check 1' | cat - key | sha256sum`.
#[test]
fn a_wrong_key_is_noticed_by_its_check_value() {
    let key = key(Cipher::Rc5);
    assert_eq!(key.check_value(), "6928850b");
    assert_eq!(key.verify(" 6928850B\n"), Ok(()));
    let other = Key::parse("00000000000000000000000000000000", Cipher::Rc5).unwrap();
    let (expected, given) = ("6928850b".to_owned(), other.check_value());
    assert_eq!(other.verify("6928850b"), Err(PathEncoderError::WrongKey { expected, given }));
}

#[test]
fn hosts_have_names_and_addresses() {
    let network = network(&leaf_spine(2, 2), 2);
    assert_eq!(
        (network.host("host-3"), network.host("10.0.0.3"), network.host("fd00::3")),
        (Ok(2), Ok(2), Ok(2))
    );
    assert_eq!((network.switch("leaf-1"), network.switch("spine-2")), (Ok(0), Ok(3)));
    let message = |error: Result<u32, PathEncoderError>| error.unwrap_err().to_string();
    assert_eq!(
        message(network.host("hots-3")),
        "there is no host `hots-3`: did you mean `host-3`?"
    );
    assert_eq!(message(network.host("leaf-1")), "there is no host `leaf-1`", "it is a switch");
    assert_eq!(
        message(network.switch("spin-1")),
        "there is no switch `spin-1`: did you mean `spine-1`?"
    );
}

#[test]
fn an_address_that_is_given_is_used() {
    let graph = leaf_spine(1, 2);
    let both = ["10.0.0.2", "192.0.2.2"].map(|address| address.parse().unwrap());
    let mut addresses = addresses(&graph);
    addresses[1] = both.to_vec();
    let rules = PortRules::default();
    let parts =
        Parts { graph: &graph, down: &[], config: &config(2), addresses: &addresses, rules };
    let network = Network::new(parts, &key(Cipher::Rc5)).unwrap();
    let to = |to: &str, family| match network.pair("host-1", to, family)?.addresses {
        Addresses::V4(_, to) => Ok(to.to_string()),
        Addresses::V6(_, to) => Ok(to.to_string()),
    };
    assert_eq!(to("host-2", Family::V4), Ok("10.0.0.2".into()));
    assert_eq!(to("192.0.2.2", Family::V6), Ok("192.0.2.2".into()), "whatever the family");
    let error = PathEncoderError::NoAddress { host: "host-2".into(), family: Family::V6 };
    assert_eq!(to("host-2", Family::V6), Err(error));
    let mixed = network.pair("fd00::1", "192.0.2.2", Family::V4).unwrap_err();
    assert_eq!(
        mixed.to_string(),
        "fd00::1 and 192.0.2.2 are of different families: name both hosts by the same one"
    );
}

#[test]
fn networks_that_cannot_be_are_refused() {
    let graph = leaf_spine(1, 2);
    let new = |graph: &Graph, down: &[u32], addresses: &[Vec<std::net::IpAddr>]| {
        let config = config(2);
        let parts = Parts { graph, down, config: &config, addresses, rules: PortRules::default() };
        Network::new(parts, &key(Cipher::Rc5)).unwrap_err()
    };
    let lists = addresses(&graph);
    assert_eq!(new(&graph, &[6], &lists), PathEncoderError::NoSuchLink { link: 6, links: 6 });
    assert_eq!(
        new(&graph, &[], &lists[1..]),
        PathEncoderError::AddressLists { lists: 1, hosts: 2 }
    );
    let shared = new(&graph, &[], &[lists[0].clone(), lists[0].clone()]).to_string();
    assert_eq!(shared, "10.0.0.1 is the address of both host-1 and host-2");
}

#[test]
fn a_fabric_file_gives_constants_rules_and_failed_links() {
    let file = |more: &str| {
        let shape =
            "kind = \"leaf-spine\"\nleaves = 2\nspines = 3\nhosts_per_leaf = 1\nparallel_links = 2";
        fabric_file(&format!("{shape}\nfailed = [\"leaf-1 spine-2\"]\n[cflb]\n{more}"))
    };
    let source_port = file(
        "field = \"source-port\"\nsource_ports = \"49152-65535\"\nradix = 8\nttl = 32\nttls = \"30-40\"\nreserved = [\"50000-50009\"]",
    );
    let config = source_port.cflb.constants;
    let field = Field::SourcePort(PortRange { low: 49_152, high: 65_535 });
    assert_eq!(config, CflbConfig { field, cipher: Cipher::Feistel, radix: 8, rules: Rules::Even });
    let network = Network::from_file(&source_port, &key(config.cipher)).unwrap();
    let reserved = vec![PortRange { low: 50_000, high: 50_009 }];
    assert_eq!(network.rules(), &PortRules { ttl: 32, ttls: 30..=40, reserved });
    assert_eq!(network.down().len(), 2, "both parallel links");
    assert_eq!(
        network.find(0, 1).unwrap().count(),
        2 * 2 * 2,
        "by 2 spines, 2 links up and 2 down"
    );

    let right = key(Cipher::Rc5);
    let checked = file(&format!("key_check = \"{}\"", right.check_value()));
    assert!(Network::from_file(&checked, &right).is_ok());
    let wrong = Key::parse("ff0102030405060708090a0b0c0d0e0f", Cipher::Rc5).unwrap();
    let error = Network::from_file(&checked, &wrong).unwrap_err();
    assert!(matches!(error, PathEncoderError::WrongKey { .. }), "{error}");
}

#[test]
fn a_path_is_named_by_its_switches() {
    let network = network(&fat_tree(4), 2);
    let path = |names: &[&str]| network.path_by_names(0, 15, names);
    let next_hops =
        |path: heddle_fabric::Path| path.hops.iter().map(|hop| hop.next_hop).collect::<Vec<_>>();
    let named = path(&["tor-1", "agg-2", "core-3", "agg-8", "tor-8"]).unwrap();
    assert_eq!(next_hops(named), [1, 0, 0, 0, 0]);
    let message = |names: &[&str]| path(names).unwrap_err().to_string();
    assert_eq!(
        message(&["tor-1", "agg-2", "core-1", "agg-8", "tor-8"]),
        "agg-2 has no next hop core-1 towards host-16: it has core-3, core-4"
    );
    assert_eq!(
        message(&["tor-1", "agg-2", "core-3"]),
        "the path from host-1 must begin at tor-1 and end at tor-8; it is named by its switches in order"
    );
    let error = network.path_by_number(0, 15, 4).unwrap_err();
    assert_eq!(error.to_string(), "there is no path number 4: the pair has 4, numbered from 0");
}

#[test]
fn parallel_links_are_told_apart() {
    let mut graph = leaf_spine(1, 1);
    graph.links.push(graph.links[2]);
    let network = network(&graph, 2);
    let path = |spine| network.path_by_names(0, 1, &["leaf-1", spine, "leaf-2"]).unwrap();
    let next_hop = |spine| path(spine).hops[0].next_hop;
    assert_eq!((next_hop("spine-1"), next_hop("spine-1#1"), next_hop("spine-1#2")), (0, 0, 1));
    assert_eq!(network.path_names(&path("spine-1#2"), 1), ["leaf-1", "spine-1#2", "leaf-2"]);
}

/// A walk has each router's reason: the leaf with two spines obeys, the spine has no choice, and so
/// has the last leaf.
#[test]
fn a_walk_has_the_reason_of_each_decision() {
    let network = network(&leaf_spine(2, 2), 2);
    let path = network.path_by_names(0, 2, &["leaf-1", "spine-2", "leaf-2"]).unwrap();
    let named = network.encode(&path, &flow(&network, 0, 2), 0, |_| true).unwrap();
    let walk = network.walk(0, &named.fields).unwrap();
    let steps: Vec<_> = walk
        .steps
        .iter()
        .map(|step| (step.name.as_str(), step.ttl, step.next_hops, step.next_name.as_str()))
        .collect();
    let expected =
        [("leaf-1", 64, 2, "spine-2"), ("spine-2", 63, 1, "leaf-2"), ("leaf-2", 62, 1, "host-3")];
    assert_eq!(steps, expected);
    let reasons: Vec<Reason> = walk.steps.iter().map(|step| step.decision.reason).collect();
    // L is 32: position 64 mod 32.
    assert_eq!(
        reasons,
        [Reason::Controlled { position: 0, digit: 1 }, Reason::Alone, Reason::Alone]
    );
}

/// A router's number is its switch's index in the fabric: 0 for the first leaf. With 3 spines and a
/// radix of 4 a quarter of all uncontrolled packets is hashed there.
#[test]
fn uncontrolled_packets_are_hashed_by_the_switches_index() {
    let network = network(&leaf_spine(2, 3), 4);
    let Flow { addresses, protocol, .. } = flow(&network, 0, 2);
    let mut hashed = 0;
    for source in 40_000..40_400 {
        let ports = Some(Ports { source, destination: 80 });
        let fields = Fields { addresses, protocol, ports, flow_label: 0, ttl: 64 };
        let first = network.walk(0, &fields).unwrap().steps[0].decision;
        assert_eq!(first, network.codec().decide(0, &fields, 3));
        hashed += u32::from(matches!(first.reason, Reason::DigitTooHigh { digit: 3, .. }));
    }
    // 400 / 4, and four standard deviations of sqrt(400 * 3/16).
    assert!((65..=135).contains(&hashed), "{hashed}");
}

#[test]
fn walks_end_for_a_reason() {
    let mut network = network(&leaf_spine(2, 2), 2);
    let Flow { addresses, protocol, ports } = flow(&network, 0, 2);
    let fields = Fields { addresses, protocol, ports: Some(ports), flow_label: 0, ttl: 64 };
    let end = |network: &Network, fields| {
        let walk = network.walk(0, &fields).unwrap();
        (walk.end, walk.steps.len(), walk.to)
    };
    assert_eq!(end(&network, fields), (End::Delivered, 3, Some(2)));
    assert_eq!(end(&network, Fields { ttl: 4, ..fields }), (End::Delivered, 3, Some(2)));
    assert_eq!(end(&network, Fields { ttl: 3, ..fields }), (End::TtlExpired, 2, Some(2)));
    let unknown = Addresses::V4([10, 0, 0, 1].into(), [192, 0, 2, 9].into());
    assert_eq!(end(&network, Fields { addresses: unknown, ..fields }), (End::NoSuchHost, 0, None));
    let to_itself = Addresses::V4([10, 0, 0, 1].into(), [10, 0, 0, 1].into());
    assert_eq!(
        end(&network, Fields { addresses: to_itself, ..fields }),
        (End::Delivered, 0, Some(0))
    );
    network.set_down(&network.links_between("host-3", "leaf-2").unwrap()).unwrap();
    assert_eq!(end(&network, fields), (End::NoRoute, 2, Some(2)));
    network.set_down(&network.links_between("host-1", "leaf-1").unwrap()).unwrap();
    assert_eq!(end(&network, fields), (End::NoRoute, 0, Some(2)));
    assert_eq!(
        network.find(0, 2).unwrap_err(),
        PathEncoderError::HostDown { host: "host-1".into() }
    );
}

#[test]
fn errors_of_encoding_name_switches_and_the_fix() {
    let message = |network: &Network| {
        let last = network.fabric().hosts - 1;
        let path = network.path_by_number(0, last, 3).unwrap();
        network.encode(&path, &flow(network, 0, last), 0, |_| true).unwrap_err().to_string()
    };
    let narrow = network(&leaf_spine(2, 4), 3);
    assert_eq!(
        message(&narrow),
        "leaf-1 has 4 next hops, but the radix is 3: the network needs a radix of 4 or more"
    );
    let rules = PortRules { ttl: 3, ttls: 2..=3, ..PortRules::default() };
    let near = network_of(&leaf_spine(2, 4), &config(4), rules);
    assert_eq!(message(&near), "a TTL of 3 does not reach host-4: the path needs 4 or more");
    // Path 2 of a fat-tree turns to 1 and then to 0, and a single digit of base 4 has room for one
    // choice.
    let field = Field::SourcePort(PortRange { low: 50_000, high: 50_005 });
    let single = CflbConfig { field, cipher: Cipher::Feistel, radix: 4, rules: Rules::Even };
    let short = network_of(&fat_tree(4), &single, PortRules::default());
    let path = short.path_by_number(0, 15, 2).unwrap();
    let error = short.encode(&path, &flow(&short, 0, 15), 0, |_| true).unwrap_err().to_string();
    assert!(error.starts_with("tor-1 and agg-2 read the same digit"), "{error}");
}

/// Another TTL that the rules allow is tried where the default does not reach, or has no free
/// encoding.
#[test]
fn other_ttls_are_tried() {
    let rules = PortRules { ttl: 2, ttls: 2..=9, reserved: Vec::new() };
    let network = network_of(&leaf_spine(2, 2), &config(2), rules);
    let path = network.path_by_number(0, 2, 1).unwrap();
    let encode = |is_free: &dyn Fn(&Fields) -> bool| {
        network.encode(&path, &flow(&network, 0, 2), 0, is_free)
    };
    assert_eq!(encode(&|_| true).unwrap().fields.ttl, 4, "three routers, and one left at the host");
    assert_eq!(encode(&|fields| fields.ttl == 6).unwrap().fields.ttl, 6);
}

#[test]
fn reserved_ports_are_never_chosen() {
    let rules = PortRules {
        reserved: vec![PortRange { low: 0, high: 1023 }, PortRange { low: 2000, high: 65_000 }],
        ..PortRules::default()
    };
    let network = network_of(&leaf_spine(2, 2), &config(2), rules.clone());
    let path = network.path_by_number(0, 2, 1).unwrap();
    for start in 0..200 {
        let named = network.encode(&path, &flow(&network, 0, 2), start, |_| true).unwrap();
        let Ports { source, destination } = named.fields.ports.unwrap();
        assert!(rules.allow(source) && rules.allow(destination), "{source} {destination}");
    }
    assert!(rules.allow(1024) && !rules.allow(1023) && !rules.allow(65_000) && rules.allow(65_001));
    let none = PortRules { reserved: vec![PortRange::ALL], ..rules };
    let network = network_of(&leaf_spine(2, 2), &config(2), none);
    let error = network.encode(&path, &flow(&network, 0, 2), 0, |_| true).unwrap_err();
    assert!(matches!(error, PathEncoderError::NoneFree { .. }), "{error}");
}
