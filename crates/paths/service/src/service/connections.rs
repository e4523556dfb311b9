//! Operations on connections and subflows.

use std::collections::BTreeSet;

use heddle_path_encoder::{
    Connection, ConnectionId, Connections, Network, PathEncoderError, Request, SubflowId,
};
use heddle_units::Rate;

use super::Service;
use super::paths::{is_free, pair};
use crate::request::MAX_SUBFLOWS;
use crate::{Code, Limits, Problem, request, response, v1};

/// The default and the highest limit of a list.
const LIMITS: (u32, u32) = (256, 1024);

impl Service {
    /// Opens a connection. For a pair with many paths this computes for long and must not run in an
    /// asynchronous task.
    ///
    /// # Errors
    /// Unknown hosts, a pair without paths, 0 or more than 16 subflows, ports that cannot be as
    /// requested, a lease that is too short or too long, no free encoding, too many connections or
    /// taken ports.
    pub fn open_connection(
        &self,
        request: &v1::OpenConnectionRequest,
    ) -> Result<v1::Connection, Problem> {
        self.run("open_connection", || {
            let taken = request::taken(&request.taken_ports)?;
            let (mut connections, network) = (self.connections(), self.network());
            let opened = connection_request(&network, &self.limits, request, &taken)?;
            if connections.len() >= self.limits.connections {
                return Err(exhausted(format!("{} connections are open", connections.len())));
            }
            self.check_room(&connections, &taken)?;
            let now = self.clock.now();
            let id = connections.open(&network, &opened, now, is_free(&taken))?;
            connections.set_taken_ports(id, taken)?;
            self.record(&connections, id);
            Ok(response::connection(&network, id, open(&connections, id)?, now))
        })
    }

    /// The present state of a connection.
    ///
    /// # Errors
    /// No such connection.
    pub fn get_connection(
        &self,
        request: &v1::GetConnectionRequest,
    ) -> Result<v1::Connection, Problem> {
        self.run("get_connection", || {
            let (connections, id) = (self.connections(), ConnectionId(request.connection));
            let connection = open(&connections, id)?;
            Ok(response::connection(&self.network(), id, connection, self.clock.now()))
        })
    }

    /// Lists connections.
    ///
    /// # Errors
    /// A limit that is too high.
    pub fn list_connections(
        &self,
        request: &v1::ListConnectionsRequest,
    ) -> Result<v1::ListConnectionsResponse, Problem> {
        self.run("list_connections", || {
            let limit = request::limit(request.limit, LIMITS.0, LIMITS.1)?;
            let (connections, network) = (self.connections(), self.network());
            let now = self.clock.now();
            let listed = connections.iter_from(ConnectionId(request.first)).take(limit);
            let summaries = listed.map(|(id, one)| response::summary(&network, id, one, now));
            Ok(v1::ListConnectionsResponse {
                connections: summaries.collect(),
                total: connections.len() as u64,
            })
        })
    }

    /// Adds a subflow to a connection. It computes for as long as [`Service::open_connection`].
    ///
    /// # Errors
    /// As [`Service::open_connection`]; no such connection.
    pub fn add_subflow(&self, request: &v1::AddSubflowRequest) -> Result<v1::Subflow, Problem> {
        self.run("add_subflow", || {
            let taken = request::taken(&request.taken_ports)?;
            let (mut connections, id) = (self.connections(), ConnectionId(request.connection));
            let network = self.network();
            let field = network.codec().field();
            let ports =
                request::ports(field, request.source_port, request.destination_port, &taken)?;
            if open(&connections, id)?.subflows.len() >= MAX_SUBFLOWS as usize {
                return Err(exhausted(format!("connection {} has {MAX_SUBFLOWS} subflows", id.0)));
            }
            self.check_room(&connections, &taken)?;
            let subflow = connections.add_subflow(&network, id, ports, is_free(&taken))?;
            set_taken_ports(&mut connections, id, taken)?;
            self.record(&connections, id);
            describe(&network, &connections, id, subflow)
        })
    }

