//! What callers ask for, checked.

use std::collections::BTreeSet;

use heddle_path_encoder::{Family, PathEncoderError};
use heddle_policy::cflb::{Addresses, Field, Ports};

use crate::{Problem, v1};

/// The most subflows of a connection.
pub const MOST_SUBFLOWS: u32 = 16;
/// The longest name of a node, in bytes.
const LONGEST_NAME: usize = 255;
/// The most nodes of a path: a TTL leads through no more routers.
const MOST_NODES: usize = 257;
/// The most ports that a sender may say it has in use.
const MOST_TAKEN: usize = 4096;
/// TCP.
const TCP: u8 = 6;

/// A node's name, or a host's address.
pub fn name(name: &str) -> Result<&str, Problem> {
    match name.len() {
        0 => Err(Problem::invalid("a name is missing", "name both hosts, or both ends of a link")),
        1..=LONGEST_NAME => Ok(name),
        _ => Err(Problem::invalid("a name is too long", "a name has at most 255 bytes")),
    }
}

/// The names of a path's nodes.
pub fn nodes(nodes: &[String]) -> Result<Vec<&str>, Problem> {
    if nodes.len() > MOST_NODES {
        return Err(Problem::invalid(
            "the path has too many nodes",
            "name a path as the list of the pair's paths does",
        ));
    }
    nodes.iter().map(|node| name(node)).collect()
}

/// How many subflows to open.
pub fn subflows(subflows: u32) -> Result<u16, Problem> {
    match subflows {
        1..=MOST_SUBFLOWS => Ok(subflows as u16),
        _ => Err(Problem::invalid(
            format!("{subflows} subflows cannot be opened"),
            "ask for 1 to 16 subflows",
        )),
    }
}

/// The lease to ask for, in seconds, up to `longest`; none if nothing is said.
pub fn lease(seconds: Option<u32>, longest: u32) -> Result<Option<u64>, Problem> {
    match seconds {
        Some(seconds) if !(1..=longest).contains(&seconds) => Err(Problem::invalid(
            format!("a lease of {seconds} s is not among those from 1 to {longest} s"),
            "ask for a lease within these bounds, or leave it out",
        )),
        _ => Ok(seconds.map(u64::from)),
    }
}

/// How many things to list: `default` for 0, at most `most`.
pub fn limit(limit: u32, default: u32, most: u32) -> Result<usize, Problem> {
    match limit {
        0 => Ok(default as usize),
        _ if limit <= most => Ok(limit as usize),
        _ => {
            Err(Problem::invalid(format!("a limit of {limit} is above {most}"), "lower the limit"))
        }
    }
}

/// IP's protocol number: TCP's for 0.
pub fn protocol(protocol: u32) -> Result<u8, Problem> {
    match protocol {
        0 => Ok(TCP),
        _ => u8::try_from(protocol).map_err(|_| {
            Problem::invalid(format!("there is no protocol {protocol}"), "6 is TCP, 17 is UDP")
        }),
    }
}

/// A version of IP: 4 unless said otherwise.
pub fn family(family: i32) -> Result<Family, Problem> {
    match v1::Family::try_from(family) {
        Ok(v1::Family::Unspecified | v1::Family::Ipv4) => Ok(Family::V4),
        Ok(v1::Family::Ipv6) => Ok(Family::V6),
        Err(_) => Err(Problem::invalid("the family is unknown", "ask for IPv4 or IPv6")),
    }
}

/// A port.
pub fn port(port: u32) -> Result<u16, Problem> {
    u16::try_from(port)
        .map_err(|_| Problem::invalid(format!("there is no port {port}"), "a port is 0 to 65535"))
}

/// Ports that the sender has in use.
pub fn taken(ports: &[u32]) -> Result<BTreeSet<u16>, Problem> {
    if ports.len() > MOST_TAKEN {
        return Err(Problem::invalid("too many taken ports", "name at most 4096"));
    }
    ports.iter().map(|taken| port(*taken)).collect()
}

/// The ports that name no path: those that a caller must give, and no others. It must not have said that it has them in use.
pub fn ports(
    field: Field,
    source: Option<u32>,
    destination: Option<u32>,
    taken: &BTreeSet<u16>,
) -> Result<Ports, Problem> {
    let is_label = field == Field::FlowLabel;
    let source = given(source, "source", is_label)?;
    let destination = given(destination, "destination", field != Field::Ports)?;
    match is_label && taken.contains(&source) {
        true => Err(PathEncoderError::PortsInUse.into()),
        false => Ok(Ports { source, destination }),
    }
}

/// A port that must be given if it names no path, and must not be given if it does.
fn given(given: Option<u32>, which: &str, is_needed: bool) -> Result<u16, Problem> {
    match (given, is_needed) {
        (Some(number), true) => port(number),
        (None, false) => Ok(0),
        (None, true) => Err(Problem::invalid(
            format!("the {which} port is missing"),
            "this network does not name paths by it: say which one the flow has",
        )),
        (Some(_), false) => Err(Problem::invalid(
            format!("the {which} port cannot be fixed"),
            "this network names paths by it: leave it out",
        )),
    }
}

/// A flow label: 20 bits in IPv6, 0 in IPv4.
pub fn flow_label(label: u32, addresses: Addresses) -> Result<u32, Problem> {
    match (label, addresses) {
        (0, _) | (1..=0xf_ffff, Addresses::V6(..)) => Ok(label),
        (_, Addresses::V4(..)) => Err(Problem::invalid("IPv4 has no flow label", "leave it out")),
        _ => Err(Problem::invalid(format!("there is no flow label {label}"), "it has 20 bits")),
    }
}

/// A TTL: the network's for 0.
pub fn ttl(ttl: u32, usual: u8) -> Result<u8, Problem> {
    match ttl {
        0 => Ok(usual),
        _ => u8::try_from(ttl).map_err(|_| {
            Problem::invalid(format!("there is no TTL of {ttl}"), "a TTL is 1 to 255")
        }),
    }
}
