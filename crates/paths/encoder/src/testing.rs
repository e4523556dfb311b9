//! Small fabrics and their networks, for this crate's tests.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use heddle_fabric::Fabric;
use heddle_policy::cflb::{CflbConfig, Cipher, Field, Ports, Rules};
use heddle_scenario::{FabricFile, Graph, Link, Node, Routing, Source, load_fabric};
use heddle_units::{Rate, Time};
use proptest::prelude::*;

use crate::{Key, Network, Parts, PortRules};

/// A graph: hosts, then ToRs, then the tiers above, all links 10 Gbps.
fn graph(nodes: Vec<(String, u8)>, links: Vec<(u32, u32)>) -> Graph {
    let node = |(name, tier)| Node { name, tier, pod: None };
    let link = |ends| Link::new(ends, Rate::gbps(10), Time::micros(1));
    Graph {
        nodes: nodes.into_iter().map(node).collect(),
        links: links.into_iter().map(link).collect(),
        routing: Routing::UpDown,
    }
}

fn named(name: &str, tier: u8, count: u32) -> Vec<(String, u8)> {
    (1..=count).map(|number| (format!("{name}-{number}"), tier)).collect()
}

/// Two leaves with `hosts` hosts each below some spines: host links first, then spine by spine both
/// leaves'.
pub(crate) fn leaf_spine(hosts: u32, spines: u32) -> Graph {
    let (leaves, first_spine) = (2 * hosts, 2 * hosts + 2);
    let nodes = [named("host", 0, 2 * hosts), named("leaf", 1, 2), named("spine", 2, spines)];
    let below = (0..2 * hosts).map(|host| (host, leaves + host / hosts));
    let above = (0..spines)
        .flat_map(|spine| [(leaves, first_spine + spine), (leaves + 1, first_spine + spine)]);
    graph(nodes.concat(), below.chain(above).collect())
}

/// A fat-tree of switches with `k` ports (Al-Fares et al., SIGCOMM 2008).
pub(crate) fn fat_tree(k: u32) -> Graph {
    let half = k / 2;
    let (hosts, tors) = (k * half * half, k * half);
    let nodes = [
        named("host", 0, hosts),
        named("tor", 1, tors),
        named("agg", 2, tors),
        named("core", 3, half * half),
    ];
    let (agg, core) = (hosts + tors, hosts + 2 * tors);
    let below = (0..hosts).map(|host| (host, hosts + host / half));
    let pairs = || (0..tors).flat_map(|switch| (0..half).map(move |port| (switch, port)));
    let pods = pairs().map(|(tor, port)| (hosts + tor, agg + tor / half * half + port));
    let cores = pairs().map(|(at, port)| (agg + at, core + at % half * half + port));
    graph(nodes.concat(), below.chain(pods).chain(cores).collect())
}

prop_compose! {
    /// Two hosts on each ToR below two tiers of switches; each link is there or not, is doubled or
    /// not, and some skip a tier.
    pub(crate) fn random_graph()(
        (tors, aggs, cores) in (2u32..5, 1u32..5, 1u32..4),
        present in prop::collection::vec(0usize..4, 48),
        skips in prop::collection::vec(prop::bool::weighted(0.2), 16),
    ) -> Graph {
        let (tor, agg) = (2 * tors, 3 * tors);
        let core = agg + aggs;
        let mesh = |low: std::ops::Range<u32>, high: std::ops::Range<u32>| {
            low.flat_map(move |a| high.clone().map(move |b| (a, b)))
        };
        let below = (0..2 * tors).map(|host| (host, tor + host / 2));
        let next_tier = mesh(tor..agg, agg..core).chain(mesh(agg..core, core..core + cores));
        // A quarter is missing, a quarter doubled.
        let next_tier = next_tier.zip(present).flat_map(|(link, kind)| vec![link; [0, 1, 1, 2][kind]]);
        let skips = mesh(tor..agg, core..core + cores).zip(skips).filter(|(_, keep)| *keep);
        let links = below.chain(next_tier).chain(skips.map(|(link, _)| link)).collect();
        let nodes = [named("host", 0, 2 * tors), named("tor", 1, tors), named("agg", 2, aggs), named("core", 3, cores)];
        graph(nodes.concat(), links)
    }
}

/// A fabric file by the keys of its `[fabric]`, and what follows.
pub(crate) fn fabric_file(keys: &str) -> FabricFile {
    let no_files = |path: &str| Err(std::io::Error::other(path.to_owned()));
    load_fabric(&Source::new("fabric.toml", format!("[fabric]\n{keys}")), &no_files).unwrap()
}

/// A random graph, a fat-tree, VL2, or BCube, where servers relay.
pub(crate) fn any_graph() -> impl Strategy<Value = Graph> {
    let file = |keys: &str| fabric_file(keys).fabric.graph;
    let vl2 = "kind = \"vl2\"\naggregation_ports = 4\nintermediate_ports = 4\nhosts_per_tor = 2";
    let bcube = "kind = \"bcube\"\nports = 3\nlevels = 2";
    prop_oneof![
        4 => random_graph(),
        1 => Just(fat_tree(4)),
        1 => Just(fat_tree(6)),
        1 => Just(file(vl2)),
        1 => Just(file(bcube)),
    ]
}

/// Two different hosts.
pub(crate) fn any_pair(
    fabric: &Fabric,
    draws: (prop::sample::Index, prop::sample::Index),
) -> (u32, u32) {
    let from = draws.0.index(fabric.hosts as usize) as u32;
    let to = draws.1.index(fabric.hosts as usize - 1) as u32;
    (from, if to >= from { to + 1 } else { to })
}

/// 10.0.0.1 and fd00::1 for host 0, and so on.
pub(crate) fn addresses(graph: &Graph) -> Vec<Vec<IpAddr>> {
    let hosts = graph.nodes.iter().take_while(|node| node.tier == 0).count() as u32;
    let v4 = |host| IpAddr::V4(Ipv4Addr::from_bits(0x0a00_0001 + host));
    let v6 = |host| IpAddr::V6(Ipv6Addr::from_bits((0xfd00 << 112) + 1 + u128::from(host)));
    (0..hosts).map(|host| vec![v4(host), v6(host)]).collect()
}

pub(crate) fn key(cipher: Cipher) -> Key {
    let digits = "000102030405060708090a0b0c0d0e0f";
    Key::parse(&digits[..2 * cipher.key_bytes()], cipher).unwrap()
}

/// A network with the constants given and no link down.
pub(crate) fn network_of(graph: &Graph, config: &CflbConfig, rules: PortRules) -> Network {
    let addresses = addresses(graph);
    let parts = Parts { graph, down: &[], config, addresses: &addresses, rules };
    Network::new(parts, &key(config.cipher)).unwrap()
}

/// The paper's: both ports, RC5.
pub(crate) fn config(radix: u16) -> CflbConfig {
    CflbConfig { field: Field::Ports, cipher: Cipher::Rc5, radix, rules: Rules::Even }
}

/// A network with the paper's constants and the usual rules.
pub(crate) fn network(graph: &Graph, radix: u16) -> Network {
    network_of(graph, &config(radix), PortRules::default())
}

/// Typical ports of a client.
pub(crate) const PORTS: Ports = Ports { source: 40_000, destination: 5001 };
