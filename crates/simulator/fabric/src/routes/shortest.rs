//! Cheapest paths of all over the links between switches ([`heddle_scenario::Graph::cost`]). Hosts
//! are ends of paths only.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::UNREACHABLE;
use crate::{Fabric, PortInfo};

/// Costs from every switch to the nearest of `targets`; [`UNREACHABLE`] where there is no path.
pub(crate) fn costs_to(fabric: &Fabric, targets: &[u32], is_up: &impl Fn(u32) -> bool) -> Vec<u32> {
    let mut costs = vec![UNREACHABLE; fabric.switches() as usize];
    let mut queue = BinaryHeap::new();
    for &target in targets {
        costs[target as usize] = 0;
        queue.push((Reverse(0), target));
    }
    while let Some((Reverse(cost), near)) = queue.pop() {
        if cost > costs[near as usize] {
            continue;
        }
        let ports = fabric.ports_of(fabric.hosts + near).iter();
        for port in ports.filter(|port| !port.to_host && is_up(port.link)) {
            let far = (port.to - fabric.hosts) as usize;
            let through = cost.saturating_add(cost_of(fabric, port));
            if through < costs[far] {
                costs[far] = through;
                queue.push((Reverse(through), far as u32));
            }
        }
    }
    costs
}

/// Cost of a port's link.
pub(super) fn cost_of(fabric: &Fabric, port: &PortInfo) -> u32 {
    fabric.graph.cost(&fabric.graph.links[port.link as usize])
}
