//! The way from a frame to its TCP header.

use crate::{Ethernet, IpPacket, ParseError, TcpSegment, ip};

/// A frame that holds a TCP segment, or the first fragment of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TcpFrame<'a> {
    /// Ethernet.
    pub ethernet: Ethernet<'a>,
    /// IPv4 or IPv6.
    pub ip: IpPacket<'a>,
    /// TCP: its options are what [`crate::mptcp::find`] takes.
    pub tcp: TcpSegment<'a>,
}

impl<'a> TcpFrame<'a> {
    /// Reads a frame. One behind MP-HULA's shim is not looked into: read the shim first ([`crate::Shim::parse`]).
    ///
    /// # Errors
    /// [`ParseError::OtherKind`] unless it is TCP over IPv4 or IPv6, and what the headers' own parsers find.
    pub fn parse(frame: &'a [u8]) -> Result<TcpFrame<'a>, ParseError> {
        let ethernet = Ethernet::parse(frame)?;
        let ip = IpPacket::parse(ethernet.ether_type, ethernet.payload)?;
        if ip.protocol != ip::TCP {
            return Err(ParseError::OtherKind);
        }
        Ok(TcpFrame { ethernet, ip, tcp: TcpSegment::parse(ip.payload)? })
    }
}
