//! What a ToR sees of TCP's handshakes and teardowns.

pub use heddle_wire::tcp::TcpFlags;

use crate::Ingress;

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
