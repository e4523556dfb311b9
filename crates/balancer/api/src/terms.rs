//! The terms that configuration, requests and replies share.

use std::fmt;
use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A transport protocol.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// TCP, MPTCP included.
    #[default]
    Tcp,
    /// UDP.
    Udp,
}

impl Protocol {
    /// Its number in the IP header (IANA's "Assigned Internet Protocol Numbers").
    pub fn number(self) -> u8 {
        match self {
            Protocol::Tcp => 6,
            Protocol::Udp => 17,
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Protocol::Tcp => "TCP",
            Protocol::Udp => "UDP",
        })
    }
}

/// The way in which the subflows of one MPTCP connection are kept together.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum MptcpMode {
    /// Tokens are learnt from the handshakes, nothing changes at clients and backends.
    Learn,
    /// Flows go by their source address alone: together as long as a client has one address.
    SourceIp,
    /// Each subflow goes its own way, and most joins fail.
    Off,
    /// Backends tell clients to join at an address of their own (RFC 8684's C flag).
    CFlag,
    /// The balancer chooses the backend's key (RomanRoads as published); backends must adopt it.
    Assign,
}

impl MptcpMode {
    /// Its name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            MptcpMode::Learn => "learn",
            MptcpMode::SourceIp => "source-ip",
            MptcpMode::Off => "off",
            MptcpMode::CFlag => "c-flag",
            MptcpMode::Assign => "assign",
        }
    }
}

impl fmt::Display for MptcpMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Forwarding of packets to a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Forwarding {
    /// By its MAC address.
    L2,
    /// Inside an IP packet.
    Ipip,
    /// Inside a UDP packet.
    Gue,
}

/// A backend of a service.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Backend")]
pub struct BackendEntry {
    /// Its name, in metrics and commands; unique in its service.
    pub name: String,
    /// Its own address.
    pub address: IpAddr,
    /// Its share of new flows, relative to the others', 1000 at most; 0: none. Default: 1.
    #[serde(default = "weight")]
    pub weight: u32,
    /// State: takes new flows, drains, or is in maintenance. Default: up.
    #[serde(default)]
    pub state: BackendState,
    /// It gets new connections only while no other backend of the service is up: a page that says
    /// sorry, for example. Default: false.
    #[serde(default)]
    pub sorry: bool,
    /// The address at which clients join its connections (`mptcp = "c-flag"` only), which no other
    /// backend has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub join_address: Option<IpAddr>,
    /// Its name in connection ids of QUIC (`quic` of the service), in hexadecimal: "00a1". Its
    /// server puts the same into all that it issues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_id: Option<String>,
    /// The number that steering headers know it by, the same on all balancers. Default: made of its
    /// address and its service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<u32>,
}

fn weight() -> u32 {
    1
}

/// State of a backend: takes new flows, drains, or is in maintenance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BackendState {
    /// As its health check says.
    #[default]
    Up,
    /// It keeps the connections that it has, with joins, and gets no new ones.
    Drain,
    /// It counts as down whatever its health check says: its connections go to other backends at
    /// once, which reset them.
    Maintenance,
}

/// The state of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It was not probed yet.
    #[default]
    Unknown,
    /// It serves.
    Up,
    /// It does not.
    Down,
}

/// The conclusion about a balancer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Liveness {
    /// Neither has it answered, nor has it missed enough heartbeats.
    #[default]
    Unknown,
    /// It answers.
    Alive,
    /// It does not answer.
    Dead,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_the_file_has() {
        for mode in [
            MptcpMode::Learn,
            MptcpMode::SourceIp,
            MptcpMode::Off,
            MptcpMode::CFlag,
            MptcpMode::Assign,
        ] {
            assert_eq!(serde_json::to_value(mode).unwrap(), mode.name());
        }
    }
}
