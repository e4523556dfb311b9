//! The fields that the balancer reads in a frame.

use std::net::IpAddr;

/// The reasons for which the balancer reads no packet in a frame: `enum parsed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Neither IPv4 nor IPv6.
    NotIp,
    /// None of TCP, UDP and ICMP.
    OtherProtocol,
    /// More VLAN tags than one, or one that is not 802.1Q's.
    ManyTags,
    /// More IPv6 extension headers than the balancer walks.
    ManyExtensions,
    /// Headers that fit neither the frame nor each other, or an IPv4-mapped address in IPv6.
    Malformed,
}

/// `struct packet`, with addresses and ports as numbers. Offsets and lengths are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The sender.
    pub source: IpAddr,
    /// The receiver.
    pub destination: IpAddr,
    /// The sender's port; 0 where there is none.
    pub source_port: u16,
    /// The receiver's port; 0 where there is none.
    pub destination_port: u16,
    /// Offset of the IP header in the frame.
    pub l3: usize,
    /// Offset of the header after IP.
    pub l4: usize,
    /// From the IP header on, as that says.
    pub length: usize,
    /// The protocol of the header after IP.
    pub protocol: u8,
    /// TCP's flags.
    pub tcp_flags: u8,
    /// Bytes of TCP options.
    pub options: usize,
    /// Part of a packet.
    pub fragment: bool,
    /// Part of a packet, and not its first.
    pub later_fragment: bool,
}
