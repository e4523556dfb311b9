//! Impact of link failures and recoveries on connections.

use super::{Connection, ConnectionId, Connections, Subflow, SubflowId};
use crate::{Network, Pair};

/// Impact of link changes on a subflow since it was placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkImpact {
    /// A link of its path, or of one of its hosts, is down.
    LinkDown {
        /// The link, as an index of the graph's links.
        link: u32,
    },
    /// Its links are up, but routers have other next hops than before, and its header fields select
    /// another path now.
    Rerouted,
}

/// A subflow whose packets no longer take its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affected {
    /// Its connection.
    pub connection: ConnectionId,
    /// The subflow.
    pub subflow: SubflowId,
    /// The reason.
    pub impact: LinkImpact,
}

impl Connections {
    /// The subflows whose packets no longer take their paths, after links have failed or recovered
    /// ([`Network::set_down`]).
    pub fn affected(&self, network: &Network) -> Vec<Affected> {
        let all = self.iter().flat_map(|(id, connection)| connection.affected(network, id));
        all.collect()
    }
}

impl Connection {
    /// The subflows whose packets no longer take their paths; `id` is the connection's number.
    pub fn affected(&self, network: &Network, id: ConnectionId) -> impl Iterator<Item = Affected> {
        let numbers = self.subflows.keys();
        numbers.filter_map(move |subflow| {
            let impact = self.link_impact(network, *subflow)?;
            Some(Affected { connection: id, subflow: *subflow, impact })
        })
    }

    /// The impact of link changes on a subflow; none if its packets take its path, or if there is
    /// no such subflow.
    pub fn link_impact(&self, network: &Network, subflow: SubflowId) -> Option<LinkImpact> {
        impact(network, self.request.pair, self.subflows.get(&subflow)?)
    }
}

/// The impact of link changes on a subflow; none if its packets take its path.
fn impact(network: &Network, pair: Pair, subflow: &Subflow) -> Option<LinkImpact> {
    let fabric = network.fabric();
    let path = &subflow.placement.path;
    let uplinks = fabric.ports_of(pair.from).iter().map(|port| port.link);
    let links = uplinks.chain(path.ports(fabric).map(|port| fabric.ports[port as usize].link));
    let mut failed = links.filter(|link| network.down().contains(link));
    if let Some(link) = failed.next() {
        return Some(LinkImpact::LinkDown { link });
    }
    let walk = network.walk(pair.from, &subflow.fields).ok()?;
    let taken = walk.steps.iter().map(|step| (step.switch, step.port));
    let expected = path.hops.iter().map(|hop| (hop.switch, hop.port));
    (!taken.eq(expected)).then_some(LinkImpact::Rerouted)
}
