//! Connections that were open before a restart.

use heddle_fabric::Path;
use heddle_policy::cflb::Fields;

use super::{Connection, ConnectionId, Connections, Request, Subflow, SubflowId};
use crate::Network;

/// An open connection, to be kept over a restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedConnection {
    /// The request that opened it.
    pub request: Request,
    /// End of its lease, in seconds of the caller's clock.
    pub expires: u64,
    /// Its subflows.
    pub subflows: Vec<SavedSubflow>,
    /// Source ports that its sender uses for flows of its own.
    pub taken: Vec<u16>,
    /// The number of its next subflow.
    pub next_subflow: u32,
}

/// A subflow of a [`SavedConnection`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedSubflow {
    /// Its number.
    pub id: SubflowId,
    /// Its path.
    pub path: Path,
    /// Number of its links that other subflows of the connection used when it was placed.
    pub shared: u32,
    /// The header fields of its packets.
    pub fields: Fields,
}

impl Connection {
    /// The part of it that a restart needs.
    pub fn save(&self) -> SavedConnection {
        let subflow = |(id, one): (&SubflowId, &Subflow)| SavedSubflow {
            id: *id,
            path: one.placement.path.clone(),
            shared: one.placement.shared,
            fields: one.fields,
        };
        SavedConnection {
            request: self.request,
            expires: self.expires,
            subflows: self.subflows.iter().map(subflow).collect(),
            taken: self.taken.iter().copied().collect(),
            next_subflow: self.next_subflow,
        }
    }
}

impl Connections {
    /// The same, with numbers from `first` on: numbers that an earlier process has given are then
    /// not given again.
    #[must_use]
    pub fn starting_at(mut self, first: u64) -> Connections {
        self.next = self.next.max(first);
        self
    }

    /// Opens a connection again as it was: its header fields stay in use, and its load on links.
    /// Gives false, and opens nothing, if the network does not have its hosts or paths, or if the
    /// number is in use.
    pub fn restore(&mut self, network: &Network, id: ConnectionId, saved: SavedConnection) -> bool {
        let pair = saved.request.pair;
        let fabric = network.fabric();
        let is_known = pair.from < fabric.hosts
            && pair.to < fabric.hosts
            && saved.subflows.iter().all(|subflow| subflow.path.is_within(fabric));
        if !is_known || self.open.contains_key(&id) {
            return false;
        }
        let mut connection = Connection {
            request: saved.request,
            expires: saved.expires,
            subflows: Default::default(),
            taken: saved.taken.into_iter().collect(),
            next_subflow: saved.next_subflow,
        };
        for SavedSubflow { id, path, shared, fields } in saved.subflows {
            let mut placement = self.placer.restore(fabric, path, saved.request.rate);
            placement.shared = shared;
            self.ports.allocate(pair.from, pair.to, fields.ports.unwrap_or_default());
            connection.subflows.insert(id, Subflow { placement, fields });
        }
        self.ports.mark_taken(pair.from, &connection.taken);
        self.leases.insert((connection.expires, id));
        self.next = self.next.max(id.0.saturating_add(1));
        self.open.insert(id, connection);
        true
    }
}
