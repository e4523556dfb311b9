//! Access to a service by source, as resolved.

use std::collections::BTreeMap;

use ipnet::IpNet;

/// The fate of a source's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// They are forwarded.
    Allow,
    /// They are dropped.
    Deny,
}

/// Sources that may use a service, and the connections that they may open in a second.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// By prefix, with zeros behind its bits; the longest one decides.
    pub rules: BTreeMap<IpNet, Rule>,
    /// Connections in a second; 0: any number.
    pub new_connections: u32,
    /// Those of one source prefix; 0: any number.
    pub source_new_connections: u32,
    /// Bits of an IPv4 source prefix: 1 to 32.
    pub ipv4_bits: u8,
    /// The same of IPv6: 1 to 128.
    pub ipv6_bits: u8,
}

impl Access {
    /// True if sources that no rule names may use the service.
    pub fn is_open(&self) -> bool {
        !self.rules.values().any(|rule| *rule == Rule::Allow)
    }

    /// True if there is a limit.
    pub fn is_limited(&self) -> bool {
        self.new_connections != 0 || self.source_new_connections != 0
    }
}
