//! Errors, each with its place and a suggested fix.

use std::net::IpAddr;

use heddle_config::nearest;
use heddle_fabric::{FabricError, PathError};
use heddle_policy::cflb::CodecError;

/// An address family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// IPv4.
    #[default]
    V4,
    /// IPv6.
    V6,
}

impl Family {
    /// The family of an address.
    pub const fn of(address: IpAddr) -> Family {
        match address {
            IpAddr::V4(_) => Family::V4,
            IpAddr::V6(_) => Family::V6,
        }
    }
}

impl std::fmt::Display for Family {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(match self {
            Family::V4 => "IPv4",
            Family::V6 => "IPv6",
        })
    }
}

/// Errors of networks, keys, paths, encodings and connections. Switches and hosts have their names
/// of the graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathEncoderError {
    /// The graph is not a valid fabric.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// The constants are not valid for a codec.
    #[error(transparent)]
    Codec(#[from] CodecError),
    /// A pair of hosts has no paths.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A character of the key is not a hexadecimal digit.
    #[error("character {place} of the key is not a hexadecimal digit")]
    KeyDigit {
        /// The character, from 1.
        place: usize,
    },
    /// The key is too long or too short for its cipher.
    #[error("the key has {given} hexadecimal digits, the cipher needs {needed}")]
    KeyLength {
        /// Digits that the cipher needs.
        needed: usize,
        /// Digits that were given.
        given: usize,
    },
    /// The key does not match the check value of the fabric file.
    #[error(
        "this is not the network's key: its check value is {given}, the network's is {expected}"
    )]
    WrongKey {
        /// The network's check value.
        expected: String,
        /// That of the key.
        given: String,
    },
    /// More lists of addresses than hosts, or fewer.
    #[error(
        "{lists} lists of addresses for {hosts} hosts: each host needs one, which may be empty"
    )]
    AddressLists {
        /// Lists that were given.
        lists: usize,
        /// Hosts of the fabric.
        hosts: u32,
    },
    /// Two hosts have the same address.
    #[error("{address} is the address of both {first} and {second}")]
    SharedAddress {
        /// The address.
        address: IpAddr,
        /// The host that has it first.
        first: String,
        /// The other one.
        second: String,
    },
    /// The graph has no link with this number.
    #[error("there is no link number {link}: there are {links}, numbered from 0")]
    NoSuchLink {
        /// The link.
        link: u32,
        /// Links of the graph.
        links: usize,
    },
    /// Two nodes are not linked.
    #[error("there is no link between {a} and {b}")]
    NoLink {
        /// A node.
        a: String,
        /// The other one.
        b: String,
    },
    /// No node has this name.
    #[error("there is no {kind} `{name}`{advice}")]
    Unknown {
        /// `host`, `switch`, `node`.
        kind: &'static str,
        /// The name that was given.
        name: String,
        /// `: did you mean ...`.
        advice: String,
    },
    /// A host's own link is down.
    #[error("the link of {host} to its ToR is down")]
    HostDown {
        /// The host.
        host: String,
    },
    /// A host has no address of a family.
    #[error("{host} has no {family} address: give it one, or ask for the other family")]
    NoAddress {
        /// The host.
        host: String,
        /// The family.
        family: Family,
    },
    /// The two hosts were named by addresses of different families.
    #[error("{from} and {to} are of different families: name both hosts by the same one")]
    Families {
        /// The source's address.
        from: IpAddr,
        /// The destination's.
        to: IpAddr,
    },
    /// A switch of the list is not linked to the one after it as a next hop.
    #[error("{switch} has no next hop {wanted} towards {to}: it has {known}")]
    NotANextHop {
        /// The switch.
        switch: String,
        /// The next switch of the list.
        wanted: String,
        /// The destination.
        to: String,
        /// Its next hops.
        known: String,
    },
    /// The list of switches is too long, too short, or begins elsewhere.
    #[error(
        "the path from {from} must begin at {first} and end at {last}; it is named by its switches in order"
    )]
    NotAPath {
        /// The source.
        from: String,
        /// Its ToR.
        first: String,
        /// The destination's ToR.
        last: String,
    },
    /// A path's number is too high.
    #[error("there is no path number {index}: the pair has {count}, numbered from 0")]
    NoSuchPath {
        /// The number.
        index: u64,
        /// The pair's paths.
        count: u64,
    },
    /// A router has more next hops than the radix.
    #[error(
        "{switch} has {next_hops} next hops, but the radix is {radix}: the network needs a \
         radix of {next_hops} or more"
    )]
    RadixTooSmall {
        /// The router.
        switch: String,
        /// Its next hops.
        next_hops: u16,
        /// B.
        radix: u32,
    },
    /// The path makes more choices than the selector has digits.
    #[error(
        "{first} and {second} read the same digit, and are to choose differently: the \
         selector has {}; take a wider field, a smaller radix or another path",
        if *length == 1 { "1 digit".to_owned() } else { format!("{length} digits") }
    )]
    TooLong {
        /// The nearer router.
        first: String,
        /// The farther one.
        second: String,
        /// L.
        length: u32,
    },
    /// No allowed TTL leads to the end of the path.
    #[error("a TTL of {ttl} does not reach {host}: the path needs {needed} or more")]
    TtlTooLow {
        /// The highest TTL allowed.
        ttl: u8,
        /// The destination.
        host: String,
        /// The lowest TTL that reaches it.
        needed: usize,
    },
    /// The packet has none of the fields that encode a path.
    #[error("the packet has no field that encodes paths: a flow label needs IPv6")]
    NoField,
    /// A router has fewer next hops than the path requires (a path of other routes).
    #[error("{switch} has no next hop number {next_hop}: it has {next_hops}")]
    NoSuchNextHop {
        /// The router.
        switch: String,
        /// The next hop asked for.
        next_hop: u16,
        /// Its next hops.
        next_hops: u16,
    },
    /// Every encoding of the path is in use or reserved.
    #[error(
        "no encoding of the path is free, {tried} tried; close connections of this pair, \
         allow more initial TTLs, or reserve fewer ports"
    )]
    NoneFree {
        /// Encodings that were tried.
        tried: u32,
    },
    /// A connection without subflows.
    #[error("a connection needs at least one subflow")]
    NoSubflows,
    /// Ports are fixed, so that several subflows would have the same ports.
    #[error(
        "paths are named by flow labels and the ports are given: open one subflow, and add \
         each further one with ports of its own"
    )]
    PortsGiven,
    /// The ports are in use.
    #[error("another flow of the same hosts uses these ports")]
    PortsInUse,
    /// No connection has this identifier (any more).
    #[error("there is no connection {0}: it was closed, or its lease has expired")]
    NoConnection(u64),
    /// A connection has no such subflow (any more).
    #[error("connection {connection} has no subflow {subflow}")]
    NoSubflow {
        /// The connection.
        connection: u64,
        /// The subflow.
        subflow: u32,
    },
}

