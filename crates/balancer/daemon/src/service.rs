//! The terms for a service that configuration, admin protocol and plan share.

use std::fmt;

use heddle_balancer_maps::abi;
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

/// The mode in the program's maps. With `c-flag` the join addresses do the work, and the program looks at no options.
impl From<MptcpMode> for abi::MptcpMode {
    fn from(mode: MptcpMode) -> abi::MptcpMode {
        match mode {
            MptcpMode::Learn => abi::MptcpMode::Learn,
            MptcpMode::SourceIp => abi::MptcpMode::SourceIp,
            MptcpMode::Off | MptcpMode::CFlag => abi::MptcpMode::Off,
            MptcpMode::Assign => abi::MptcpMode::Assign,
        }
    }
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
