//! Opening connections on paths that are apart, and what becomes of them.

use heddle_steer::{ConnectionId, Network, Request, SteerError, SubflowId};
use heddle_units::Rate;

use super::{Service, paths};
use crate::held::Held;
use crate::{Problem, answer, ask, v1};

impl Service {
    /// Opens a connection.
    ///
    /// # Errors
    /// Unknown hosts, a pair without paths, 0 or more than 16 subflows, ports that cannot be as asked, no free name, too many connections.
    pub fn open_connection(
        &self,
        ask: &v1::OpenConnectionRequest,
    ) -> Result<v1::Connection, Problem> {
        self.answer("open_connection", || {
            let taken = ask::taken(&ask.taken_ports)?;
            let mut held = self.held();
            let network = self.network();
            let request = asked_connection(&network, ask)?;
            let id = held.open(&network, &request, &taken, self.clock.now())?;
            let connection = held.get(id)?;
            let subflows = connection.subflows.iter();
            let subflows =
                subflows.map(|(number, one)| answer::subflow(&network, connection, *number, one));
            let lease_seconds = self.limits.lease_seconds();
            Ok(v1::Connection { connection: id.0, subflows: subflows.collect(), lease_seconds })
        })
    }

    /// Adds a subflow to a connection.
    ///
    /// # Errors
    /// As [`Service::open_connection`]; no such connection.
    pub fn add_subflow(&self, ask: &v1::AddSubflowRequest) -> Result<v1::Subflow, Problem> {
        self.answer("add_subflow", || {
            let taken = ask::taken(&ask.taken_ports)?;
            let (mut held, id) = (self.held(), ConnectionId(ask.connection));
            let network = self.network();
            let ports = ask::ports(network.codec().field(), ask.source_port, ask.destination_port)?;
            let subflow = held.add(&network, id, ports, &taken)?;
            described(&network, &held, id, subflow)
        })
    }

    /// Gives a subflow another path and other fields.
    ///
    /// # Errors
    /// As [`Service::add_subflow`]; no such subflow. It stays as it was then.
    pub fn replace_subflow(&self, ask: &v1::ReplaceSubflowRequest) -> Result<v1::Subflow, Problem> {
        self.answer("replace_subflow", || {
            let (mut held, network) = (self.held(), self.network());
            let (id, subflow) = (ConnectionId(ask.connection), SubflowId(ask.subflow));
            held.replace(&network, id, subflow)?;
            described(&network, &held, id, subflow)
        })
    }

    /// Starts a connection's lease anew.
    ///
    /// # Errors
    /// No such connection.
    pub fn renew_connection(
        &self,
        ask: &v1::RenewConnectionRequest,
    ) -> Result<v1::RenewConnectionResponse, Problem> {
        self.answer("renew_connection", || {
            self.held().renew(ConnectionId(ask.connection), self.clock.now())?;
            Ok(v1::RenewConnectionResponse { lease_seconds: self.limits.lease_seconds() })
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
            self.held().close(ConnectionId(ask.connection))?;
            Ok(v1::CloseConnectionResponse {})
        })
    }
}

fn asked_connection(
    network: &Network,
    ask: &v1::OpenConnectionRequest,
) -> Result<Request, Problem> {
    Ok(Request {
        pair: paths::pair(network, &ask.from, &ask.to, ask.family)?,
        protocol: ask::protocol(ask.protocol)?,
        ports: ask::ports(network.codec().field(), ask.source_port, ask.destination_port)?,
        subflows: ask::subflows(ask.subflows)?,
        rate: Some(Rate(ask.rate_bps)).filter(|rate| rate.0 > 0),
    })
}

fn described(
    network: &Network,
    held: &Held,
    id: ConnectionId,
    subflow: SubflowId,
) -> Result<v1::Subflow, Problem> {
    let connection = held.get(id)?;
    let missing = SteerError::NoSubflow { connection: id.0, subflow: subflow.0 };
    let one = connection.subflows.get(&subflow).ok_or(missing)?;
    Ok(answer::subflow(network, connection, subflow, one))
}
