//! A fabric with seven paths: two ToRs with two hosts each, and seven spines between them.

use std::net::IpAddr;

use heddle_path_encoder::{Key, Network, Parts, PortRules};
use heddle_policy::cflb::{CflbConfig, Cipher, Field, PortRange, Rules};
use heddle_scenario::{Graph, Link, Node, Routing};
use heddle_units::{Rate, Time};

pub const SPINES: u32 = 7;
/// The key of all tests, 16 bytes.
pub const KEY: &str = "c0ffee00d15ea5e0badc0dedfeedfacf";

fn graph() -> Graph {
    let named = |tier, name: &str, count: u32| {
        let node = |number| Node { name: format!("{name}-{number}"), tier, pod: None };
        (1..=count).map(node).collect::<Vec<Node>>()
    };
    let nodes = [named(0, "host", 4), named(1, "tor", 2), named(2, "spine", SPINES)].concat();
    let hosts = [(0, 4), (1, 4), (2, 5), (3, 5)];
    let spines = (6..6 + SPINES).flat_map(|spine| [(4, spine), (5, spine)]);
    let link = |ends| Link::new(ends, Rate::gbps(1), Time::micros(1));
    let links = hosts.into_iter().chain(spines).map(link).collect();
    Graph { nodes, links, routing: Routing::UpDown }
}

/// Hosts 1 to 3 have both families, host 4 has IPv6 alone.
fn addresses() -> Vec<Vec<IpAddr>> {
    let v6 = |host: u32| format!("2001:db8::{host}").parse().unwrap();
    let v4 = |host: u32| format!("10.0.0.{host}").parse().unwrap();
    vec![vec![v4(1), v6(1)], vec![v4(2), v6(2)], vec![v4(3), v6(3)], vec![v6(4)]]
}

pub fn network(field: Field) -> Network {
    let cipher = if field == Field::Ports { Cipher::Rc5 } else { Cipher::Feistel };
    let config = CflbConfig { field, cipher, radix: 7, rules: Rules::Even };
    let (graph, addresses) = (graph(), addresses());
    let rules = PortRules::default();
    let parts = Parts { graph: &graph, down: &[], config: &config, addresses: &addresses, rules };
    Network::new(parts, &Key::parse(KEY, cipher).unwrap()).unwrap()
}

/// The field: this many source ports from 50000 on.
pub fn source_ports(count: u16) -> Field {
    Field::SourcePort(PortRange { low: 50_000, high: 50_000 + count - 1 })
}
