//! Access to a service by source: checks.

use std::collections::BTreeMap;
use std::net::IpAddr;

use heddle_config::Problem;
use ipnet::IpNet;

use super::super::raw;
use super::super::resolved::{Access, Rule};

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
    Ok(Access {
        rules,
        new_connections: limit("new_connections", file.new_connections)?,
        source_new_connections: limit("source_new_connections", file.source_new_connections)?,
        ipv4_bits: bits("ipv4_bits", file.ipv4_bits, 32)?,
        ipv6_bits: bits("ipv6_bits", file.ipv6_bits, 128)?,
    })
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

fn bits(key: &str, given: u8, most: u8) -> Result<u8, Problem> {
    if (1..=most).contains(&given) {
        return Ok(given);
    }
    Err(Problem::at(key, format!("{given} is no length of a prefix")).help(format!("1 to {most}")))
}
