//! A fabric file: a network whose paths are named, without traffic.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{CflbNetwork, Fabric};

/// A Heddle fabric: a network, and how CFLB names its paths.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct FabricFile {
    /// The network, as in a scenario.
    pub(crate) fabric: Fabric,
    /// Constants that CFLB's routers and senders share.
    #[serde(default)]
    pub(crate) cflb: CflbNetwork,
    /// The hosts' addresses.
    #[serde(default)]
    pub(crate) addresses: Addresses,
}

/// The hosts' addresses.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Addresses {
    /// The prefix of IPv4 addresses: hosts are numbered from .1, in order. Default: 10.0.0.0/8 (RFC
    /// 1918).
    pub(crate) ipv4: String,
    /// The prefix of IPv6 addresses, numbered likewise. Default: none, no IPv6 addresses.
    pub(crate) ipv6: Option<String>,
    /// Hosts with addresses of their own, which replace those by number:
    /// `host-3 = ["192.0.2.7", "2001:db8::7"]`.
    pub(crate) hosts: BTreeMap<String, Vec<String>>,
}

impl Default for Addresses {
    fn default() -> Addresses {
        Addresses { ipv4: "10.0.0.0/8".into(), ipv6: None, hosts: BTreeMap::new() }
    }
}
