//! The expected results of the balancer's parser of packets (bpf/common/packet.h), by
//! [`heddle_wire`]'s parser.
//!
//! The balancer takes no packet that the wire crate refuses, but for later fragments, which the
//! wire crate knows as such. It refuses none of TCP that the wire crate takes, unless the packet
//! has more than [`EXTENSION_HEADERS`] extension headers, or an IPv4-mapped address in IPv6. The
//! reason for a refusal must be the right one.

use std::net::IpAddr;

use heddle_wire::{EtherType, Ethernet, IpPacket, ParseError, TcpSegment, ip};

use super::native;
use super::packet::{Packet, Refusal};

/// The most IPv6 extension headers that the balancer passes over.
pub const EXTENSION_HEADERS: usize = 4;

const ICMP: u8 = 1;
const UDP: u8 = 17;
const ICMPV6: u8 = 58;
/// 802.1ad's.
const SERVICE_TAG: EtherType = EtherType(0x88a8);
/// Ethernet, and what the balancer reads at once: shorter frames have no packet for it.
const LEAST: usize = 18;

/// Has the balancer and the wire crate read a frame.
///
/// # Errors
/// A description of the difference, if they do not agree as the module says.
pub fn compare(frame: &[u8]) -> Result<Option<Packet>, String> {
    let read = native::parse(frame);
    let ethernet = Ethernet::parse(frame);
    let wire = ethernet.and_then(|ethernet| IpPacket::parse(ethernet.ether_type, ethernet.payload));
    let agreed = match (&read, &wire) {
        (Ok(packet), Ok(ip)) => agrees(packet, ip, frame),
        (Ok(packet), Err(error)) => packet.later_fragment && *error == ParseError::Fragment,
        (Err(refusal), _) => agrees_to_refuse(*refusal, &wire, frame),
    };
    agreed
        .then_some(read.ok())
        .ok_or_else(|| format!("the balancer: {read:?}\nthe wire crate: {wire:?}"))
}

/// True if the reason is the right one, as far as the wire crate can tell.
fn agrees_to_refuse(
    refusal: Refusal,
    wire: &Result<IpPacket<'_>, ParseError>,
    frame: &[u8],
) -> bool {
    match (ether_type(frame), wire) {
        (None, _) => refusal == Refusal::Malformed,
        (Some(EtherType::VLAN | SERVICE_TAG), _) => refusal == Refusal::ManyTags,
        (Some(EtherType::IPV4 | EtherType::IPV6), Ok(ip)) => match refusal {
            Refusal::OtherProtocol => !matches!(ip.protocol, ip::TCP | UDP | ICMP | ICMPV6),
            Refusal::ManyExtensions => has_many_headers(frame),
            Refusal::Malformed => is_mapped(frame) || is_cut(ip),
            Refusal::NotIp | Refusal::ManyTags => false,
        },
        (Some(EtherType::IPV4 | EtherType::IPV6), Err(error)) => match refusal {
            Refusal::OtherProtocol => *error == ParseError::Fragment,
            Refusal::ManyExtensions | Refusal::Malformed => true,
            Refusal::NotIp | Refusal::ManyTags => false,
        },
        _ => refusal == Refusal::NotIp,
    }
}

/// Of what is in the frame behind one tag or none; none for a frame too short for a packet.
fn ether_type(frame: &[u8]) -> Option<EtherType> {
    let at =
        |at: usize| Some(EtherType(u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?])));
    match at(12).filter(|_| frame.len() >= LEAST)? {
        EtherType::VLAN => at(16),
        other => Some(other),
    }
}

/// An IPv6 packet with an address that stands for one of IPv4.
fn is_mapped(frame: &[u8]) -> bool {
    let Ok(Ethernet { ether_type: EtherType::IPV6, payload, .. }) = Ethernet::parse(frame) else {
        return false;
    };
    let is = |at: usize| payload[at..at + 12] == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
    is(8) || is(24)
}

/// No whole header of the transport.
fn is_cut(ip: &IpPacket<'_>) -> bool {
    match ip.protocol {
        ip::TCP => TcpSegment::parse(ip.payload).is_err(),
        UDP => ip.payload.len() < 8,
        _ => false,
    }
}

fn agrees(packet: &Packet, ip: &IpPacket<'_>, frame: &[u8]) -> bool {
    let l4 = ip.payload.as_ptr().addr() - frame.as_ptr().addr();
    let lies = packet.l4 == l4 && packet.l3 + packet.length == l4 + ip.payload.len();
    let named = (canonical(packet.source), canonical(packet.destination), packet.protocol)
        == (canonical(ip.source), canonical(ip.destination), ip.protocol);
    lies && named && !packet.later_fragment && agrees_behind(packet, ip)
}

/// The balancer has one form for an IPv4 address and the IPv6 address that maps it.
fn canonical(address: IpAddr) -> IpAddr {
    address.to_canonical()
}

fn agrees_behind(packet: &Packet, ip: &IpPacket<'_>) -> bool {
    let ports = (packet.source_port, packet.destination_port);
    match (ip.protocol, ip.payload) {
        (ip::TCP, segment) => TcpSegment::parse(segment).is_ok_and(|tcp| {
            ports == (tcp.source_port, tcp.destination_port)
                && (packet.tcp_flags, packet.options) == (tcp.flags.0, tcp.options.len())
        }),
        (UDP, &[a, b, c, d, _, _, _, _, ..]) => {
            ports == (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]))
        }
        (UDP, _) => false,
        _ => ports == (0, 0),
    }
}

/// Of a frame that the wire crate takes.
fn has_many_headers(frame: &[u8]) -> bool {
    let Ok(Ethernet { ether_type: EtherType::IPV6, payload, .. }) = Ethernet::parse(frame) else {
        return false;
    };
    let (mut kind, mut at, mut headers) = (payload[6], 40, 0);
    while matches!(kind, 0 | 43 | 44 | 60) {
        let words = if kind == 44 { 0 } else { usize::from(payload[at + 1]) };
        kind = payload[at];
        at += 8 * (words + 1);
        headers += 1;
    }
    headers > EXTENSION_HEADERS
}
