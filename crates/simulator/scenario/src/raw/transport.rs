//! `[transport]`.

use heddle_transport::TcpConfig;
use heddle_transport::mptcp::MptcpConfig;
use heddle_transport::uet::UetConfig;
use serde::{Deserialize, Deserializer, Serialize};

/// The hosts' protocol.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", schemars(tag = "kind"))]
pub(crate) enum Transport {
    /// TCP.
    Tcp(TcpConfig),
    /// Multipath TCP (RFC 8684): a connection's subflows differ in their client's port.
    #[serde(deserialize_with = "mptcp")]
    Mptcp(#[cfg_attr(feature = "schema", schemars(with = "Mptcp"))] MptcpConfig),
    /// Ultra Ethernet's transport: packets in any order, windows by NSCC or credit of receivers.
    Uet(UetConfig),
}

impl Default for Transport {
    fn default() -> Transport {
        Transport::Tcp(TcpConfig::default())
    }
}

/// MPTCP's parameters and those of its subflows, with the place of each mistake.
fn mptcp<'de, D: Deserializer<'de>>(from: D) -> Result<MptcpConfig, D::Error> {
    #[derive(Deserialize)]
    struct Layers(MptcpConfig, TcpConfig);
    Layers::deserialize(from).map(|Layers(mptcp, tcp)| MptcpConfig { tcp, ..mptcp })
}

/// The keys of both. The receive window is the connection's.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "it is a schema alone")]
struct Mptcp {
    #[schemars(flatten)]
    connection: MptcpConfig,
    #[schemars(flatten)]
    tcp: TcpConfig,
}
