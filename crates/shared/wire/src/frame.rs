//! Parsing of a frame down to its TCP header.

use crate::{Ethernet, IpPacket, ParseError, TcpSegment, ip};

/// A frame that holds a TCP segment, or the first fragment of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TcpFrame<'a> {
    /// Ethernet.
    pub ethernet: Ethernet<'a>,
    /// IPv4 or IPv6.
    pub ip: IpPacket<'a>,
    /// TCP. Its options are the input of [`crate::mptcp::find`].
    pub tcp: TcpSegment<'a>,
}

impl<'a> TcpFrame<'a> {
    /// Parses a frame. A frame with MP-HULA's shim is not parsed further: parse the shim first
    /// ([`crate::Shim::parse`]).
    ///
    /// # Errors
    /// [`ParseError::OtherKind`] unless it is TCP over IPv4 or IPv6, and the errors of each
    /// header's parser.
    pub fn parse(frame: &'a [u8]) -> Result<TcpFrame<'a>, ParseError> {
        let ethernet = Ethernet::parse(frame)?;
        let ip = IpPacket::parse(ethernet.ether_type, ethernet.payload)?;
        if ip.protocol != ip::TCP {
            return Err(ParseError::OtherKind);
        }
        Ok(TcpFrame { ethernet, ip, tcp: TcpSegment::parse(ip.payload)? })
    }
}
