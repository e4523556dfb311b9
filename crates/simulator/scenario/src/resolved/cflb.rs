//! CFLB's constants, checked against the fabric.

use heddle_policy::cflb::CflbConfig;
use heddle_units::Bytes;
use serde::{Deserialize, Serialize};

/// CFLB in a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Cflb {
    /// Constants that routers and senders share. The field is not the flow label, as packets are
    /// IPv4.
    #[serde(flatten)]
    pub constants: CflbConfig,
    /// Connections with at least this many bytes to send are placed on paths.
    pub elephants: Bytes,
    /// The scheduler's choice of a path.
    pub placing: Placing,
}

/// The scheduler's choice of a path for a subflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Placing {
    /// The path whose links carry the fewest placed flows (CFLB section 4.2.1).
    #[default]
    FewestFlows,
    /// The first path with room for the flow's estimated demand (Hedera's global first fit, NSDI
    /// 2010).
    FirstFit,
}

/// CFLB in a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CflbNetwork {
    /// Constants that routers and senders share.
    #[serde(flatten)]
    pub constants: CflbConfig,
    /// The TTL that senders write, as the first router receives it.
    pub ttl: u8,
    /// Lowest and highest of the TTLs that may be written instead. Each crosses every path of the
    /// fabric, as `ttl` does.
    pub ttls: (u8, u8),
    /// Port ranges that are never chosen, lowest and highest port of each.
    pub reserved: Vec<(u16, u16)>,
    /// The file of the key, as it is written.
    pub key_file: Option<String>,
    /// A check value of the key: 8 hexadecimal digits in lower case.
    pub key_check: Option<String>,
}