/// The most names that a wrong one is compared with one by one.
const MOST_COMPARED: usize = 1024;

/// The nearest of the known names, if one is near. Of very many, only those with the same number at
/// the end are looked at.
pub(crate) fn did_you_mean<'a>(
    name: &str,
    known: impl ExactSizeIterator<Item = &'a str>,
) -> String {
    let (is_small, wanted) = (known.len() <= MOST_COMPARED, number(name));
    let candidates = known.filter(|known| is_small || number(known) == wanted);
    match nearest(name, candidates.take(MOST_COMPARED)) {
        Some(best) => format!(": did you mean `{best}`?"),
        None => String::new(),
    }
}

/// The digits at the end of a name.
fn number(name: &str) -> &str {
    &name[name.trim_end_matches(|last: char| last.is_ascii_digit()).len()..]
}

#[cfg(test)]
mod tests {
    use super::did_you_mean;

    #[test]
    fn among_many_names_the_number_tells() {
        let hosts: Vec<String> = (1..=65_535).map(|host| format!("host-{host}")).collect();
        let advice = |name| did_you_mean(name, hosts.iter().map(String::as_str));
        assert_eq!(advice("hots-50000"), ": did you mean `host-50000`?");
        assert_eq!(advice("host-70000"), "", "none of them is meant more than another");
        let few = |name| did_you_mean(name, hosts[..1024].iter().map(String::as_str));
        assert_eq!(few("host-10244"), ": did you mean `host-1024`?");
    }
}
