//! Links that fail and come back.

use heddle_fabric::Routes;
use heddle_scenario::Scenario;

use crate::EmulationError;
use crate::network::Network;

/// The links that are up.
pub(crate) struct Links {
    /// By index of the graph's links.
    pub(crate) up: Vec<bool>,
}

impl Links {
    /// The links of a scenario at its start.
    pub(crate) fn new(scenario: &Scenario) -> Links {
        let graph = &scenario.fabric.graph;
        let name = |node: u32| &graph.nodes[node as usize].name;
        let is_up = |ends: (u32, u32)| {
            let (a, b) = (name(ends.0), name(ends.1));
            !scenario.fabric.failed.iter().any(|(x, y)| (x, y) == (a, b) || (x, y) == (b, a))
        };
        Links { up: graph.links.iter().map(|link| is_up(link.ends)).collect() }
    }

    /// Those that are down.
    pub(crate) fn down(&self) -> impl Iterator<Item = u32> {
        self.up.iter().zip(0..).filter(|(up, _)| !**up).map(|(_, link)| link)
    }

    /// Routes over those that are up.
    pub(crate) fn routes(&self, network: &Network) -> Result<Routes, EmulationError> {
        Ok(network.fabric.routes(|link| self.up[link as usize])?)
    }
}

/// Makes a link lose all packets in both directions, those in its buffers too. The carrier stays,
/// as that of a switch whose line card is dead.
pub(crate) fn cut(network: &Network, link: u32) -> Result<(), EmulationError> {
    for device in network.link_devices(link) {
        network
            .tc(device.node, &format!("qdisc replace dev {} root blackhole\n", device.name()))?;
    }
    Ok(())
}

/// Undoes [`cut`].
pub(crate) fn restore(network: &Network, link: u32) -> Result<(), EmulationError> {
    for device in network.link_devices(link) {
        network.tc(device.node, &network.shape_lines(&device))?;
    }
    Ok(())
}
