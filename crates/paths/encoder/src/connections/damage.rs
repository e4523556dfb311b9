//! What links that fail or return do to connections.

use super::{Connection, ConnectionId, Connections, Subflow, SubflowId};
use crate::{Network, Pair};

/// What has become of a subflow since its path was named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// A link of its path, or of one of its hosts, is down.
    LinkDown {
        /// The link, as an index of the graph's links.
        link: u32,
    },
    /// Its links are up, but routers have other next hops than before, and its ports name another path now.
    Renamed,
}

/// A subflow whose packets do not take its path any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affected {
    /// Its connection.
    pub connection: ConnectionId,
    /// The subflow.
    pub subflow: SubflowId,
    /// What has become of it.
    pub damage: Damage,
}

impl Connections {
    /// The subflows whose packets no longer take their paths, after links have failed or returned ([`Network::set_down`]).
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
            let damage = self.damage(network, *subflow)?;
            Some(Affected { connection: id, subflow: *subflow, damage })
        })
    }

    /// What keeps a subflow's packets from its path, if anything does; none of a subflow that is not there.
    pub fn damage(&self, network: &Network, subflow: SubflowId) -> Option<Damage> {
        damage(network, self.request.pair, self.subflows.get(&subflow)?)
    }
}

/// What keeps a subflow's packets from its path, if anything does.
fn damage(network: &Network, pair: Pair, subflow: &Subflow) -> Option<Damage> {
    let fabric = network.fabric();
    let path = &subflow.placement.path;
    let own = fabric.ports_of(pair.from).iter().map(|port| port.link);
    let links = own.chain(path.ports(fabric).map(|port| fabric.ports[port as usize].link));
    let mut broken = links.filter(|link| network.down().contains(link));
    if let Some(link) = broken.next() {
        return Some(Damage::LinkDown { link });
    }
    let walk = network.walk(pair.from, &subflow.fields).ok()?;
    let taken = walk.steps.iter().map(|step| (step.switch, step.port));
    let meant = path.hops.iter().map(|hop| (hop.switch, hop.port));
    (!taken.eq(meant)).then_some(Damage::Renamed)
}
