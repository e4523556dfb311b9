//! Shortest paths of all over the links between switches. Hosts are ends of paths only.

use std::collections::VecDeque;

use super::UNREACHABLE;
use crate::Fabric;

/// Hops from every switch to one ToR; [`UNREACHABLE`] where there is no path.
pub(crate) fn hops_to(fabric: &Fabric, tor: u32, is_up: &impl Fn(u32) -> bool) -> Vec<u32> {
    let mut hops = vec![UNREACHABLE; fabric.switches() as usize];
    hops[tor as usize] = 0;
    let mut queue = VecDeque::from([tor]);
    while let Some(near) = queue.pop_front() {
        let ports = fabric.ports_of(fabric.hosts + near).iter();
        for port in ports.filter(|port| !port.to_host && is_up(port.link)) {
            let far = port.to - fabric.hosts;
            if hops[far as usize] == UNREACHABLE {
                hops[far as usize] = hops[near as usize] + 1;
                queue.push_back(far);
            }
        }
    }
    hops
}
