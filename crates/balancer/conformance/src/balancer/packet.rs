//! The fields that the balancer reads in a frame.

use std::net::IpAddr;

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
