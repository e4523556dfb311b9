//! Opening connections on paths that are apart, and what becomes of them.

use std::collections::BTreeSet;

use heddle_path_encoder::{
    Connection, ConnectionId, Connections, Network, PathEncoderError, Request, SubflowId,
};
use heddle_units::Rate;

use super::Service;
use super::paths::{is_free, pair};
use crate::ask::MOST_SUBFLOWS;
use crate::{Code, Limits, Problem, answer, ask, v1};

/// Connections that are listed unless asked otherwise, and at most.
const LISTED: (u32, u32) = (256, 1024);

impl Service {
    /// Opens a connection. Where a pair has many paths this computes for long: not for an asynchronous task.
    ///
    /// # Errors
    /// Unknown hosts, a pair without paths, 0 or more than 16 subflows, ports that cannot be as asked, a lease that is too short or too
    /// long, no free name, too many connections or taken ports.
    pub fn open_connection(
        &self,
        ask: &v1::OpenConnectionRequest,
    ) -> Result<v1::Connection, Problem> {
        self.answer("open_connection", || {
            let taken = ask::taken(&ask.taken_ports)?;
            let (mut connections, network) = (self.connections(), self.network());
            let request = asked_connection(&network, &self.limits, ask, &taken)?;
            if connections.len() >= self.limits.connections {
                return Err(full(format!("{} connections are open", connections.len())));
            }
            self.check_room(&connections, &taken)?;
            let now = self.clock.now();
            let id = connections.open(&network, &request, now, is_free(&taken))?;
            connections.set_taken_ports(id, taken)?;
            Ok(answer::connection(&network, id, open(&connections, id)?, now))
        })
    }

    /// Tells what a connection is now.
    ///
    /// # Errors
    /// No such connection.
    pub fn get_connection(
        &self,
        ask: &v1::GetConnectionRequest,
    ) -> Result<v1::Connection, Problem> {
        self.answer("get_connection", || {
            let (connections, id) = (self.connections(), ConnectionId(ask.connection));
            let connection = open(&connections, id)?;
            Ok(answer::connection(&self.network(), id, connection, self.clock.now()))
        })
    }

    /// Lists connections.
    ///
    /// # Errors
    /// A limit that is too high.
    pub fn list_connections(
        &self,
        ask: &v1::ListConnectionsRequest,
    ) -> Result<v1::ListConnectionsResponse, Problem> {
        self.answer("list_connections", || {
            let limit = ask::limit(ask.limit, LISTED.0, LISTED.1)?;
            let (connections, network) = (self.connections(), self.network());
            let now = self.clock.now();
            let listed = connections.iter_from(ConnectionId(ask.first)).take(limit);
            let held = listed.map(|(id, one)| answer::held(&network, id, one, now));
            Ok(v1::ListConnectionsResponse {
                connections: held.collect(),
                total: connections.len() as u64,
            })
        })
    }

    /// Adds a subflow to a connection. It may compute for as long as [`Service::open_connection`].
    ///
    /// # Errors
    /// As [`Service::open_connection`]; no such connection.
    pub fn add_subflow(&self, ask: &v1::AddSubflowRequest) -> Result<v1::Subflow, Problem> {
        self.answer("add_subflow", || {
            let taken = ask::taken(&ask.taken_ports)?;
            let (mut connections, id) = (self.connections(), ConnectionId(ask.connection));
            let network = self.network();
            let field = network.codec().field();
            let ports = ask::ports(field, ask.source_port, ask.destination_port, &taken)?;
            if open(&connections, id)?.subflows.len() >= MOST_SUBFLOWS as usize {
                return Err(full(format!("connection {} has {MOST_SUBFLOWS} subflows", id.0)));
            }
            self.check_room(&connections, &taken)?;
            let subflow = connections.add_subflow(&network, id, ports, is_free(&taken))?;
            remember(&mut connections, id, taken)?;
            described(&network, &connections, id, subflow)
        })
    }

