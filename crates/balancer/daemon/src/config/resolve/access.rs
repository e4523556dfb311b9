//! Access to a service by source: checks.

use std::collections::BTreeMap;
use std::net::IpAddr;

use heddle_config::Problem;
use ipnet::IpNet;

use super::super::raw;
use super::super::resolved::{Access, Rule};

/// A source of IPv4 is an address.
const IPV4_BITS: u8 = 32;
/// A source of IPv6 is a network: a host has as many addresses there as it likes.
const IPV6_BITS: u8 = 64;

/// A service's access; everything is allowed where the file says nothing.
pub(super) fn access(service: &raw::Service) -> Result<Access, Problem> {
    let Some(file) = &service.access else { return Ok(Access::default()) };
    check(file, service).map_err(|problem| problem.inside("access"))
}

fn check(file: &raw::Access, service: &raw::Service) -> Result<Access, Problem> {
    let mut rules = BTreeMap::new();
    for (key, texts, rule) in
        [("allow", &file.allow, Rule::Allow), ("deny", &file.deny, Rule::Deny)]
    {
        for (number, text) in texts.iter().enumerate() {
            let place = format!("{key}.{number}");
            let prefix = prefix(text, service.address).map_err(|problem| problem.inside(&place))?;
            if rules.insert(prefix, rule).is_some_and(|other| other != rule) {
                let message = format!("{text} is in `allow`, too");
                return Err(Problem::at(&place, message).help("leave it out of one of them"));
            }
        }
    }
    let access = Access {
        rules,
        new_connections: limit("new_connections", file.new_connections)?,
        source_new_connections: limit("source_new_connections", file.source_new_connections)?,
        ipv4_bits: bits("ipv4_bits", file.ipv4_bits, 32)?.unwrap_or(IPV4_BITS),
        ipv6_bits: bits("ipv6_bits", file.ipv6_bits, 128)?.unwrap_or(IPV6_BITS),
    };
    check_effect(file, &access)?;
    Ok(access)
}

/// Refuses keys without an effect: they would look like a restriction.
fn check_effect(file: &raw::Access, access: &Access) -> Result<(), Problem> {
    let bits = [("ipv4_bits", file.ipv4_bits), ("ipv6_bits", file.ipv6_bits)];
    let given = bits.into_iter().find(|(_, given)| given.is_some());
    if let Some((key, _)) = given
        && access.source_new_connections == 0
    {
        let problem = Problem::at(key, "only `source_new_connections` uses it");
        return Err(problem.help("source_new_connections = 50, or another number"));
    }
    if access.rules.is_empty() && !access.is_limited() {
        let message = "it restricts nothing: there is neither a prefix nor a limit";
        let help =
            "`allow`, `deny`, `new_connections` or `source_new_connections`; or leave `access` out";
        return Err(Problem::new(message).help(help));
    }
    Ok(())
}

fn prefix(text: &str, service: IpAddr) -> Result<IpNet, Problem> {
    let Some(prefix) = parse(text) else {
        let message = format!("`{text}` is no prefix");
        return Err(Problem::new(message).help("an address and a number of bits: \"10.0.0.0/8\""));
    };
    if prefix.addr().is_ipv6() != service.is_ipv6() {
        let message = format!("{text} is of another address family than the service's {service}");
        return Err(Problem::new(message).help("leave it out: no such source reaches the service"));
    }
    if prefix.trunc() != prefix {
        let message = format!("{text} has bits behind its first {}", prefix.prefix_len());
        return Err(Problem::new(message).help(prefix.trunc().to_string()));
    }
    Ok(prefix)
}

/// An address alone is a prefix of all its bits.
fn parse(text: &str) -> Option<IpNet> {
    text.parse().ok().or_else(|| Some(text.parse::<IpAddr>().ok()?.into()))
}

fn limit(key: &str, given: Option<u32>) -> Result<u32, Problem> {
    match given {
        Some(0) => {
            let problem = Problem::at(key, "0 lets nobody in");
            Err(problem.help("1 or more; leave it out for any number"))
        }
        given => Ok(given.unwrap_or(0)),
    }
}

fn bits(key: &str, given: Option<u8>, most: u8) -> Result<Option<u8>, Problem> {
    match given {
        Some(bits) if !(1..=most).contains(&bits) => {
            let message = format!("{bits} is no length of a prefix");
            Err(Problem::at(key, message).help(format!("1 to {most}")))
        }
        given => Ok(given),
    }
}
