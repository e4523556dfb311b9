//! Shortest up/down paths: a packet climbs tiers, then descends, and never climbs again.

use super::UNREACHABLE;
use crate::{Fabric, PortInfo};

/// Hops from every switch to one ToR: descending only, and by climbing first.
pub(super) struct UpDown {
    down: Vec<u32>,
    pub(super) any: Vec<u32>,
}

impl UpDown {
    /// `order` has the switches from the lowest tier to the highest.
    pub(super) fn to(
        fabric: &Fabric,
        tor: u32,
        order: &[u32],
        is_up: &impl Fn(u32) -> bool,
    ) -> UpDown {
        let mut down = vec![UNREACHABLE; order.len()];
        down[tor as usize] = 0;
        let nearest = |switch: u32, climb: bool, hops: &[u32]| {
            let ports = fabric.ports_of(fabric.hosts + switch).iter();
            let usable = ports.filter(|p| p.is_up == climb && !p.to_host && is_up(p.link));
            usable.map(|p| hops[(p.to - fabric.hosts) as usize].saturating_add(1)).min()
        };
        for &switch in order.iter().filter(|&&switch| switch != tor) {
            down[switch as usize] = nearest(switch, false, &down).unwrap_or(UNREACHABLE);
        }
        let mut any = down.clone();
        for &switch in order.iter().rev().filter(|&&switch| down[switch as usize] == UNREACHABLE) {
            any[switch as usize] = nearest(switch, true, &any).unwrap_or(UNREACHABLE);
        }
        UpDown { down, any }
    }

    /// True if packets take this port of a switch that has a path; it leads to switch `far`.
    pub(super) fn takes(&self, switch: u32, far: u32, port: &PortInfo) -> bool {
        let descends = self.down[switch as usize] != UNREACHABLE;
        let hops = if descends { &self.down } else { &self.any };
        port.is_up != descends && hops[far as usize] == self.any[switch as usize] - 1
    }
}

/// Switches from the lowest tier to the highest.
pub(super) fn by_tier(fabric: &Fabric) -> Vec<u32> {
    let mut order: Vec<u32> = (0..fabric.switches()).collect();
    order.sort_by_key(|&switch| fabric.node(fabric.hosts + switch).tier);
    order
}
