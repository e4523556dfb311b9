//! Sources that may use services, and the connections that they may open.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;

use heddle_balancer_maps::abi::{self, ACCESS_SERVICE_BITS, AccessRule, AccessSource};
use heddle_balancer_maps::maps::{self, ServiceLimit};
use ipnet::IpNet;

use super::Plan;
use crate::config::{Access, Config, Rule};

/// A key of `access_rules`, that can be put in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AccessName {
    /// The service's number.
    pub service: u16,
    /// Bits of the source that count, of IPv4 as of a mapped address.
    pub bits: u8,
    /// The source, mapped.
    pub source: Ipv6Addr,
}

impl AccessName {
    fn new(service: u16, prefix: IpNet) -> AccessName {
        let (source, before) = match prefix {
            IpNet::V4(v4) => (v4.addr().to_ipv6_mapped(), 96),
            IpNet::V6(v6) => (v6.addr(), 0),
        };
        AccessName { service, bits: before + prefix.prefix_len(), source }
    }

    /// All sources.
    fn all(service: u16) -> AccessName {
        AccessName { service, bits: 0, source: Ipv6Addr::UNSPECIFIED }
    }
}

impl From<AccessName> for maps::Prefix<AccessSource> {
    fn from(name: AccessName) -> Self {
        let data = AccessSource { vip: name.service, pad: 0, address: name.source.octets() };
        maps::Prefix { bits: ACCESS_SERVICE_BITS + u32::from(name.bits), data }
    }
}

impl From<maps::Prefix<AccessSource>> for AccessName {
    fn from(prefix: maps::Prefix<AccessSource>) -> Self {
        AccessName {
            service: prefix.data.vip,
            bits: prefix.bits.saturating_sub(ACCESS_SERVICE_BITS) as u8,
            source: prefix.data.address.into(),
        }
    }
}

/// Access as a service's entries have it.
pub(super) fn flags(access: &Access) -> u8 {
    let filtered = if access.rules.is_empty() { 0 } else { abi::ACCESS_FILTERED };
    let limited = if access.is_limited() { abi::ACCESS_LIMITED } else { 0 };
    (filtered | limited) as u8
}

/// The rules of all services. Where some sources are allowed, all others are not.
pub(super) fn rules(config: &Config, plan: &Plan) -> BTreeMap<AccessName, u32> {
    let mut rules = BTreeMap::new();
    for service in &config.services {
        let Some(number) = plan.services.index(&service.key()) else { continue };
        if !service.access.is_open() {
            rules.insert(AccessName::all(number), AccessRule::Deny as u32);
        }
        for (prefix, rule) in &service.access.rules {
            let rule = match rule {
                Rule::Allow => AccessRule::Allow,
                Rule::Deny => AccessRule::Deny,
            };
            rules.insert(AccessName::new(number, *prefix), rule as u32);
        }
    }
    rules
}

/// The limits, by service.
pub(super) fn limits(config: &Config, plan: &Plan) -> BTreeMap<u16, ServiceLimit> {
    let limited = config.services.iter().filter(|service| service.access.is_limited());
    let limit = |access: &Access| ServiceLimit {
        service: access.new_connections,
        source: access.source_new_connections,
        ipv4_bits: access.ipv4_bits,
        ipv6_bits: access.ipv6_bits,
    };
    limited.filter_map(|s| Some((plan.services.index(&s.key())?, limit(&s.access)))).collect()
}
