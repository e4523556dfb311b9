//! Services and their backends, as resolved.

use std::net::IpAddr;
use std::time::Duration;

use heddle_balancer_api::Forwarding;
use heddle_hashing::hash::ServiceKey;
use heddle_wire::quic::ServerIds;

use super::{Access, Ports};
use crate::health::Check;
use crate::ids::WireId;
use crate::service::{MptcpMode, Protocol};

/// A service: an address, ports and a protocol whose flows are spread over backends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Its name; unique.
    pub name: String,
    /// Its address.
    pub address: IpAddr,
    /// Its ports.
    pub ports: Ports,
    /// Its transport protocol.
    pub protocol: Protocol,
    /// The group of services with the same backends that it is in; `None`: it is alone.
    pub group: Option<String>,
    /// Method to keep subflows together.
    pub mptcp: MptcpMode,
    /// The connection ids of QUIC that name its backends; `None`: they are not looked at.
    pub quic: Option<ServerIds>,
    /// With `assign`: backends put the assigned keys in place of their kernel's own.
    pub translated: bool,
    /// Forwarding of packets to backends.
    pub forwarding: Forwarding,
    /// The end of packets to its address that cannot be read up to their ports.
    pub unparsable: Unparsable,
    /// The end of packets to its address and a port without a service; `None`: other services of
    /// the address decide, else they are passed.
    pub closed_ports: Option<ClosedPorts>,
    /// The end of ICMP echo requests to its address; `None`: as of `closed_ports`.
    pub echo: Option<Echo>,
    /// Sources that may use it.
    pub access: Access,
    /// Health check and the TCP port that it probes; `None`: all backends count as up.
    pub health: Option<(Check, u16)>,
    /// Time in which the share of a backend that is new or up again grows to that of its weight.
    pub slow_start: Duration,
    /// The service whose backends it has; `None`: its own.
    pub backends_of: Option<String>,
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
        ServiceKey { address, port: self.ports.first(), protocol: self.protocol.number() }
    }

    /// The name of the service that its backends belong to.
    pub fn owner(&self) -> &str {
        self.backends_of.as_ref().unwrap_or(&self.name)
    }

    /// True if its backends are its own, and not another service's.
    pub fn owns_backends(&self) -> bool {
        self.backends_of.is_none()
    }

    /// Its address with its ports: `192.0.2.10:443`, `[2001:db8::10]:8000-8099`.
    pub fn endpoint(&self) -> String {
        match self.address {
            IpAddr::V4(v4) => format!("{v4}:{}", self.ports),
            IpAddr::V6(v6) => format!("[{v6}]:{}", self.ports),
        }
    }
}

/// The end of packets that cannot be read up to their ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unparsable {
    /// Passed to this machine's own stack.
    Pass,
    /// Dropped.
    Drop,
}

/// The end of packets to a port without a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosedPorts {
    /// Passed to this machine's own stack.
    Pass,
    /// Dropped.
    Drop,
    /// Answered by a TCP reset or ICMP "port unreachable".
    Refuse,
}

/// The end of ICMP echo requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Echo {
    /// Passed to this machine's own stack.
    Pass,
    /// Dropped.
    Drop,
    /// Answered.
    Answer,
}

/// The largest weight of a backend.
pub const MAX_WEIGHT: u32 = 1000;

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
    /// True if the file takes it out of service: it counts as down.
    pub in_maintenance: bool,
    /// True if it gets new connections only while no other backend is up.
    pub sorry: bool,
    /// The address at which clients join its connections; with `c-flag` always there, else never.
    pub join_address: Option<IpAddr>,
    /// Its name in connection ids; in a service with `quic` always there, else never.
    pub server_id: Option<Vec<u8>>,
}
