//! Connections with subflows on different paths, kept while their leases are renewed.

mod connection;
mod impact;
mod restore;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use heddle_fabric::{Demand, Path};
use heddle_policy::cflb::{Field, Fields, Ports, hash_words};

pub use connection::{Connection, ConnectionId, Request, Subflow, SubflowId};
pub use impact::{Affected, LinkImpact};
pub use restore::{SavedConnection, SavedSubflow};

use crate::{Flow, Network, Pair, PathEncoderError, Placer, PortAllocator};

/// The open connections of a network, their ports, and their load on links.
///
/// All methods that take a network must be given the same one; its links may fail and recover in
/// between. `is_free` is a filter on header fields beside the port allocator: it rejects those that
/// the caller knows to be in use. With flow labels the ports are the caller's own, and only the
/// port allocator is consulted.
#[derive(Clone, Debug)]
pub struct Connections {
    placer: Placer,
    ports: PortAllocator,
    lease: u64,
    open: BTreeMap<ConnectionId, Connection>,
    /// End of each lease, ascending.
    leases: BTreeSet<(u64, ConnectionId)>,
    next: u64,
}

impl Connections {
    /// No connections yet. Each is kept for `lease` seconds after it was opened or renewed, unless
    /// [`Request::lease`] gives another time.
    pub fn new(placer: Placer, lease: u64) -> Connections {
        let (ports, open, leases) = (PortAllocator::default(), BTreeMap::new(), BTreeSet::new());
        Connections { placer, ports, lease, open, leases, next: 0 }
    }

    /// Opens a connection with the requested number of subflows, on link-disjoint paths while there
    /// are such paths ([`crate::Scheduler`]).
    ///
    /// # Errors
    /// Those of [`Network::find`] and [`Network::encode`]; [`PathEncoderError::NoSubflows`],
    /// [`PathEncoderError::PortsGiven`], [`PathEncoderError::PortsInUse`]. Nothing is opened then.
    pub fn open(
        &mut self,
        network: &Network,
        request: &Request,
        now: u64,
        mut is_free: impl FnMut(&Fields) -> bool,
    ) -> Result<ConnectionId, PathEncoderError> {
        if request.subflows == 0 {
            return Err(PathEncoderError::NoSubflows);
        }
        if request.subflows > 1 && network.codec().field() == Field::FlowLabel {
            return Err(PathEncoderError::PortsGiven);
        }
        let id = ConnectionId(self.next);
        let mut connection = Connection {
            request: *request,
            expires: now.saturating_add(request.lease.unwrap_or(self.lease)),
            subflows: BTreeMap::new(),
            taken: BTreeSet::new(),
            next_subflow: 0,
        };
        for _ in 0..request.subflows {
            let attached = self.attach(network, id, &mut connection, request.ports, &mut is_free);
            if let Err(error) = attached {
                self.detach_all(&connection);
                return Err(error);
            }
        }
        self.next += 1;
        self.leases.insert((connection.expires, id));
        self.open.insert(id, connection);
        Ok(id)
    }

    /// Adds a subflow to a connection, on a path disjoint from its others if possible; `ports` as
    /// in [`Flow::ports`].
    ///
    /// # Errors
    /// As [`Connections::open`], and [`PathEncoderError::NoConnection`]. Nothing is added then.
    pub fn add_subflow(
        &mut self,
        network: &Network,
        id: ConnectionId,
        ports: Ports,
        is_free: impl FnMut(&Fields) -> bool,
    ) -> Result<SubflowId, PathEncoderError> {
        let mut connection = self.open.remove(&id).ok_or(PathEncoderError::NoConnection(id.0))?;
        let added = self.attach(network, id, &mut connection, ports, is_free);
        self.open.insert(id, connection);
        added
    }

