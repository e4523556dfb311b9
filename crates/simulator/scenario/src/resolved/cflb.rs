//! CFLB's constants, checked against the fabric.

use heddle_units::Bytes;
use serde::Serialize;

/// Constants that all routers and senders share, except for the key (Detal et al., Computer Networks 2013).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CflbConstants {
    /// The header fields that name the path.
    pub field: CflbField,
    /// The invertible function; it fits the field.
    pub cipher: CflbCipher,
    /// B, at least 2 and not below the next hops of any switch; a selector has one digit at least.
    pub radix: u16,
    /// Encoding of selectors.
    pub rules: CflbRules,
}

/// CFLB in a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Cflb {
    /// Constants that routers and senders share. The field is not the flow label, as packets are IPv4.
    #[serde(flatten)]
    pub constants: CflbConstants,
    /// Connections with at least this many bytes to send are placed on paths.
    pub elephants: Bytes,
    /// The scheduler's choice of a path.
    pub placing: Placing,
}

/// The header fields that name the path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CflbField {
    /// Both ports.
    #[default]
    Ports,
    /// The source port, where it is in a range.
    SourcePort {
        /// The lowest.
        low: u16,
        /// The highest, not below `low`.
        high: u16,
    },
    /// IPv6's flow label.
    FlowLabel,
}

/// The invertible function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CflbCipher {
    /// RC5 with blocks of 32 bits: both ports.
    Rc5,
    /// Skip32: both ports.
    Skip32,
    /// A Feistel network: any field.
    Feistel,
}

/// Encoding of selectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CflbRules {
    /// Even distribution of flows that are not steered.
    #[default]
    Even,
    /// As the paper has it.
    AsPublished,
}

/// The scheduler's choice of a path for a subflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placing {
    /// The path whose links carry the fewest placed flows (CFLB section 4.2.1).
    #[default]
    FewestFlows,
    /// The first path with room for the flow's estimated demand (Hedera's global first fit).
    FirstFit,
}

/// CFLB in a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CflbNetwork {
    /// Constants that routers and senders share.
    #[serde(flatten)]
    pub constants: CflbConstants,
    /// The TTL that senders write, as the first router receives it.
    pub ttl: u8,
    /// Lowest and highest of the TTLs that may be written instead. Each crosses every path of the fabric, as `ttl` does.
    pub ttls: (u8, u8),
    /// Port ranges that are never chosen, lowest and highest port of each.
    pub reserved: Vec<(u16, u16)>,
    /// The file of the key, as it is written.
    pub key_file: Option<String>,
    /// A check value of the key: 8 hexadecimal digits in lower case.
    pub key_check: Option<String>,
}
