//! The open connections, bounded in number, with leases that end by themselves.

use std::collections::BTreeSet;

use heddle_policy::cflb::Ports;
use heddle_steer::{
    Connection, ConnectionId, Connections, Network, Request, SteerError, SubflowId,
};

use crate::ask::MOST_SUBFLOWS;
use crate::{Code, Problem};

/// How often a name is drawn whose source port the sender has not in use.
const MOST_DRAWS: u32 = 256;

/// Open connections.
#[derive(Debug)]
pub struct Held {
    connections: Connections,
    open: usize,
    most: usize,
}

impl Held {
    /// At most `most` of them at once.
    pub const fn new(connections: Connections, most: usize) -> Held {
        Held { connections, open: 0, most }
    }

    /// The connections, to be looked at.
    pub const fn connections(&self) -> &Connections {
        &self.connections
    }

    /// How many are open.
    pub const fn open_now(&self) -> usize {
        self.open
    }

    /// Ends the connections whose leases have ended; says how many.
    pub fn expire(&mut self, now: u64) -> usize {
        let ended = self.connections.expire(now).len();
        self.open -= ended;
        ended
    }

    /// An open connection.
    pub fn get(&self, id: ConnectionId) -> Result<&Connection, Problem> {
        Ok(self.connections.get(id).ok_or(SteerError::NoConnection(id.0))?)
    }

    /// Opens a connection none of whose subflows has a source port that is taken.
    pub fn open(
        &mut self,
        network: &Network,
        request: &Request,
        taken: &BTreeSet<u16>,
        now: u64,
    ) -> Result<ConnectionId, Problem> {
        if self.open >= self.most {
            return Err(full(format!("{} connections are open", self.open)));
        }
        let id = self.connections.open(network, request, now)?;
        self.open += 1;
        let renamed = self.avoid(network, id, taken);
        if renamed.is_err() {
            self.close(id)?;
        }
        renamed.map(|()| id)
    }

    /// Adds a subflow whose source port is not taken.
    pub fn add(
        &mut self,
        network: &Network,
        id: ConnectionId,
        ports: Ports,
        taken: &BTreeSet<u16>,
    ) -> Result<SubflowId, Problem> {
        if self.get(id)?.subflows.len() >= MOST_SUBFLOWS as usize {
            return Err(full(format!("connection {} has {MOST_SUBFLOWS} subflows", id.0)));
        }
        self.draw(network, id, ports, taken)
    }

    /// Gives a subflow a path and a name anew.
    pub fn replace(
        &mut self,
        network: &Network,
        id: ConnectionId,
        subflow: SubflowId,
    ) -> Result<(), Problem> {
        Ok(self.connections.replace(network, id, subflow)?)
    }

    /// Starts a lease anew.
    pub fn renew(&mut self, id: ConnectionId, now: u64) -> Result<(), Problem> {
        self.connections.renew(id, now)?;
        Ok(())
    }

    /// Ends a connection.
    pub fn close(&mut self, id: ConnectionId) -> Result<(), Problem> {
        self.connections.close(id)?;
        self.open -= 1;
        Ok(())
    }

    /// Gives other names to the subflows of a connection whose source ports are taken.
    fn avoid(
        &mut self,
        network: &Network,
        id: ConnectionId,
        taken: &BTreeSet<u16>,
    ) -> Result<(), Problem> {
        let connection = self.get(id)?;
        let ports = connection.request.ports;
        let mut clashing: Vec<SubflowId> = connection.subflows.keys().copied().collect();
        clashing.retain(|subflow| {
            source_port(connection, *subflow).is_some_and(|port| taken.contains(&port))
        });
        for subflow in clashing {
            self.connections.close_subflow(id, subflow)?;
            self.draw(network, id, ports, taken)?;
        }
        Ok(())
    }

    /// Adds a subflow until its source port is not taken. Each one begins its search among the path's names elsewhere, and finds
    /// the connection as it was, so that the path is the same.
    fn draw(
        &mut self,
        network: &Network,
        id: ConnectionId,
        ports: Ports,
        taken: &BTreeSet<u16>,
    ) -> Result<SubflowId, Problem> {
        for _ in 0..MOST_DRAWS {
            let subflow = self.connections.add_subflow(network, id, ports)?;
            let port = source_port(self.get(id)?, subflow);
            if !port.is_some_and(|port| taken.contains(&port)) {
                return Ok(subflow);
            }
            self.connections.close_subflow(id, subflow)?;
        }
        Err(SteerError::NoneFree { tried: MOST_DRAWS }.into())
    }
}

fn source_port(connection: &Connection, subflow: SubflowId) -> Option<u16> {
    Some(connection.subflows.get(&subflow)?.fields.ports?.source)
}

fn full(message: String) -> Problem {
    Problem::new(
        Code::ResourceExhausted,
        message,
        "close connections that are done, or ask again later",
    )
}
