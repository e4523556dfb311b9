//! The rate that a load of 1 stands for.

use heddle_units::Rate;

use super::fabric::Resolved;
use crate::Link;

/// Total rate at which hosts can send to other servers, before any link was changed.
pub(super) fn of_hosts(resolved: &Resolved) -> Rate {
    let tier = |node: u32| resolved.fabric.graph.nodes[node as usize].tier;
    let is_inner = resolved.fabric.graph.inner_switches();
    sum(resolved, |from, to| tier(from) == 0 && !is_inner[to as usize])
}

/// Total rate of the links from `pod` to the rest of the fabric, before any failed or was changed.
pub(super) fn of_pod(resolved: &Resolved, pods: &[Option<u16>], pod: u16) -> Rate {
    let is_inside = |node: u32| pods[node as usize] == Some(pod);
    sum(resolved, |from, to| is_inside(from) && !is_inside(to))
}

/// Total rate of the directions that count, by who sends and who receives.
fn sum(resolved: &Resolved, counts: impl Fn(u32, u32) -> bool) -> Rate {
    let rate = |link: &Link| {
        let (a, b) = link.ends;
        let counted = [(a, b), (b, a)].into_iter().filter(|(from, to)| counts(*from, *to));
        counted.fold(0u64, |sum, (from, _)| sum.saturating_add(link.rate_from(from).0))
    };
    Rate(resolved.nominal.iter().fold(0, |sum, link| sum.saturating_add(rate(link))))
}
