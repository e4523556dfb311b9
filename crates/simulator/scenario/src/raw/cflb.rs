//! CFLB's constants: the keys that a scenario's `[scheme]` and a fabric file's `[cflb]` share, and
//! those that each adds.

use heddle_policy::cflb::{CflbConfig, Cipher, Field, PortRange, Rules};
use heddle_units::Bytes;
use serde::{Deserialize, Deserializer, Serialize};

use crate::Placing;

/// CFLB in a simulation: what all routers and senders share, and how connections are steered.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(deny_unknown_fields))]
pub(crate) struct Cflb {
    #[serde(flatten)]
    pub(crate) constants: CflbConstants,
    #[serde(flatten)]
    pub(crate) steering: Steering,
}

impl<'de> Deserialize<'de> for Cflb {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Cflb, D::Error> {
        #[derive(Deserialize)]
        struct Layers(CflbConstants, Steering);
        Layers::deserialize(from).map(|Layers(constants, steering)| Cflb { constants, steering })
    }
}

/// Constants that all routers and senders of a network share, except for the key.
#[derive(Debug, Default, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CflbConstants {
    /// The header fields that name the path. Default: "ports" (CFLB section 3.3).
    pub(crate) field: CflbField,
    /// The source ports that name paths, as in `"49152-65535"`; others are hashed. Only with
    /// `field = "source-port"`. Default: 0-65535.
    #[cfg_attr(
        feature = "schema",
        schemars(inner(regex(pattern = r"^ *[0-9]+ *(- *[0-9]+ *)?$")))
    )]
    pub(crate) source_ports: Option<String>,
    /// The invertible function. Default: "rc5" for both ports (CFLB section 4.1: the faster of the
    /// paper's two), "feistel" for other fields, which fits them alone.
    pub(crate) cipher: Option<Cipher>,
    /// B, the base of path selectors. Default: the most next hops of any switch of the fabric, at
    /// least 2, and no less can be given (CFLB section 3.2).
    pub(crate) radix: Option<u16>,
    /// Encoding of selectors. Default: "even".
    pub(crate) rules: Rules,
}

impl From<&CflbConfig> for CflbConstants {
    fn from(config: &CflbConfig) -> CflbConstants {
        let (field, source_ports) = match config.field {
            Field::Ports => (CflbField::Ports, None),
            Field::SourcePort(PortRange { low, high }) => {
                (CflbField::SourcePort, Some(format!("{low}-{high}")))
            }
            Field::FlowLabel => (CflbField::FlowLabel, None),
        };
        let (cipher, radix) = (Some(config.cipher), Some(config.radix));
        CflbConstants { field, source_ports, cipher, radix, rules: config.rules }
    }
}

/// The header fields that name the path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CflbField {
    /// Both ports, 32 bits.
    #[default]
    Ports,
    /// The source port, up to 16 bits (CFLB section 5).
    SourcePort,
    /// IPv6's flow label, 20 bits (CFLB section 5). The simulator's packets are IPv4 and have none.
    FlowLabel,
}

/// Placement of connections on paths.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Steering {
    /// Connections with at least this many bytes to send are placed on paths, the others are
    /// hashed. Default: 100KB (Mahout, Curtis et al., INFOCOM 2011: that many bytes in the socket
    /// buffer make an elephant). 0B places every connection.
    pub(crate) elephants: Bytes,
    /// The scheduler's choice of a path. Default: "fewest-flows".
    pub(crate) placing: Placing,
}

impl Default for Steering {
    fn default() -> Steering {
        Steering { elephants: Bytes::kb(100), placing: Placing::FewestFlows }
    }
}

/// CFLB in a network: what all routers and senders share, and what a sender may write.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(deny_unknown_fields))]
pub(crate) struct CflbNetwork {
    #[serde(flatten)]
    pub(crate) constants: CflbConstants,
    #[serde(flatten)]
    pub(crate) sender: Sender,
}

impl<'de> Deserialize<'de> for CflbNetwork {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<CflbNetwork, D::Error> {
        #[derive(Deserialize)]
        struct Layers(CflbConstants, Sender);
        Layers::deserialize(from).map(|Layers(constants, sender)| CflbNetwork { constants, sender })
    }
}

/// Values that a sender may write, and the key.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Sender {
    /// The TTL (hop limit) that senders write, as the first router receives it. Default: 64
    /// (Linux's, and RFC 1700's).
    pub(crate) ttl: u8,
    /// TTLs that may be written instead where the first one leaves no free ports. Default: 64-95: a
    /// selector has 32 digits at most, so that 32 TTLs in a row give it every rotation, and the
    /// lowest still crosses 64 routers.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^ *[0-9]+ *(- *[0-9]+ *)?$")))]
    pub(crate) ttls: String,
    /// Ranges of ports that are never chosen. Default: ["0-1023"] (system ports, RFC 6335).
    #[cfg_attr(
        feature = "schema",
        schemars(inner(regex(pattern = r"^ *[0-9]+ *(- *[0-9]+ *)?$")))
    )]
    pub(crate) reserved: Option<Vec<String>>,
    /// The file of the key, named from this file's folder. Default: none, the key is given
    /// elsewhere.
    pub(crate) key_file: Option<String>,
    /// A check value of the key, 8 hexadecimal digits, by which a wrong key is noticed. Default:
    /// none.
    #[cfg_attr(feature = "schema", schemars(inner(regex(pattern = r"^[0-9a-fA-F]{8}$"))))]
    pub(crate) key_check: Option<String>,
}

impl Default for Sender {
    fn default() -> Sender {
        Sender { ttl: 64, ttls: "64-95".into(), reserved: None, key_file: None, key_check: None }
    }
}