    /// Gives a subflow another path and other fields. It may compute for as long as [`Service::open_connection`].
    ///
    /// # Errors
    /// As [`Service::add_subflow`]; no such subflow. It stays as it was then.
    pub fn replace_subflow(&self, ask: &v1::ReplaceSubflowRequest) -> Result<v1::Subflow, Problem> {
        self.answer("replace_subflow", || {
            let taken = ask::taken(&ask.taken_ports)?;
            let (mut connections, network) = (self.connections(), self.network());
            let (id, subflow) = (ConnectionId(ask.connection), SubflowId(ask.subflow));
            self.check_room(&connections, &taken)?;
            connections.replace(&network, id, subflow, is_free(&taken))?;
            remember(&mut connections, id, taken)?;
            described(&network, &connections, id, subflow)
        })
    }

    /// Closes a subflow; its connection stays.
    ///
    /// # Errors
    /// No such connection or subflow.
    pub fn close_subflow(
        &self,
        ask: &v1::CloseSubflowRequest,
    ) -> Result<v1::CloseSubflowResponse, Problem> {
        self.answer("close_subflow", || {
            let (id, subflow) = (ConnectionId(ask.connection), SubflowId(ask.subflow));
            self.connections().close_subflow(id, subflow)?;
            Ok(v1::CloseSubflowResponse {})
        })
    }

    /// Starts a connection's lease anew, and tells which of its subflows do not take their paths.
    ///
    /// # Errors
    /// No such connection.
    pub fn renew_connection(
        &self,
        ask: &v1::RenewConnectionRequest,
    ) -> Result<v1::RenewConnectionResponse, Problem> {
        self.answer("renew_connection", || {
            let (mut connections, id) = (self.connections(), ConnectionId(ask.connection));
            let now = self.clock.now();
            let expires = connections.renew(id, now)?;
            let network = self.network();
            let affected = open(&connections, id)?.affected(&network, id);
            Ok(v1::RenewConnectionResponse {
                lease_seconds: answer::lease_seconds(expires, now),
                affected: affected.map(answer::affected).collect(),
            })
        })
    }

    /// Closes a connection.
    ///
    /// # Errors
    /// No such connection.
    pub fn close_connection(
        &self,
        ask: &v1::CloseConnectionRequest,
    ) -> Result<v1::CloseConnectionResponse, Problem> {
        self.answer("close_connection", || {
            self.connections().close(ConnectionId(ask.connection))?;
            Ok(v1::CloseConnectionResponse {})
        })
    }

    /// Checks that more taken ports can be remembered.
    fn check_room(&self, connections: &Connections, taken: &BTreeSet<u16>) -> Result<(), Problem> {
        match connections.ports().taken() + taken.len() <= self.limits.taken_ports {
            true => Ok(()),
            false => Err(full("too many taken ports are remembered".to_owned())),
        }
    }
}

fn asked_connection(
    network: &Network,
    limits: &Limits,
    ask: &v1::OpenConnectionRequest,
    taken: &BTreeSet<u16>,
) -> Result<Request, Problem> {
    let field = network.codec().field();
    Ok(Request {
        pair: pair(network, &ask.from, &ask.to, ask.family)?,
        protocol: ask::protocol(ask.protocol)?,
        ports: ask::ports(field, ask.source_port, ask.destination_port, taken)?,
        subflows: ask::subflows(ask.subflows)?,
        rate: Some(Rate(ask.rate_bps)).filter(|rate| rate.0 > 0),
        lease: ask::lease(ask.lease_seconds, limits.longest_lease_seconds())?,
    })
}

/// Remembers taken ports in place of those told before, if any were told.
fn remember(
    connections: &mut Connections,
    id: ConnectionId,
    taken: BTreeSet<u16>,
) -> Result<(), Problem> {
    if !taken.is_empty() {
        connections.set_taken_ports(id, taken)?;
    }
    Ok(())
}

/// An open connection.
fn open(connections: &Connections, id: ConnectionId) -> Result<&Connection, Problem> {
    Ok(connections.get(id).ok_or(PathEncoderError::NoConnection(id.0))?)
}

fn described(
    network: &Network,
    connections: &Connections,
    id: ConnectionId,
    subflow: SubflowId,
) -> Result<v1::Subflow, Problem> {
    let connection = open(connections, id)?;
    let missing = PathEncoderError::NoSubflow { connection: id.0, subflow: subflow.0 };
    let one = connection.subflows.get(&subflow).ok_or(missing)?;
    Ok(answer::subflow(network, connection, subflow, one))
}

fn full(message: String) -> Problem {
    Problem::new(
        Code::ResourceExhausted,
        message,
        "close connections that are done, or ask again later",
    )
}
