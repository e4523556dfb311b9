//! The parts of a fabric.

use std::collections::BTreeMap;
use std::sync::Arc;

use heddle_fabric::Fabric;
use heddle_units::Time;

/// The part of each node. A host is with its ToR.
pub(super) struct Layout {
    pub(super) parts: u16,
    pub(super) owners: Arc<[u16]>,
    /// The part of the node at the far end of each port.
    pub(super) part_behind: Vec<u16>,
    /// Length of a window: the shortest delay of a link between two parts.
    pub(super) window: Time,
}

impl Layout {
    /// Up to `threads` parts of whole pods, or of ToRs where there are none. Switches of no pod are
    /// dealt out in turn.
    pub(super) fn by_pods(fabric: &Fabric, threads: usize) -> Layout {
        let mut groups: BTreeMap<(Option<u16>, u32), u32> = BTreeMap::new();
        let group = |tor: u32| {
            let pod = fabric.node(fabric.hosts + tor).pod;
            (pod, if pod.is_some() { 0 } else { tor })
        };
        for tor in 0..fabric.tors {
            let next = groups.len() as u32;
            groups.entry(group(tor)).or_insert(next);
        }
        let parts = threads.clamp(1, groups.len().max(1)).min(u16::MAX.into()) as u32;
        let part = |number: u32| (number * parts / groups.len().max(1) as u32) as u16;
        let of_switch = |switch: u32| {
            let own = if switch < fabric.tors {
                groups.get(&group(switch))
            } else {
                fabric.node(fabric.hosts + switch).pod.and_then(|pod| groups.get(&(Some(pod), 0)))
            };
            own.map_or((switch % parts) as u16, |&number| part(number))
        };
        Layout::new(fabric, parts as u16, of_switch)
    }

    /// Parts of switches.
    pub(super) fn new(fabric: &Fabric, parts: u16, of_switch: impl Fn(u32) -> u16) -> Layout {
        let hosts = fabric.host_tor.iter().map(|tor| of_switch(tor.0.into()));
        let owners: Arc<[u16]> = hosts.chain((0..fabric.switches()).map(&of_switch)).collect();
        let part = |node: u32| owners[node as usize];
        let between = fabric.ports.iter().filter(|info| part(info.owner) != part(info.to));
        let delays = between.map(|info| fabric.graph.links[info.link as usize].delay);
        Layout {
            parts,
            window: delays.min().unwrap_or(Time::NEVER),
            part_behind: fabric.ports.iter().map(|info| part(info.to)).collect(),
            owners,
        }
    }
}
