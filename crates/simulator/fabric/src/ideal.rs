//! The bound that every scheme is measured against: the fabric as one big switch.

use std::collections::BTreeMap;

use heddle_scenario::{Graph, Link, Node, Routing, links_of_cost};
use heddle_units::Time;

use crate::Fabric;
use crate::routes::{UNREACHABLE, costs_to};

/// The same hosts and host links around a single switch, with no fabric to load. A host's link is
/// given the delay that makes the longest path of `graph` as long as before, so that unloaded round
/// trips stay comparable (the fabric's transmission times are left out: it is a lower bound).
///
/// Switches inside of servers stay. Host links keep their indices as `graph` orders them; links
/// between switches are gone.
pub fn one_big_switch(graph: &Graph) -> Graph {
    let tier = |node: u32| graph.nodes[node as usize].tier;
    let hosts = graph.nodes.iter().take_while(|node| node.tier == 0).count() as u32;
    let fabric_delay = longest_half_path(graph);
    let mut nodes = graph.nodes[..hosts as usize].to_vec();
    nodes.push(Node { name: "switch-1".into(), tier: 1, pod: None });
    let inner = (0..).zip(graph.inner_switches()).filter(|(_, is_inner)| *is_inner);
    let inner: BTreeMap<u32, u32> = inner.map(|(node, _)| node).zip(hosts + 1..).collect();
    nodes.extend(inner.keys().map(|node| graph.nodes[*node as usize].clone()));
    let host_links = graph.links.iter().filter(|l| tier(l.ends.0).min(tier(l.ends.1)) == 0);
    let links = host_links.map(|link| {
        let (host, tor) = (link.ends.0.min(link.ends.1), link.ends.0.max(link.ends.1));
        let (switch, delay) = match inner.get(&tor) {
            Some(&inside) => (inside, link.delay),
            None => (hosts, link.delay + fabric_delay),
        };
        let mut around = Link::new((host, switch), link.rate_from(host), delay);
        around.set_rate_from(switch, link.rate_from(tor));
        around
    });
    Graph { links: links.collect(), nodes, routing: Routing::UpDown }
}

/// Half of the longest path between ToRs along the slowest links.
fn longest_half_path(graph: &Graph) -> Time {
    match graph.routing {
        Routing::UpDown => to_the_top(graph),
        Routing::Shortest | Routing::Minimal => farthest(graph) / 2,
    }
}

/// The longest of the cheapest paths between ToRs, along the slowest link of each kind.
fn farthest(graph: &Graph) -> Time {
    let (links, between_pods) = links_of_cost(highest_cost(graph));
    let delays = |is_cheap: bool| {
        let switches = |link: &&Link| {
            [link.ends.0, link.ends.1].iter().all(|&end| graph.nodes[end as usize].tier > 0)
        };
        let of_kind =
            graph.links.iter().filter(switches).filter(|l| (graph.cost(l) == 1) == is_cheap);
        of_kind.map(|link| link.delay).max().unwrap_or(Time::ZERO)
    };
    delays(true) * u64::from(links - between_pods) + delays(false) * u64::from(between_pods)
}

/// The delay from a ToR to the top tier along the slowest link of each tier.
fn to_the_top(graph: &Graph) -> Time {
    let top = graph.nodes.iter().map(|node| node.tier).max().unwrap_or(0);
    (1..top).fold(Time::ZERO, |sum, tier| sum + slowest(graph, |low| low == tier))
}

/// The longest delay of the links whose lower end is in such a tier.
fn slowest(graph: &Graph, matches: impl Fn(u8) -> bool) -> Time {
    let tier = |node: u32| graph.nodes[node as usize].tier;
    let meant = graph.links.iter().filter(|l| matches(tier(l.ends.0).min(tier(l.ends.1))));
    meant.map(|link| link.delay).max().unwrap_or(Time::ZERO)
}

/// The highest cost of a cheapest path between ToRs.
fn highest_cost(graph: &Graph) -> u32 {
    let Ok(fabric) = Fabric::new(graph) else { return 0 };
    let costs = (0..fabric.tors).flat_map(|tor| {
        let costs = costs_to(&fabric, &[tor], &|_| true);
        costs.into_iter().take(fabric.tors as usize).filter(|cost| *cost != UNREACHABLE).max()
    });
    costs.max().unwrap_or(0)
}
