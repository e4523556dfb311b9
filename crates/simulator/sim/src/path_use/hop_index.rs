//! Where on its way a packet crosses a link. Step 0 is the link from the source's ToR.

use heddle_fabric::{Fabric, PortInfo};
use heddle_scenario::Routing;

/// Numbers the steps of a way, so that a subflow that changes its way changes the links of some steps.
pub(super) enum HopIndex {
    /// By tier and direction, for each port; `None` for hosts' links. Packets that go up and then down cross one link up and one
    /// down at each tier, and short and long ways (HULA's probes find both) have their common tiers at the same steps.
    ByTier(Vec<Option<usize>>),
    /// By the switches that the packet has passed since its ToR: where servers relay, packets climb several times.
    Counted {
        /// For each port, whether a host sends on it.
        from_host: Vec<bool>,
        /// For each packet, the links between switches that it has crossed.
        crossed: Vec<u16>,
    },
}

impl HopIndex {
    pub(super) fn new(fabric: &Fabric) -> HopIndex {
        let ports = fabric.ports.iter();
        match fabric.graph.routing {
            Routing::UpDown => HopIndex::ByTier(ports.map(|port| by_tier(fabric, port)).collect()),
            Routing::Shortest => HopIndex::Counted {
                from_host: ports.map(|port| port.owner < fabric.hosts).collect(),
                crossed: Vec::new(),
            },
        }
    }

    /// The step at which a packet has crossed the link behind `port`, if that is a link between switches. To be asked at every link,
    /// its host's own included.
    pub(super) fn index(&mut self, port: u32, packet: u32) -> Option<usize> {
        let (port, packet) = (port as usize, packet as usize);
        match self {
            HopIndex::ByTier(indices) => indices[port],
            HopIndex::Counted { from_host, crossed } => {
                if packet >= crossed.len() {
                    crossed.resize(packet + 1, 0);
                }
                if from_host[port] {
                    crossed[packet] = 0;
                    return None;
                }
                let index = crossed[packet];
                crossed[packet] = index.saturating_add(1);
                Some(index.into())
            }
        }
    }
}

/// By the lower tier of the link, and the direction.
fn by_tier(fabric: &Fabric, port: &PortInfo) -> Option<usize> {
    let low = fabric.node(port.owner).tier.min(fabric.node(port.to).tier);
    let above_tor = usize::from(low).checked_sub(1)?;
    Some(2 * above_tor + usize::from(!port.is_up))
}