    /// Moves a subflow to a new path with new ports, after links have failed or recovered. Its old
    /// ports are released.
    ///
    /// # Errors
    /// As [`Connections::add_subflow`], and [`PathEncoderError::NoSubflow`]. The subflow is
    /// unchanged then.
    pub fn replace(
        &mut self,
        network: &Network,
        id: ConnectionId,
        subflow: SubflowId,
        is_free: impl FnMut(&Fields) -> bool,
    ) -> Result<(), PathEncoderError> {
        let mut connection = self.open.remove(&id).ok_or(PathEncoderError::NoConnection(id.0))?;
        let replaced = self.replace_in(network, id, &mut connection, subflow, is_free);
        self.open.insert(id, connection);
        replaced
    }

    /// Sets the source ports that a connection's sender uses for flows of its own, in place of
    /// those set before. They are allocated to no flow of that host while the connection is open.
    ///
    /// # Errors
    /// [`PathEncoderError::NoConnection`].
    pub fn set_taken_ports(
        &mut self,
        id: ConnectionId,
        taken: BTreeSet<u16>,
    ) -> Result<(), PathEncoderError> {
        let connection = self.open.get_mut(&id).ok_or(PathEncoderError::NoConnection(id.0))?;
        let host = connection.request.pair.from;
        let before = std::mem::replace(&mut connection.taken, taken);
        self.ports.unmark_taken(host, &before);
        self.ports.mark_taken(host, &connection.taken);
        Ok(())
    }

    /// Closes one subflow of a connection; the connection stays, even without subflows.
    ///
    /// # Errors
    /// [`PathEncoderError::NoConnection`], [`PathEncoderError::NoSubflow`].
    pub fn close_subflow(
        &mut self,
        id: ConnectionId,
        subflow: SubflowId,
    ) -> Result<Subflow, PathEncoderError> {
        let connection = self.open.get_mut(&id).ok_or(PathEncoderError::NoConnection(id.0))?;
        let pair = connection.request.pair;
        let closed = connection.subflows.remove(&subflow).ok_or(no_subflow(id, subflow))?;
        self.detach(pair, &closed);
        Ok(closed)
    }

    /// Closes a connection with all its subflows.
    ///
    /// # Errors
    /// [`PathEncoderError::NoConnection`].
    pub fn close(&mut self, id: ConnectionId) -> Result<Connection, PathEncoderError> {
        let connection = self.open.remove(&id).ok_or(PathEncoderError::NoConnection(id.0))?;
        self.leases.remove(&(connection.expires, id));
        self.ports.unmark_taken(connection.request.pair.from, &connection.taken);
        self.detach_all(&connection);
        Ok(connection)
    }

    /// Renews a connection's lease and returns its new end.
    ///
    /// # Errors
    /// [`PathEncoderError::NoConnection`].
    pub fn renew(&mut self, id: ConnectionId, now: u64) -> Result<u64, PathEncoderError> {
        let connection = self.open.get_mut(&id).ok_or(PathEncoderError::NoConnection(id.0))?;
        self.leases.remove(&(connection.expires, id));
        connection.expires = now.saturating_add(connection.request.lease.unwrap_or(self.lease));
        self.leases.insert((connection.expires, id));
        Ok(connection.expires)
    }

    /// Closes the connections whose leases have ended by `now`, and returns them in the order of
    /// their ends.
    pub fn expire(&mut self, now: u64) -> Vec<ConnectionId> {
        let ended = self.leases.iter().take_while(|(end, _)| *end <= now);
        let ended: Vec<ConnectionId> = ended.map(|(_, id)| *id).collect();
        ended.into_iter().filter(|id| self.close(*id).is_ok()).collect()
    }

    /// An open connection.
    pub fn get(&self, id: ConnectionId) -> Option<&Connection> {
        self.open.get(&id)
    }

    /// The open connections, in the order in which they were opened.
    pub fn iter(&self) -> impl Iterator<Item = (ConnectionId, &Connection)> {
        self.open.iter().map(|(id, connection)| (*id, connection))
    }

    /// Those of [`Connections::iter`] whose numbers are `first` or higher.
    pub fn iter_from(
        &self,
        first: ConnectionId,
    ) -> impl Iterator<Item = (ConnectionId, &Connection)> {
        self.open.range(first..).map(|(id, connection)| (*id, connection))
    }

