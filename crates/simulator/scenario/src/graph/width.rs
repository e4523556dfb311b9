//! The number of next hops that a switch can choose from.

use std::collections::{BTreeMap, BTreeSet};

use super::shortest::Switches;
use crate::{Graph, Routing};

/// The most next hops that any switch has towards a ToR, parallel links each counted. 1 where there
/// is no choice at all.
pub(crate) fn most_next_hops(graph: &Graph) -> usize {
    match graph.routing {
        Routing::UpDown => up_or_down(graph),
        Routing::Shortest | Routing::Minimal => Switches::new(graph, |_| true).extent().next_hops,
    }
}

/// The ways up, or the ways down to a ToR. ToRs with the same links up are reached alike, so one
/// stands for all.
fn up_or_down(graph: &Graph) -> usize {
    let uplinks = uplinks(graph);
    let of_tier = |least: u8| (0..).zip(&graph.nodes).filter(move |(_, node)| node.tier >= least);
    let up = of_tier(1).map(|(switch, _): (u32, _)| uplinks[switch as usize].len());
    let mut seen = BTreeSet::new();
    let kinds =
        of_tier(1).filter(|(tor, node)| node.tier == 1 && seen.insert(&uplinks[*tor as usize]));
    up.chain(kinds.map(|(tor, _)| most_ways_down(tor, &uplinks))).max().unwrap_or(0).max(1)
}

/// The upper end of each node's links up, in order.
fn uplinks(graph: &Graph) -> Vec<Vec<u32>> {
    let mut uplinks = vec![Vec::new(); graph.nodes.len()];
    let tier = |node: u32| graph.nodes[node as usize].tier;
    for (a, b) in graph.links.iter().map(|link| link.ends) {
        let (low, high) = if tier(a) < tier(b) { (a, b) } else { (b, a) };
        uplinks[low as usize].push(high);
    }
    uplinks.iter_mut().for_each(|up| up.sort_unstable());
    uplinks
}

/// The most links on which any switch above `tor` can go down to it.
fn most_ways_down(tor: u32, uplinks: &[Vec<u32>]) -> usize {
    let mut ways: BTreeMap<u32, usize> = BTreeMap::new();
    let mut next = vec![tor];
    while let Some(node) = next.pop() {
        for &up in &uplinks[node as usize] {
            let ways = ways.entry(up).or_insert(0);
            if *ways == 0 {
                next.push(up);
            }
            *ways += 1;
        }
    }
    ways.into_values().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Builder, CORE, TOR, leaf_spine, two_pod};
    use crate::raw::{LeafSpine, TwoPod};
    use heddle_units::{Rate, Time};

    #[test]
    fn parallel_links_count_each_and_hosts_do_not() {
        let two_pod = two_pod(&TwoPod::default(), Time::ZERO).map_err(|_| ()).unwrap();
        assert_eq!(most_next_hops(&two_pod), 2);
        let shape = LeafSpine { spines: 3, parallel_links: 2, ..LeafSpine::default() };
        let leaf_spine = leaf_spine(&shape, Time::ZERO).map_err(|_| ()).unwrap();
        assert_eq!(most_next_hops(&leaf_spine), 6);
    }

    /// Ways up that part twice meet again: no switch has more than two links up, but the top has
    /// four down to the ToR.
    #[test]
    fn the_ways_down_count_too() {
        let mut builder = Builder::new(Time::ZERO);
        let rate = Rate::gbps(1);
        let [tor, low, middle, top] = [(TOR, 1), (2, 2), (CORE, 4), (4, 1)]
            .map(|(tier, count)| builder.nodes(&tier.to_string(), tier, count, None));
        builder.mesh(tor, low.clone(), rate);
        builder.link(low.start, middle.start, rate);
        builder.link(low.start, middle.start + 1, rate);
        builder.link(low.start + 1, middle.start + 2, rate);
        builder.link(low.start + 1, middle.start + 3, rate);
        builder.mesh(middle, top, rate);
        assert_eq!(most_next_hops(&builder.graph), 4);
    }
}
