//! Services and their backends, as resolved.

use std::net::IpAddr;

use heddle_hashing::hash::ServiceKey;

use crate::health::Check;
use crate::ids::WireId;
use crate::service::{MptcpMode, Protocol};

/// A service: an address, port and protocol whose flows are spread over backends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Its name; unique.
    pub name: String,
    /// Its address.
    pub address: IpAddr,
    /// Its port.
    pub port: u16,
    /// Its transport protocol.
    pub protocol: Protocol,
    /// The group of services with the same backends that it is in; `None`: it is alone.
    pub group: Option<String>,
    /// Method to keep subflows together.
    pub mptcp: MptcpMode,
    /// Forwarding of packets to backends.
    pub forwarding: Forwarding,
    /// The end of packets to its address that cannot be read up to their ports.
    pub unparsable: Unparsable,
    /// Health check and the TCP port that it probes; `None`: all backends count as up.
    pub health: Option<(Check, u16)>,
    /// Backends, in the file's order.
    pub backends: Vec<Backend>,
}

impl Service {
    /// Its identity, the same on all balancers.
    pub fn key(&self) -> ServiceKey {
        let address = match self.address {
            IpAddr::V4(v4) => v4.to_ipv6_mapped(),
            IpAddr::V6(v6) => v6,
        };
        ServiceKey { address, port: self.port, protocol: self.protocol.number() }
    }
}

/// Forwarding of packets to a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forwarding {
    /// By its MAC address.
    L2,
    /// Inside an IP packet.
    Ipip,
    /// Inside a UDP packet.
    Gue,
}

/// The end of packets that cannot be read up to their ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unparsable {
    /// Passed to this machine's own stack.
    Pass,
    /// Dropped.
    Drop,
}

/// A backend of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backend {
    /// The number that all balancers use for it, in this service.
    pub id: WireId,
    /// Its name; unique in its service.
    pub name: String,
    /// Its own address.
    pub address: IpAddr,
    /// Its share of new flows; 0: none.
    pub weight: u32,
    /// True if the file drains it.
    pub drained: bool,
    /// The address at which clients join its connections; with `c-flag` always there, else never.
    pub join_address: Option<IpAddr>,
}
