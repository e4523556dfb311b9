//! A later fragment: what it says of its packet, and the question about it to another balancer.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use heddle_hashing::hash::FragmentKey;

use crate::abi::SteeringKind;
use crate::steering::{Inner, Message, SteeringKey};

const ETHERNET: usize = 14;
const TAG: usize = 4;
/// Bytes of the IPv6 fragment header (RFC 8200, section 4.5).
const FRAGMENT_HEADER: usize = 8;
/// Of the fragment's data that a question has.
const DATA: usize = 8;
/// The IPv6 fragment header's number, which stands in keys for that of the transport.
const FRAGMENT: u8 = 44;
/// Headers in front of the fragment header that the program walks.
const EXTENSIONS: usize = 4;

/// A later fragment's packet, as far as its header names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// The fields that all of the packet's fragments have.
    pub key: FragmentKey,
    /// The fields that a steering header's tag is about.
    inner: Inner,
    /// Its headers and first bytes, as a packet of their own.
    head: Vec<u8>,
}

impl Fragment {
    /// Of a frame, from its Ethernet header on; none if it is no later fragment.
    pub fn of(frame: &[u8]) -> Option<Fragment> {
        let kind = frame.get(12..ETHERNET)?;
        let packet = frame.get(if kind == [0x81, 0] { ETHERNET + TAG } else { ETHERNET }..)?;
        match packet.first()? >> 4 {
            4 => v4(packet),
            6 => v6(packet),
            _ => None,
        }
    }

    /// True for IPv6.
    pub fn is_ipv6(&self) -> bool {
        self.inner.source.is_ipv6()
    }

    /// The question of the balancer at `own`, which signs with `key`: a datagram to the steering
    /// port of another one.
    pub fn question(&self, key: SteeringKey, own: IpAddr) -> Vec<u8> {
        let message = Message::of(SteeringKind::FragmentQuery);
        [&message.signed(key, own, Some(&self.inner))[..], &self.head].concat()
    }
}

fn v4(packet: &[u8]) -> Option<Fragment> {
    let header = usize::from(packet[0] & 0xf) * 4;
    let (fixed, id) = (packet.get(..20)?, [*packet.get(4)?, *packet.get(5)?]);
    if header < 20 || u16::from_be_bytes([fixed[6], fixed[7]]) & 0x1fff == 0 {
        return None;
    }
    let address = |at: usize| Some(Ipv4Addr::from(*fixed.get(at..at + 4)?.first_chunk::<4>()?));
    let (source, destination, protocol) = (address(12)?, address(16)?, fixed[9]);
    let mut head = packet.get(..packet.len().min(header + DATA))?.to_vec();
    if head.len() < header {
        return None;
    }
    let length = (head.len() as u16).to_be_bytes();
    head[2..4].copy_from_slice(&length);
    head[10..12].fill(0);
    let sum = checksum(&head[..header]).to_be_bytes();
    head[10..12].copy_from_slice(&sum);
    let id = u32::from(u16::from_ne_bytes(id));
    let key = FragmentKey {
        source: source.to_ipv6_mapped(),
        destination: destination.to_ipv6_mapped(),
        id,
        protocol,
    };
    let (source, destination) = (source.into(), destination.into());
    Some(Fragment { key, inner: inner(source, destination, protocol, id), head })
}

fn v6(packet: &[u8]) -> Option<Fragment> {
    let mut next = *packet.get(6)?;
    let mut at = 40;
    for _ in 0..EXTENSIONS {
        let header = packet.get(at..at + FRAGMENT_HEADER)?;
        if next == FRAGMENT {
            return v6_part(packet, at);
        }
        if ![0, 43, 60].contains(&next) {
            return None;
        }
        next = header[0];
        at += (usize::from(header[1]) + 1) * 8;
    }
    None
}

/// With the fragment header at this byte.
fn v6_part(packet: &[u8], at: usize) -> Option<Fragment> {
    let header = packet.get(at..at + FRAGMENT_HEADER)?;
    if u16::from_be_bytes([header[2], header[3]]) & 0xfff8 == 0 {
        return None;
    }
    let address = |at: usize| Some(Ipv6Addr::from(*packet.get(at..at + 16)?.first_chunk::<16>()?));
    let (source, destination) = (address(8)?, address(24)?);
    let id = u32::from_ne_bytes(*header[4..].first_chunk::<4>()?);
    let mut head = packet.get(..packet.len().min(at + FRAGMENT_HEADER + DATA))?.to_vec();
    let length = ((head.len() - 40) as u16).to_be_bytes();
    head[4..6].copy_from_slice(&length);
    let key = FragmentKey { source, destination, id, protocol: FRAGMENT };
    Some(Fragment { key, inner: inner(source.into(), destination.into(), header[0], id), head })
}

/// The identification stands where other packets have ports, byte by byte as the program has it.
fn inner(source: IpAddr, destination: IpAddr, protocol: u8, id: u32) -> Inner {
    let [a, b, c, d] = id.to_ne_bytes();
    let ports = [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])];
    Inner { source, destination, protocol, ports }
}

/// RFC 1071.
fn checksum(header: &[u8]) -> u16 {
    let (words, _) = header.as_chunks::<2>();
    let sum: u32 = words.iter().map(|&word| u32::from(u16::from_be_bytes(word))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}
