//! The rate that a load of 1 stands for.

use heddle_units::Rate;

use super::fabric::Resolved;
use crate::Graph;

/// Total rate of the hosts' links, before any was changed.
pub(super) fn of_hosts(resolved: &Resolved) -> Rate {
    sum(resolved, |graph, ends| graph.nodes[ends.0.min(ends.1) as usize].tier == 0)
}

/// Total rate of the links from `pod` to the rest of the fabric, before any failed or was changed.
pub(super) fn of_pod(resolved: &Resolved, pods: &[Option<u16>], pod: u16) -> Rate {
    let is_inside = |node: u32| pods[node as usize] == Some(pod);
    sum(resolved, |_, (a, b)| is_inside(a) != is_inside(b))
}

fn sum(resolved: &Resolved, counts: impl Fn(&Graph, (u32, u32)) -> bool) -> Rate {
    let graph = &resolved.fabric.graph;
    let links = graph.links.iter().zip(&resolved.nominal);
    let counted = links.filter(|(link, _)| counts(graph, link.ends));
    Rate(counted.fold(0, |sum, (_, rate)| sum.saturating_add(rate.0)))
}
