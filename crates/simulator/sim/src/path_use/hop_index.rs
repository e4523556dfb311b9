//! Hop index: position of a link on a packet's path. Index 0 is the link from the source's ToR.

use heddle_fabric::{Fabric, PortInfo};
use heddle_scenario::Routing;

/// Assigns hop indices, so that a subflow that changes its path replaces the links at some indices.
pub(super) enum HopIndex {
    /// By tier and direction, for each port; `None` for links of hosts. Packets that go up and then
    /// down cross one link up and one down at each tier, and short and long paths (HULA's probes
    /// find both) have common tiers at the same indices.
    ByTier(Vec<Option<usize>>),
    /// By the switches that the packet has passed since its ToR: where servers relay, packets go up
    /// several times.
    Counted {
        /// True for each port of a host.
        from_host: Vec<bool>,
        /// Number of links between switches that each packet has crossed.
        crossed: Vec<u16>,
    },
}

impl HopIndex {
    pub(super) fn new(fabric: &Fabric) -> HopIndex {
        let ports = fabric.ports.iter();
        match fabric.graph.routing {
            Routing::UpDown => HopIndex::ByTier(ports.map(|port| by_tier(fabric, port)).collect()),
            Routing::Shortest | Routing::Minimal => HopIndex::Counted {
                from_host: ports.map(|port| port.owner < fabric.hosts).collect(),
                crossed: Vec::new(),
            },
        }
    }

    /// Index at which a packet has crossed the link of `port`, if that is a link between switches.
    /// Must be called for every link, that of the host included.
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

/// Index by the lower tier of the link and the direction.
fn by_tier(fabric: &Fabric, port: &PortInfo) -> Option<usize> {
    let low = fabric.node(port.owner).tier.min(fabric.node(port.to).tier);
    let above_tor = usize::from(low).checked_sub(1)?;
    Some(2 * above_tor + usize::from(!port.is_up))
}