    /// Moves a subflow to another path with other header fields. It computes for as long as
    /// [`Service::open_connection`].
    ///
    /// # Errors
    /// As [`Service::add_subflow`]; no such subflow. The subflow is unchanged then.
    pub fn replace_subflow(
        &self,
        request: &v1::ReplaceSubflowRequest,
    ) -> Result<v1::Subflow, Problem> {
        self.run("replace_subflow", || {
            let taken = request::taken(&request.taken_ports)?;
            let (mut connections, network) = (self.connections(), self.network());
            let (id, subflow) = (ConnectionId(request.connection), SubflowId(request.subflow));
            self.check_room(&connections, &taken)?;
            connections.replace(&network, id, subflow, is_free(&taken))?;
            set_taken_ports(&mut connections, id, taken)?;
            self.record(&connections, id);
            describe(&network, &connections, id, subflow)
        })
    }

    /// Closes a subflow; its connection stays.
    ///
    /// # Errors
    /// No such connection or subflow.
    pub fn close_subflow(
        &self,
        request: &v1::CloseSubflowRequest,
    ) -> Result<v1::CloseSubflowResponse, Problem> {
        self.run("close_subflow", || {
            let (id, subflow) = (ConnectionId(request.connection), SubflowId(request.subflow));
            let mut connections = self.connections();
            connections.close_subflow(id, subflow)?;
            self.record(&connections, id);
            Ok(v1::CloseSubflowResponse {})
        })
    }

    /// Renews a connection's lease, and returns its subflows that do not take their paths.
    ///
    /// # Errors
    /// No such connection.
    pub fn renew_connection(
        &self,
        request: &v1::RenewConnectionRequest,
    ) -> Result<v1::RenewConnectionResponse, Problem> {
        self.run("renew_connection", || {
            let (mut connections, id) = (self.connections(), ConnectionId(request.connection));
            let now = self.clock.now();
            let expires = connections.renew(id, now)?;
            self.record(&connections, id);
            let network = self.network();
            let affected = open(&connections, id)?.affected(&network, id);
            Ok(v1::RenewConnectionResponse {
                lease_seconds: response::lease_seconds(expires, now),
                affected: affected.map(response::affected).collect(),
            })
        })
    }

    /// Closes a connection.
    ///
    /// # Errors
    /// No such connection.
    pub fn close_connection(
        &self,
        request: &v1::CloseConnectionRequest,
    ) -> Result<v1::CloseConnectionResponse, Problem> {
        self.run("close_connection", || {
            let (mut connections, id) = (self.connections(), ConnectionId(request.connection));
            connections.close(id)?;
            self.record(&connections, id);
            Ok(v1::CloseConnectionResponse {})
        })
    }

    /// Checks the limit of taken ports.
    fn check_room(&self, connections: &Connections, taken: &BTreeSet<u16>) -> Result<(), Problem> {
        match connections.ports().taken() + taken.len() <= self.limits.taken_ports {
            true => Ok(()),
            false => Err(exhausted("the limit of taken ports is reached".to_owned())),
        }
    }
}

fn connection_request(
    network: &Network,
    limits: &Limits,
    request: &v1::OpenConnectionRequest,
    taken: &BTreeSet<u16>,
) -> Result<Request, Problem> {
    let field = network.codec().field();
    Ok(Request {
        pair: pair(network, &request.from, &request.to, request.family)?,
        protocol: request::protocol(request.protocol)?,
        ports: request::ports(field, request.source_port, request.destination_port, taken)?,
        subflows: request::subflows(request.subflows)?,
        rate: Some(Rate(request.rate_bps)).filter(|rate| rate.0 > 0),
        lease: request::lease(request.lease_seconds, limits.longest_lease_seconds())?,
    })
}

/// Sets a connection's taken ports, unless the list is empty.
fn set_taken_ports(
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

fn describe(
    network: &Network,
    connections: &Connections,
    id: ConnectionId,
    subflow: SubflowId,
) -> Result<v1::Subflow, Problem> {
    let connection = open(connections, id)?;
    let missing = PathEncoderError::NoSubflow { connection: id.0, subflow: subflow.0 };
    let one = connection.subflows.get(&subflow).ok_or(missing)?;
    Ok(response::subflow(network, connection, subflow, one))
}

fn exhausted(message: String) -> Problem {
    Problem::new(
        Code::ResourceExhausted,
        message,
        "close connections that have ended, or try again later",
    )
}
