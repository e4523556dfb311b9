//! Path use of connections, by the simulator's definition ([`PathUse`]).

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use heddle_scenario::Graph;
use heddle_sim::PathUse;

use super::{Hop, Observed, Subflow};
use crate::addresses::Addresses;

/// Sender and receiver, by their first addresses.
type Pair = (Ipv4Addr, Ipv4Addr);

/// The hops of a subflow in an interval, with the last millisecond of each.
type Hops = BTreeMap<Hop, u64>;

impl Observed {
    /// Path use in intervals of `every` milliseconds, from one millisecond of the clock to another.
    /// The subflows between two hosts count as those of one connection.
    pub(crate) fn path_use(&self, graph: &Graph, every: u64, (from, to): (u64, u64)) -> PathUse {
        let mut intervals: BTreeMap<(u64, Pair), BTreeMap<Subflow, Hops>> = BTreeMap::new();
        for &(subflow, hop, millis) in self.0.keys() {
            if (from..to).contains(&millis) {
                let pair = (Addresses::host_of(*subflow.from.ip()), Addresses::host_of(subflow.to));
                let interval = intervals.entry(((millis - from) / every.max(1), pair)).or_default();
                let last = interval.entry(subflow).or_default().entry(hop).or_default();
                *last = millis.max(*last);
            }
        }
        let mut sum = PathUse::default();
        for subflows in intervals.values().filter(|subflows| subflows.len() > 1) {
            let paths: Vec<BTreeSet<Hop>> =
                subflows.values().map(|hops| path(graph, hops)).collect();
            add(&mut sum, graph, &paths);
        }
        sum
    }
}

/// Nodes at both ends of a hop.
fn ends(graph: &Graph, hop: Hop) -> (u32, u32) {
    let (a, b) = graph.links[hop.link as usize].ends;
    (if a == hop.to { b } else { a }, hop.to)
}

fn tiers(graph: &Graph, hop: Hop) -> (u8, u8) {
    let (from, to) = ends(graph, hop);
    let tier = |node: u32| graph.nodes[node as usize].tier;
    (tier(from), tier(to))
}

/// The last hop from each tier to each other one, of which a path has one each; within a tier all
/// hops.
fn path(graph: &Graph, hops: &Hops) -> BTreeSet<Hop> {
    let is_last = |(hop, at): &(&Hop, &u64)| {
        let ends = tiers(graph, **hop);
        let later = |(other, later): (&Hop, &u64)| {
            tiers(graph, *other) == ends && (later, other) > (at, hop)
        };
        ends.0 == ends.1 || !hops.iter().any(later)
    };
    hops.iter().filter(is_last).map(|(hop, _)| *hop).collect()
}

fn add(sum: &mut PathUse, graph: &Graph, paths: &[BTreeSet<Hop>]) {
    let mut times: BTreeMap<Hop, u32> = BTreeMap::new();
    paths.iter().flatten().for_each(|hop| *times.entry(*hop).or_default() += 1);
    let lowest = |hop: &Hop| tiers(graph, *hop).0 == 1;
    let is_up = |hop: &Hop| tiers(graph, *hop).0 <= tiers(graph, *hop).1;
    let shared: Vec<&Hop> =
        times.iter().filter(|(_, count)| **count > 1).map(|(hop, _)| hop).collect();
    sum.samples += 1;
    sum.shared += u64::from(!shared.is_empty());
    sum.shared_first_hop += u64::from(shared.iter().any(|hop| lowest(hop) && is_up(hop)));
    sum.paths_sum += paths.iter().collect::<BTreeSet<_>>().len() as u64;
    sum.subflows_sum += paths.len() as u64;
}

#[cfg(test)]
mod tests {
    use heddle_scenario::{Source, load};

    use super::*;

    /// Two leaves, two spines, a host each; links in the order leaf-1 spine-1, leaf-1 spine-2,
    /// leaf-2 spine-1, leaf-2 spine-2.
    fn graph() -> Graph {
        let text = "scheme = \"ecmp\"\nworkload = { kind = \"long\" }\nmeasure = { duration = \"1s\" }\n\
            [fabric]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 1\nparallel_links = 1\n";
        let none = |_: &str| Err(std::io::Error::other("none"));
        load(&Source::new("a.toml", text), &none).unwrap().fabric.graph
    }

    /// The hop between two named nodes.
    fn hop(graph: &Graph, from: &str, to: &str) -> Hop {
        let node =
            |name: &str| graph.nodes.iter().position(|node| node.name == name).unwrap() as u32;
        let (from, to) = (node(from), node(to));
        let is = |ends: (u32, u32)| ends == (from, to) || ends == (to, from);
        let link = graph.links.iter().position(|link| is(link.ends)).unwrap() as u32;
        Hop { link, to }
    }

    #[test]
    fn subflows_are_compared_by_the_hops_that_they_took_last() {
        let graph = graph();
        let to = Ipv4Addr::new(10, 2, 1, 1);
        let mut seen = super::super::Seen::new();
        let mut cross = |port: u16, spine: &str, millis: u64| {
            let from = std::net::SocketAddrV4::new(Ipv4Addr::new(10, 1, 1, 1), port);
            for (a, b) in [("leaf-1", spine), (spine, "leaf-2")] {
                seen.insert((Subflow { from, to }, hop(&graph, a, b), millis), 1);
            }
        };
        // Apart at first; then the second subflow moves to the first one's spine; then one of them
        // alone.
        cross(1, "spine-1", 5);
        cross(2, "spine-2", 6);
        cross(1, "spine-1", 15);
        cross(2, "spine-2", 16);
        cross(2, "spine-1", 17);
        cross(1, "spine-1", 25);
        let used = Observed(seen).path_use(&graph, 10, (0, 30));
        let expected =
            PathUse { samples: 2, shared: 1, shared_first_hop: 1, paths_sum: 3, subflows_sum: 4 };
        assert_eq!(used, expected);
    }
}
