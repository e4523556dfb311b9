//! The expected results of the balancer's search for server ids (bpf/common/quic.h), by
//! [`heddle_wire`]'s.

use heddle_wire::quic::ServerIds;
use heddle_wire::{Ethernet, IpPacket};

use super::native;

/// Bytes of a UDP header.
const UDP_HEADER: usize = 8;

/// Has the balancer and the wire crate look for a server id in a frame: what both have found, if it
/// is a UDP packet at all.
///
/// # Errors
/// A description of the difference, if they do not agree.
pub fn compare(frame: &[u8], ids: ServerIds) -> Result<Option<Option<[u8; 16]>>, String> {
    let Some(read) = native::server_id(frame, ids) else { return Ok(None) };
    let wire = expected(frame, ids);
    if wire == Some(read) {
        return Ok(Some(read));
    }
    Err(format!("{ids:?}\nthe balancer: {read:x?}\nthe wire crate: {wire:x?}"))
}

/// `None`: the wire crate sees no UDP packet there.
fn expected(frame: &[u8], ids: ServerIds) -> Option<Option<[u8; 16]>> {
    let ethernet = Ethernet::parse(frame).ok()?;
    let ip = IpPacket::parse(ethernet.ether_type, ethernet.payload).ok()?;
    let &[_, _, _, _, high, low, ..] = ip.payload else { return None };
    let length = usize::from(u16::from_be_bytes([high, low])).min(ip.payload.len());
    let datagram = ip.payload.get(UDP_HEADER..length).unwrap_or_default();
    Some(ids.find(datagram).ok().map(|id| {
        let mut bytes = [0; 16];
        bytes[..id.len()].copy_from_slice(id);
        bytes
    }))
}