    /// The number of open connections.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// True if no connection is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The load placed on each link.
    pub const fn placer(&self) -> &Placer {
        &self.placer
    }

    /// The allocated and the taken ports.
    pub const fn ports(&self) -> &PortAllocator {
        &self.ports
    }

    /// Places and encodes a further subflow.
    fn attach(
        &mut self,
        network: &Network,
        id: ConnectionId,
        connection: &mut Connection,
        ports: Ports,
        is_free: impl FnMut(&Fields) -> bool,
    ) -> Result<SubflowId, PathEncoderError> {
        let Request { pair, .. } = connection.request;
        let is_label = network.codec().field() == Field::FlowLabel;
        if is_label && !self.ports.is_free(pair.from, pair.to, ports) {
            return Err(PathEncoderError::PortsInUse);
        }
        let subflow = self.place(network, id, connection, ports, is_free)?;
        self.ports.allocate(pair.from, pair.to, subflow.fields.ports.unwrap_or_default());
        let number = SubflowId(connection.next_subflow);
        connection.next_subflow += 1;
        connection.subflows.insert(number, subflow);
        Ok(number)
    }

    fn replace_in(
        &mut self,
        network: &Network,
        id: ConnectionId,
        connection: &mut Connection,
        subflow: SubflowId,
        is_free: impl FnMut(&Fields) -> bool,
    ) -> Result<(), PathEncoderError> {
        let old = connection.subflows.remove(&subflow).ok_or(no_subflow(id, subflow))?;
        self.placer.release(&old.placement);
        let ports = old.fields.ports.unwrap_or_default();
        let new = self.place(network, id, connection, ports, is_free);
        let Pair { from, to, .. } = connection.request.pair;
        let (kept, result) = match new {
            Ok(new) => {
                self.ports.release(from, to, ports);
                self.ports.allocate(from, to, new.fields.ports.unwrap_or_default());
                (new, Ok(()))
            }
            Err(error) => {
                self.placer.hold(&old.placement);
                (old, Err(error))
            }
        };
        connection.subflows.insert(subflow, kept);
        result
    }

    /// A path disjoint from the connection's subflows if possible, counted on its links, and a free
    /// encoding of it.
    fn place(
        &mut self,
        network: &Network,
        id: ConnectionId,
        connection: &Connection,
        ports: Ports,
        mut is_free: impl FnMut(&Fields) -> bool,
    ) -> Result<Subflow, PathEncoderError> {
        let Request { pair, protocol, rate, .. } = connection.request;
        let others = connection.subflows.values();
        let avoid: Vec<Path> = others.map(|subflow| subflow.placement.path.clone()).collect();
        let demand = Demand { avoid: &avoid, rate };
        let placement = self.placer.place(&network.find(pair.from, pair.to)?, &demand);
        let flow = Flow { addresses: pair.addresses, protocol, ports };
        let start = hash_words(connection.next_subflow, &[id.0 as u32, (id.0 >> 32) as u32]);
        let is_label = network.codec().field() == Field::FlowLabel;
        let is_usable = |fields: &Fields| {
            let ports = fields.ports.unwrap_or_default();
            is_label || (self.ports.is_free(pair.from, pair.to, ports) && is_free(fields))
        };
        match network.encode(&placement.path, &flow, start, is_usable) {
            Ok(encoded) => Ok(Subflow { placement, fields: encoded.fields }),
            Err(error) => {
                self.placer.release(&placement);
                Err(error)
            }
        }
    }

    fn detach(&mut self, pair: Pair, subflow: &Subflow) {
        self.placer.release(&subflow.placement);
        self.ports.release(pair.from, pair.to, subflow.fields.ports.unwrap_or_default());
    }

    fn detach_all(&mut self, connection: &Connection) {
        for subflow in connection.subflows.values() {
            self.detach(connection.request.pair, subflow);
        }
    }
}

const fn no_subflow(connection: ConnectionId, subflow: SubflowId) -> PathEncoderError {
    PathEncoderError::NoSubflow { connection: connection.0, subflow: subflow.0 }
}
