//! The bound that every scheme is measured against: the fabric as one big switch.

use heddle_scenario::{Graph, Link, Node, Routing};
use heddle_units::Time;

/// The same hosts and host links around a single switch, with no fabric to load. A host's link is given the delay that
/// makes the longest path of `graph` as long as before, so that unloaded round trips stay comparable (the fabric's
/// transmission times are left out: it is a lower bound).
///
/// Host links keep their indices as `graph` orders them; links between switches are gone.
pub fn one_big_switch(graph: &Graph) -> Graph {
    let tier = |node: u32| graph.nodes[node as usize].tier;
    let hosts = graph.nodes.iter().take_while(|node| node.tier == 0).count() as u32;
    let fabric_delay = longest_half_path(graph);
    let mut nodes = graph.nodes[..hosts as usize].to_vec();
    nodes.push(Node { name: "switch-1".into(), tier: 1, pod: None });
    let host_links = graph.links.iter().filter(|l| tier(l.ends.0).min(tier(l.ends.1)) == 0);
    let links = host_links.map(|link| Link {
        ends: (link.ends.0.min(link.ends.1), hosts),
        rate: link.rate,
        delay: link.delay + fabric_delay,
    });
    Graph { links: links.collect(), nodes, routing: Routing::UpDown }
}

/// The delay from a ToR to the top tier along the slowest link of each tier.
fn longest_half_path(graph: &Graph) -> Time {
    let top = graph.nodes.iter().map(|node| node.tier).max().unwrap_or(0);
    let tier_of = |link: &Link| {
        let (a, b) = link.ends;
        graph.nodes[a as usize].tier.min(graph.nodes[b as usize].tier)
    };
    let slowest =
        |tier: u8| graph.links.iter().filter(|l| tier_of(l) == tier).map(|l| l.delay).max();
    (1..top).filter_map(slowest).fold(Time::ZERO, |sum, delay| sum + delay)
}
