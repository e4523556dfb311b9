//! Fabrics whose packets take the cheapest of all paths between switches ([`Graph::cost`]), up and
//! down as often as they must.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::{Graph, links_of_cost};

/// Links walked beyond which bounds are given instead of what they bound: a second's work.
const MOST_STEPS: usize = 1 << 27;

const FAR: u32 = u32::MAX;

/// The links between switches that are up.
pub(super) struct Switches {
    /// The far ends of each node's links with their costs, parallel ones each; hosts have none.
    neighbours: Vec<Vec<(u32, u32)>>,
    tors: Vec<u32>,
}

/// The largest of what a fabric has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// Next hops of a switch towards a ToR, parallel links each counted.
    pub(super) next_hops: usize,
    /// Switches of a path between ToRs.
    pub(super) switches: usize,
}

impl Switches {
    pub(super) fn new(graph: &Graph, is_up: impl Fn(u32) -> bool) -> Switches {
        let mut neighbours = vec![Vec::new(); graph.nodes.len()];
        let is_switch = |node: u32| graph.nodes[node as usize].tier > 0;
        for (link, index) in graph.links.iter().zip(0..) {
            let (a, b) = link.ends;
            if is_switch(a) && is_switch(b) && is_up(index) {
                let cost = graph.cost(link);
                neighbours[a as usize].push((b, cost));
                neighbours[b as usize].push((a, cost));
            }
        }
        let tors = graph.nodes.iter().zip(0..).filter(|(node, _)| node.tier == 1);
        Switches { neighbours, tors: tors.map(|(_, tor)| tor).collect() }
    }

    /// Two ToRs between which there is no path.
    pub(super) fn cut(&self) -> Option<(u32, u32)> {
        let first = *self.tors.first()?;
        let costs = self.costs_to(first);
        self.tors.iter().find(|tor| costs[**tor as usize] == FAR).map(|tor| (first, *tor))
    }

    /// Of each node the first ToR to which it has a path; itself of one that has none.
    pub(super) fn parts(&self) -> Vec<u32> {
        let mut parts: Vec<Option<u32>> = vec![None; self.neighbours.len()];
        for &tor in &self.tors {
            if parts[tor as usize].is_none() {
                let costs = self.costs_to(tor);
                let near = parts.iter_mut().zip(costs).filter(|(_, cost)| *cost != FAR);
                near.for_each(|(part, _)| *part = Some(tor));
            }
        }
        (0..).zip(parts).map(|(node, part)| part.unwrap_or(node)).collect()
    }

    /// The maxima of the fabric; in a fabric too large to walk for every ToR, upper bounds of them.
    pub(super) fn extent(&self) -> Extent {
        let links: usize = self.neighbours.iter().map(Vec::len).sum();
        if self.tors.len().saturating_mul(links) > MOST_STEPS {
            return self.bound();
        }
        let mut extent = Extent { next_hops: 1, switches: 1 };
        for costs in self.tors.iter().map(|tor| self.costs_to(*tor)) {
            let ways = (0..costs.len()).map(|switch| self.next_hops(switch, &costs)).max();
            extent.next_hops = extent.next_hops.max(ways.unwrap_or(0));
            extent.switches = extent.switches.max(self.farthest(&costs) + 1);
        }
        extent
    }

    /// A next hop is a link, and no path is longer than the way to the first ToR and on from it.
    fn bound(&self) -> Extent {
        let widest = self.neighbours.iter().map(Vec::len).max().unwrap_or(0);
        let farthest = self.tors.first().map_or(0, |tor| self.farthest(&self.costs_to(*tor)));
        Extent { next_hops: widest.max(1), switches: 2 * farthest + 1 }
    }

    /// Costs from each node to a ToR; [`FAR`] where there is no path.
    fn costs_to(&self, tor: u32) -> Vec<u32> {
        let mut costs = vec![FAR; self.neighbours.len()];
        costs[tor as usize] = 0;
        let mut queue = BinaryHeap::from([(Reverse(0), tor)]);
        while let Some((Reverse(cost), near)) = queue.pop() {
            if cost > costs[near as usize] {
                continue;
            }
            for &(far, link) in &self.neighbours[near as usize] {
                let through = cost.saturating_add(link);
                if through < costs[far as usize] {
                    costs[far as usize] = through;
                    queue.push((Reverse(through), far));
                }
            }
        }
        costs
    }

    fn next_hops(&self, switch: usize, costs: &[u32]) -> usize {
        let here = costs[switch];
        let is_next =
            |(far, link): &&(u32, u32)| costs[*far as usize].checked_add(*link) == Some(here);
        if here == FAR { 0 } else { self.neighbours[switch].iter().filter(is_next).count() }
    }

    /// The most links of a path from any ToR that has one.
    fn farthest(&self, costs: &[u32]) -> usize {
        let costs = self.tors.iter().map(|tor| costs[*tor as usize]).filter(|cost| *cost != FAR);
        costs.map(|cost| links_of_cost(cost).0).max().unwrap_or(0) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::bcube;
    use crate::raw::BCube;
    use heddle_units::{Rate, Time};

    fn switches(ports: u32, levels: u32) -> Switches {
        let shape = BCube { ports, levels, rate: Rate::gbps(1) };
        let graph = bcube(&shape, Time::ZERO).map_err(|_| ()).unwrap();
        Switches::new(&graph, |_| true)
    }

    /// BCube section 3.1: servers that differ in every digit have k + 1 first hops; k + 1 switches
    /// and k more servers are between.
    #[test]
    fn bcubes_paths_correct_one_digit_after_the_other() {
        for (n, k) in [(4, 0), (4, 1), (3, 2), (2, 4)] {
            let k = k as usize;
            let expected = Extent { next_hops: k + 1, switches: 2 * (k + 1) + 1 };
            assert_eq!(switches(n, k as u32).extent(), expected, "n = {n}");
        }
    }

    #[test]
    fn bounds_are_not_below_what_they_bound() {
        let (exact, bound) = (switches(4, 1).extent(), switches(4, 1).bound());
        assert!(bound.next_hops >= exact.next_hops && bound.switches >= exact.switches);
    }
}
