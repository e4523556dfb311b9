//! Access to a service by source.

use schemars::JsonSchema;
use serde::Deserialize;

/// Sources that may use a service, and the connections that they may open.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::config) struct Access {
    /// Prefixes of sources that may use it, as in `["10.0.0.0/8"]`; others may not. Default: all
    /// may.
    #[serde(default)]
    pub(in crate::config) allow: Vec<String>,
    /// Prefixes of sources that may not. Of all prefixes that a source has, the longest one
    /// decides. Default: none.
    #[serde(default)]
    pub(in crate::config) deny: Vec<String>,
    /// Connections that may be opened in a second, at this balancer. Default: any number.
    pub(in crate::config) new_connections: Option<u32>,
    /// The same from each source prefix. Default: any number.
    pub(in crate::config) source_new_connections: Option<u32>,
    /// Bits of an IPv4 source prefix, whose connections are counted together; for
    /// `source_new_connections` only. Default: 32.
    pub(in crate::config) ipv4_bits: Option<u8>,
    /// The same of IPv6. Default: 64.
    pub(in crate::config) ipv6_bits: Option<u8>,
}
