//! TCP handshakes and teardowns, as a ToR parses them.

pub use heddle_wire::tcp::TcpFlags;

use crate::Ingress;

/// A TCP packet that a ToR parses, from or to one of its hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handshake<'a> {
    /// Hash of the 5-tuple in the direction from the ToR's host: the packet's own for a packet from
    /// the host, that of the reversed 5-tuple for a packet to it.
    pub out_hash: u32,
    /// [`Ingress::Host`]: from the host; [`Ingress::Fabric`]: to it.
    pub ingress: Ingress,
    /// Its flags.
    pub flags: TcpFlags,
    /// The option area of its TCP header.
    pub options: &'a [u8],
}
