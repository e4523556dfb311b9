//! Validation of requests.

use std::collections::BTreeSet;

use heddle_path_encoder::{Family, PathEncoderError};
use heddle_policy::cflb::{Addresses, Field, Ports};

use crate::{Problem, v1};

/// The most subflows of a connection.
pub const MAX_SUBFLOWS: u32 = 16;
/// The longest name of a node, in bytes.
const MAX_NAME_BYTES: usize = 255;
/// The most nodes of a path: a TTL allows for 255 routers.
const MAX_NODES: usize = 257;
/// The most taken ports of a request.
const MAX_TAKEN_PORTS: usize = 4096;
/// TCP's protocol number.
const TCP: u8 = 6;

/// A node's name, or a host's address.
pub fn name<'a>(field: &'static str, name: &'a str) -> Result<&'a str, Problem> {
    match name.len() {
        0 => Err(Problem::invalid(
            field,
            "a name is missing",
            "name both hosts, or both ends of a link",
        )),
        1..=MAX_NAME_BYTES => Ok(name),
        _ => Err(Problem::invalid(field, "a name is too long", "a name has at most 255 bytes")),
    }
}

/// The names of a path's nodes.
pub fn nodes(nodes: &[String]) -> Result<Vec<&str>, Problem> {
    if nodes.len() > MAX_NODES {
        return Err(Problem::invalid(
            "nodes",
            "the path has too many nodes",
            "give the nodes as the list of the pair's paths has them",
        ));
    }
    nodes.iter().map(|node| name("nodes", node)).collect()
}

/// The number of subflows to open.
pub fn subflows(subflows: u32) -> Result<u16, Problem> {
    match subflows {
        1..=MAX_SUBFLOWS => Ok(subflows as u16),
        _ => Err(Problem::invalid(
            "subflows",
            format!("{subflows} subflows cannot be opened"),
            "ask for 1 to 16 subflows",
        )),
    }
}

/// The lease in seconds, up to `longest`, if one is given.
pub fn lease(seconds: Option<u32>, longest: u32) -> Result<Option<u64>, Problem> {
    match seconds {
        Some(seconds) if !(1..=longest).contains(&seconds) => Err(Problem::invalid(
            "lease_seconds",
            format!("a lease of {seconds} s is not between 1 and {longest} s"),
            "give a lease within these bounds, or leave it out",
        )),
        _ => Ok(seconds.map(u64::from)),
    }
}

/// The limit of a list: `default` for 0, at most `most`.
pub fn limit(limit: u32, default: u32, most: u32) -> Result<usize, Problem> {
    match limit {
        0 => Ok(default as usize),
        _ if limit <= most => Ok(limit as usize),
        _ => Err(Problem::invalid(
            "limit",
            format!("a limit of {limit} is above {most}"),
            "lower the limit",
        )),
    }
}

/// IP's protocol number: TCP's for 0.
pub fn protocol(protocol: u32) -> Result<u8, Problem> {
    match protocol {
        0 => Ok(TCP),
        _ => u8::try_from(protocol).map_err(|_| {
            Problem::invalid(
                "protocol",
                format!("there is no protocol {protocol}"),
                "6 is TCP, 17 is UDP",
            )
        }),
    }
}

/// A version of IP: 4 by default.
pub fn family(family: i32) -> Result<Family, Problem> {
    match v1::Family::try_from(family) {
        Ok(v1::Family::Unspecified | v1::Family::Ipv4) => Ok(Family::V4),
        Ok(v1::Family::Ipv6) => Ok(Family::V6),
        Err(_) => Err(Problem::invalid(
            "family",
            "the family is unknown",
            "set it to \"ipv4\" or \"ipv6\"",
        )),
    }
}

/// A port.
pub fn port(field: &'static str, port: u32) -> Result<u16, Problem> {
    u16::try_from(port).map_err(|_| {
        Problem::invalid(field, format!("there is no port {port}"), "a port is 0 to 65535")
    })
}

/// Source ports that the sender has in use.
pub fn taken(ports: &[u32]) -> Result<BTreeSet<u16>, Problem> {
    if ports.len() > MAX_TAKEN_PORTS {
        return Err(Problem::invalid("taken_ports", "too many taken ports", "list at most 4096"));
    }
    ports.iter().map(|taken| port("taken_ports", *taken)).collect()
}

/// The ports that do not encode the path: the caller must give these and no others, and they must
/// not be taken.
pub fn ports(
    field: Field,
    source: Option<u32>,
    destination: Option<u32>,
    taken: &BTreeSet<u16>,
) -> Result<Ports, Problem> {
    let is_label = field == Field::FlowLabel;
    let source = given(source, "source_port", is_label)?;
    let destination = given(destination, "destination_port", field != Field::Ports)?;
    match is_label && taken.contains(&source) {
        true => Err(Problem::from(PathEncoderError::PortsInUse).in_field("source_port")),
        false => Ok(Ports { source, destination }),
    }
}

/// A port that must be given if it does not encode the path, and must not be given if it does.
fn given(given: Option<u32>, field: &'static str, is_needed: bool) -> Result<u16, Problem> {
    match (given, is_needed) {
        (Some(number), true) => port(field, number),
        (None, false) => Ok(0),
        (None, true) => Err(Problem::invalid(
            field,
            format!("{field} is missing"),
            "this network does not encode paths in it: give the flow's own",
        )),
        (Some(_), false) => Err(Problem::invalid(
            field,
            format!("{field} cannot be given"),
            "this network encodes paths in it: leave it out",
        )),
    }
}

/// A flow label: 20 bits in IPv6, 0 in IPv4.
pub fn flow_label(label: u32, addresses: Addresses) -> Result<u32, Problem> {
    match (label, addresses) {
        (0, _) | (1..=0xf_ffff, Addresses::V6(..)) => Ok(label),
        (_, Addresses::V4(..)) => {
            Err(Problem::invalid("flow_label", "IPv4 has no flow label", "leave it out"))
        }
        _ => Err(Problem::invalid(
            "flow_label",
            format!("there is no flow label {label}"),
            "it has 20 bits",
        )),
    }
}

/// A TTL: the network's default for 0.
pub fn ttl(ttl: u32, default: u8) -> Result<u8, Problem> {
    match ttl {
        0 => Ok(default),
        _ => u8::try_from(ttl).map_err(|_| {
            Problem::invalid("ttl", format!("there is no TTL of {ttl}"), "a TTL is 1 to 255")
        }),
    }
}
