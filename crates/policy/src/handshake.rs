//! What a ToR sees of TCP's handshakes and teardowns.

use core::ops::BitOr;

use crate::Ingress;

/// The flags of a TCP header that open and close connections, as on the wire (RFC 9293 section 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFlags(pub u8);

impl TcpFlags {
    /// The sender has sent its last byte.
    pub const FIN: TcpFlags = TcpFlags(0x01);
    /// Opens a connection.
    pub const SYN: TcpFlags = TcpFlags(0x02);
    /// Ends the connection at once.
    pub const RST: TcpFlags = TcpFlags(0x04);
    /// The acknowledgement number counts.
    pub const ACK: TcpFlags = TcpFlags(0x10);

    /// Whether all of `flags` are set.
    pub const fn contains(self, flags: TcpFlags) -> bool {
        self.0 & flags.0 == flags.0
    }
}

impl BitOr for TcpFlags {
    type Output = TcpFlags;

    fn bitor(self, other: TcpFlags) -> TcpFlags {
        TcpFlags(self.0 | other.0)
    }
}

/// A TCP packet that a ToR looks into, from one of its hosts or to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handshake<'a> {
    /// Hash of the 5-tuple in the direction that leaves the ToR's host: the packet's own if it comes from the host, that of the
    /// exchanged 5-tuple if it goes to it.
    pub out_hash: u32,
    /// [`Ingress::Host`]: from the host; [`Ingress::Fabric`]: to it.
    pub ingress: Ingress,
    /// Its flags.
    pub flags: TcpFlags,
    /// The option area of its TCP header.
    pub options: &'a [u8],
}
