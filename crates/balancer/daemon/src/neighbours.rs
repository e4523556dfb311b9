//! Next hops: the interface and the Ethernet addresses of packets to a backend.
//!
//! They are read by rtnetlink, so that routes, gateways and neighbours are those of any other
//! packet of this machine. A program at XDP does not resolve neighbours by itself, and its packets
//! keep none alive: a [`Resolver`] that meets a missing or a stale neighbour sends an empty UDP
//! datagram to the discard port (RFC 863) of the address, which makes the kernel resolve it. This
//! needs no capability. [`watch()`] resolves again when links, routes or neighbours change.

mod resolver;
mod watch;

pub use resolver::{Resolver, Unreachable};
pub use watch::{NextHops, watch};

use std::net::IpAddr;

/// The first hop of packets to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextHop {
    /// Out of this interface; if the route is by a VLAN interface, out of the one below it.
    pub ifindex: u32,
    /// The VLAN id of the frames' tag; 0: they have none.
    pub vlan: u16,
    /// To this Ethernet address: the destination's own, or its gateway's.
    pub mac: [u8; 6],
    /// From this one: the interface's.
    pub source_mac: [u8; 6],
    /// The most bytes of IP: the route's limit if it has one, else the interface's.
    pub mtu: u32,
    /// The address that the kernel would send from.
    pub source: IpAddr,
}

#[cfg(test)]
mod tests;
