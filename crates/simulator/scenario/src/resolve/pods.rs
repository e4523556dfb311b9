//! The pod of each node, for traffic patterns.

use crate::Graph;

/// The pod of each node. In a fabric without pods each ToR and its hosts count as one, numbered
/// from 1.
pub(super) fn pods(graph: &Graph) -> Vec<Option<u16>> {
    let mut pods: Vec<Option<u16>> = graph.nodes.iter().map(|node| node.pod).collect();
    if pods.iter().any(Option::is_some) {
        return pods;
    }
    let tors = graph.nodes.iter().zip(0..).filter(|(node, _)| node.tier == 1);
    for (number, (_, tor)) in (1..).zip(tors) {
        pods[tor] = Some(number);
    }
    for link in &graph.links {
        let (low, high) = (link.ends.0.min(link.ends.1), link.ends.0.max(link.ends.1));
        if graph.nodes[low as usize].tier == 0 {
            pods[low as usize] = pods[high as usize];
        }
    }
    pods
}
