//! Connections with subflows on different paths, for as long as somebody renews their leases.

mod connection;
mod damage;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use heddle_fabric::Path;
use heddle_policy::cflb::{Field, Fields, Ports, hash_words};

pub use connection::{Connection, ConnectionId, Request, Subflow, SubflowId};
pub use damage::{Affected, Damage};

use crate::{Demand, Flow, Network, Pair, Placer, PortBook, SteerError};

/// The open connections of a network, the ports that they use, and what they put on links.
///
/// All methods that take a network must be given the same one (its links may fail and return in between). `is_free` is asked about header
/// fields before they are handed out, beside the book: it refuses those that the caller knows to be in use. With flow labels, the ports
/// are the caller's own, and the book alone is asked about them.
#[derive(Clone, Debug)]
pub struct Connections {
    placer: Placer,
    book: PortBook,
    lease: u64,
    open: BTreeMap<ConnectionId, Connection>,
    /// When each lease ends.
    leases: BTreeSet<(u64, ConnectionId)>,
    next: u64,
}

impl Connections {
    /// None yet; each is kept for `lease` seconds unless it is renewed, or it asked for another time ([`Request::lease`]).
    pub fn new(placer: Placer, lease: u64) -> Connections {
        let (book, open, leases) = (PortBook::default(), BTreeMap::new(), BTreeSet::new());
        Connections { placer, book, lease, open, leases, next: 0 }
    }

