//! Services and their backends, as resolved.

use std::net::IpAddr;

use heddle_hashing::hash::ServiceKey;

use crate::health::Check;
use crate::ids::WireId;
use crate::service::{MptcpMode, Protocol};

/// What is balanced.
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
    /// How subflows are kept together.
    pub mptcp: MptcpMode,
    /// How packets get to backends.
    pub forwarding: Forwarding,
    /// How it is found out whether a backend serves, and the TCP port asked; `None`: all count as up.
    pub health: Option<(Check, u16)>,
    /// Who serves, in the file's order.
    pub backends: Vec<Backend>,
}

impl Service {
    /// What all balancers call it.
    pub fn key(&self) -> ServiceKey {
        let address = match self.address {
            IpAddr::V4(v4) => v4.to_ipv6_mapped(),
            IpAddr::V6(v6) => v6,
        };
        ServiceKey { address, port: self.port, protocol: self.protocol.number() }
    }
}

/// How packets get to a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forwarding {
    /// By its MAC address.
    L2,
    /// Inside an IP packet.
    Ipip,
    /// Inside a UDP packet.
    Gue,
}

/// Who serves.
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
    /// Whether the file drains it.
    pub drained: bool,
    /// Where clients join its connections; with `c-flag` always there, else never.
    pub join_address: Option<IpAddr>,
}
