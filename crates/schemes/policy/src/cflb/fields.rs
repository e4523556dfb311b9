//! Packet header fields of CFLB.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A packet's addresses, both of one family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// IPv4: source and destination.
    V4(Ipv4Addr, Ipv4Addr),
    /// IPv6: source and destination.
    V6(Ipv6Addr, Ipv6Addr),
}

impl Addresses {
    /// `None` if the two are of different families.
    pub const fn new(source: IpAddr, destination: IpAddr) -> Option<Addresses> {
        match (source, destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                Some(Addresses::V4(source, destination))
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                Some(Addresses::V6(source, destination))
            }
            _ => None,
        }
    }
}

/// A packet's ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ports {
    /// The sender's.
    pub source: u16,
    /// The receiver's.
    pub destination: u16,
}

impl Ports {
    /// Both as they stand in a TCP or UDP header: 32 bits, the source port first.
    #[inline]
    pub const fn bits(self) -> u32 {
        (self.source as u32) << 16 | self.destination as u32
    }

    /// From both as they stand in a header.
    #[inline]
    pub const fn from_bits(bits: u32) -> Ports {
        Ports { source: (bits >> 16) as u16, destination: bits as u16 }
    }
}

/// Packet header fields that CFLB reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields {
    /// Addresses.
    pub addresses: Addresses,
    /// The protocol's number (6 is TCP, 17 UDP): IPv4's field, or the last next-header field of
    /// IPv6.
    pub protocol: u8,
    /// Ports; `None` in a protocol without and in fragments but the first.
    pub ports: Option<Ports>,
    /// IPv6's flow label, 20 bits; 0 in IPv4.
    pub flow_label: u32,
    /// IPv4's time to live or IPv6's hop limit, as the router receives the packet.
    pub ttl: u8,
}