    /// Opens a connection with as many subflows as asked for, on paths that share no links while there are such paths
    /// ([`crate::Scheduler`]).
    ///
    /// # Errors
    /// Those of [`Network::find`] and [`Network::encode`]; [`SteerError::NoSubflows`], [`SteerError::PortsGiven`],
    /// [`SteerError::PortsInUse`]. Nothing is opened then.
    pub fn open(
        &mut self,
        network: &Network,
        request: &Request,
        now: u64,
        mut is_free: impl FnMut(&Fields) -> bool,
    ) -> Result<ConnectionId, SteerError> {
        if request.subflows == 0 {
            return Err(SteerError::NoSubflows);
        }
        if request.subflows > 1 && network.codec().field() == Field::FlowLabel {
            return Err(SteerError::PortsGiven);
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

    /// Adds a subflow to a connection, on a path apart from its others; `ports` as in [`Flow::ports`].
    ///
    /// # Errors
    /// As [`Connections::open`], and [`SteerError::NoConnection`]. Nothing is added then.
    pub fn add_subflow(
        &mut self,
        network: &Network,
        id: ConnectionId,
        ports: Ports,
        is_free: impl FnMut(&Fields) -> bool,
    ) -> Result<SubflowId, SteerError> {
        let mut connection = self.open.remove(&id).ok_or(SteerError::NoConnection(id.0))?;
        let added = self.attach(network, id, &mut connection, ports, is_free);
        self.open.insert(id, connection);
        added
    }

    /// Gives a subflow a path and ports anew, after links have failed or returned. Its old ports are free from then on.
    ///
    /// # Errors
    /// As [`Connections::add_subflow`], and [`SteerError::NoSubflow`]. It stays as it was then.
    pub fn replace(
        &mut self,
        network: &Network,
        id: ConnectionId,
        subflow: SubflowId,
        is_free: impl FnMut(&Fields) -> bool,
    ) -> Result<(), SteerError> {
        let mut connection = self.open.remove(&id).ok_or(SteerError::NoConnection(id.0))?;
        let replaced = self.replace_in(network, id, &mut connection, subflow, is_free);
        self.open.insert(id, connection);
        replaced
    }

    /// Remembers source ports that a connection's sender uses for flows that are not here, in place of those that the connection
    /// remembered before. While it is open, no flow of that host is given them.
    ///
    /// # Errors
    /// [`SteerError::NoConnection`].
    pub fn mark(&mut self, id: ConnectionId, taken: BTreeSet<u16>) -> Result<(), SteerError> {
        let connection = self.open.get_mut(&id).ok_or(SteerError::NoConnection(id.0))?;
        let host = connection.request.pair.from;
        let before = std::mem::replace(&mut connection.taken, taken);
        self.book.unmark(host, &before);
        self.book.mark(host, &connection.taken);
        Ok(())
    }

    /// Closes one subflow of a connection; the connection stays, even without subflows.
    ///
    /// # Errors
    /// [`SteerError::NoConnection`], [`SteerError::NoSubflow`].
    pub fn close_subflow(
        &mut self,
        id: ConnectionId,
        subflow: SubflowId,
    ) -> Result<Subflow, SteerError> {
        let connection = self.open.get_mut(&id).ok_or(SteerError::NoConnection(id.0))?;
        let pair = connection.request.pair;
        let closed = connection.subflows.remove(&subflow).ok_or(no_subflow(id, subflow))?;
        self.detach(pair, &closed);
        Ok(closed)
    }

    /// Closes a connection with all its subflows.
    ///
    /// # Errors
    /// [`SteerError::NoConnection`].
    pub fn close(&mut self, id: ConnectionId) -> Result<Connection, SteerError> {
        let connection = self.open.remove(&id).ok_or(SteerError::NoConnection(id.0))?;
        self.leases.remove(&(connection.expires, id));
        self.book.unmark(connection.request.pair.from, &connection.taken);
        self.detach_all(&connection);
        Ok(connection)
    }

    /// Lets a connection's lease start again, and gives its new end.
    ///
    /// # Errors
    /// [`SteerError::NoConnection`].
    pub fn renew(&mut self, id: ConnectionId, now: u64) -> Result<u64, SteerError> {
        let connection = self.open.get_mut(&id).ok_or(SteerError::NoConnection(id.0))?;
        self.leases.remove(&(connection.expires, id));
        connection.expires = now.saturating_add(connection.request.lease.unwrap_or(self.lease));
        self.leases.insert((connection.expires, id));
        Ok(connection.expires)
    }

    /// Closes the connections whose leases have ended by `now`, in the order of their ends.
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

    /// How many are open.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether none is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// What has been placed on each link.
    pub const fn placer(&self) -> &Placer {
        &self.placer
    }

    /// The ports in use, and those that are marked.
    pub const fn book(&self) -> &PortBook {
        &self.book
    }

    /// Places and names a further subflow.
    fn attach(
        &mut self,
        network: &Network,
        id: ConnectionId,
        connection: &mut Connection,
        ports: Ports,
        is_free: impl FnMut(&Fields) -> bool,
    ) -> Result<SubflowId, SteerError> {
        let Request { pair, .. } = connection.request;
        let is_label = network.codec().field() == Field::FlowLabel;
        if is_label && !self.book.is_free(pair.from, pair.to, ports) {
            return Err(SteerError::PortsInUse);
        }
        let subflow = self.steer(network, id, connection, ports, is_free)?;
        self.book.take(pair.from, pair.to, subflow.fields.ports.unwrap_or_default());
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
    ) -> Result<(), SteerError> {
        let old = connection.subflows.remove(&subflow).ok_or(no_subflow(id, subflow))?;
        self.placer.release(&old.placement);
        let ports = old.fields.ports.unwrap_or_default();
        let new = self.steer(network, id, connection, ports, is_free);
        let Pair { from, to, .. } = connection.request.pair;
        let kept = match new {
            Ok(new) => {
                self.book.release(from, to, ports);
                self.book.take(from, to, new.fields.ports.unwrap_or_default());
                (new, Ok(()))
            }
            Err(error) => {
                self.placer.hold(&old.placement);
                (old, Err(error))
            }
        };
        connection.subflows.insert(subflow, kept.0);
        kept.1
    }

    /// A path apart from the connection's subflows, counted on its links, and a free name for it.
    fn steer(
        &mut self,
        network: &Network,
        id: ConnectionId,
        connection: &Connection,
        ports: Ports,
        mut is_free: impl FnMut(&Fields) -> bool,
    ) -> Result<Subflow, SteerError> {
        let Request { pair, protocol, rate, .. } = connection.request;
        let others = connection.subflows.values();
        let avoid: Vec<Path> = others.map(|subflow| subflow.placement.path.clone()).collect();
        let demand = Demand { avoid: &avoid, rate };
        let placement = self.placer.place(&network.find(pair.from, pair.to)?, &demand);
        let flow = Flow { addresses: pair.addresses, protocol, ports };
        let start = hash_words(connection.next_subflow, &[id.0 as u32, (id.0 >> 32) as u32]);
        let is_label = network.codec().field() == Field::FlowLabel;
        let may_be = |fields: &Fields| {
            let ports = fields.ports.unwrap_or_default();
            is_label || (self.book.is_free(pair.from, pair.to, ports) && is_free(fields))
        };
        match network.encode(&placement.path, &flow, start, may_be) {
            Ok(named) => Ok(Subflow { placement, fields: named.fields }),
            Err(error) => {
                self.placer.release(&placement);
                Err(error)
            }
        }
    }

    fn detach(&mut self, pair: Pair, subflow: &Subflow) {
        self.placer.release(&subflow.placement);
        self.book.release(pair.from, pair.to, subflow.fields.ports.unwrap_or_default());
    }

    fn detach_all(&mut self, connection: &Connection) {
        for subflow in connection.subflows.values() {
            self.detach(connection.request.pair, subflow);
        }
    }
}

const fn no_subflow(connection: ConnectionId, subflow: SubflowId) -> SteerError {
    SteerError::NoSubflow { connection: connection.0, subflow: subflow.0 }
}
