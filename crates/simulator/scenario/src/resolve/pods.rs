//! The pod of each node, for traffic patterns.

use crate::Graph;

/// The pod of each node. In a fabric without pods each ToR and its hosts count as one, and so do
/// ToRs that have hosts in common; pods are numbered from 1 in the order of their first ToRs.
pub(super) fn pods(graph: &Graph) -> Vec<Option<u16>> {
    let mut pods: Vec<Option<u16>> = graph.nodes.iter().map(|node| node.pod).collect();
    if pods.iter().any(Option::is_some) {
        return pods;
    }
    let nodes = graph.nodes.iter().take_while(|node| node.tier <= 1).count();
    let first = first_of_group(graph, nodes);
    let mut count = 0;
    for node in (0..nodes).filter(|node| graph.nodes[*node].tier == 1) {
        if first[node] == node {
            count += 1;
        }
        pods[node] = if first[node] == node { Some(count) } else { pods[first[node]] };
    }
    for host in (0..nodes).filter(|node| graph.nodes[*node].tier == 0) {
        pods[host] = pods[first[host]];
    }
    pods
}

/// The first ToR of those that hosts in common join, for each host and ToR.
fn first_of_group(graph: &Graph, nodes: usize) -> Vec<usize> {
    fn root(first: &[usize], mut node: usize) -> usize {
        while first[node] != node {
            node = first[node];
        }
        node
    }
    let mut first: Vec<usize> = (0..nodes).collect();
    for link in &graph.links {
        let (low, high) = (link.ends.0.min(link.ends.1), link.ends.0.max(link.ends.1));
        if graph.nodes[low as usize].tier == 0 {
            let (tor, other) = (root(&first, high as usize), root(&first, low as usize));
            let is_host = graph.nodes[other].tier == 0;
            let (from, to) = if is_host { (other, tor) } else { (other.max(tor), other.min(tor)) };
            first[from] = to;
        }
    }
    (0..nodes).map(|node| root(&first, node)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pods_of(fabric: &str) -> Vec<Option<u16>> {
        let text = format!(
            "scheme = \"ecmp\"\nworkload = {{ kind = \"long\" }}\nmeasure = {{ duration = \"1ms\" }}\n\
             [fabric]\nkind = \"leaf-spine\"\nspines = 1\nhosts_per_leaf = 1\nleaves = 4\n{fabric}"
        );
        let no_files = |path: &str| Err(std::io::Error::other(path.to_owned()));
        let scenario = crate::load(&crate::Source::new("x.toml", text), &no_files).unwrap();
        pods(&scenario.fabric.graph)
    }

    #[test]
    fn tors_with_hosts_in_common_are_one_pod() {
        let each = [1, 2, 3, 4].map(Some);
        assert_eq!(pods_of(""), [&each[..], &each, &[None]].concat());
        let two = [1, 1, 2, 2].map(Some);
        assert_eq!(pods_of("tors_per_host = 2"), [&two[..], &two, &[None]].concat());
    }
}
