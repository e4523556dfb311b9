//! The packets of probes.

use std::net::{IpAddr, SocketAddr};

use etherparse::{IpNumber, PacketBuilder};

use crate::health::Failure;
use crate::neighbours::NextHop;

const TTL: u8 = 64;
const WINDOW: u16 = 65_535;

/// A segment of the probe's connection, by its sequence number.
#[derive(Clone, Copy, Debug)]
pub(super) enum Segment {
    Syn(u32),
    Reset(u32),
}

fn local(error: impl std::fmt::Display) -> Failure {
    Failure::Local(error.to_string())
}

/// A packet with a segment.
pub(super) fn segment(
    from: SocketAddr,
    to: SocketAddr,
    segment: Segment,
) -> Result<Vec<u8>, Failure> {
    let ip = match (from.ip(), to.ip()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => PacketBuilder::ipv4(from.octets(), to.octets(), TTL),
        (IpAddr::V6(from), IpAddr::V6(to)) => PacketBuilder::ipv6(from.octets(), to.octets(), TTL),
        _ => return Err(local("the balancer has no address of the service's family")),
    };
    let tcp = match segment {
        Segment::Syn(seq) => ip.tcp(from.port(), to.port(), seq, WINDOW).syn(),
        Segment::Reset(seq) => ip.tcp(from.port(), to.port(), seq, 0).rst(),
    };
    let mut packet = Vec::with_capacity(tcp.size(0));
    tcp.write(&mut packet, &[]).map_err(local)?;
    Ok(packet)
}

/// A packet in a packet.
pub(super) fn in_ip(from: IpAddr, to: IpAddr, inner: &[u8]) -> Result<Vec<u8>, Failure> {
    let protocol = if is_ipv6(inner) { IpNumber::IPV6 } else { IpNumber::IPV4 };
    let ip = match (from, to) {
        (IpAddr::V4(from), IpAddr::V4(to)) => PacketBuilder::ipv4(from.octets(), to.octets(), TTL),
        (IpAddr::V6(from), IpAddr::V6(to)) => PacketBuilder::ipv6(from.octets(), to.octets(), TTL),
        _ => return Err(local("the balancer has no address of the backend's family")),
    };
    let mut packet = Vec::with_capacity(ip.size(inner.len()));
    ip.write(&mut packet, protocol, inner).map_err(local)?;
    Ok(packet)
}

/// A frame to a next hop, with its VLAN's tag.
pub(super) fn frame(hop: &NextHop, packet: &[u8]) -> Vec<u8> {
    let mut frame = [hop.mac, hop.source_mac].concat();
    if hop.vlan != 0 {
        frame.extend(0x8100_u16.to_be_bytes());
        frame.extend(hop.vlan.to_be_bytes());
    }
    let kind: u16 = if is_ipv6(packet) { 0x86dd } else { 0x0800 };
    frame.extend(kind.to_be_bytes());
    frame.extend(packet);
    frame
}

fn is_ipv6(packet: &[u8]) -> bool {
    packet.first().is_some_and(|byte| byte >> 4 == 6)
}

/// The TCP segment in an IPv4 packet, as a raw socket gives it.
pub(super) fn in_ipv4(packet: &[u8]) -> Option<&[u8]> {
    packet.get(usize::from(packet.first()? & 0xf) * 4..)
}

/// An answer, as far as it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) source_port: u16,
    pub(super) destination_port: u16,
    pub(super) ack: u32,
    pub(super) kind: Kind,
}

/// The kind of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    SynAck,
    Reset,
    Other,
}

pub(super) fn answer(segment: &[u8]) -> Option<Answer> {
    let port = |at: usize| Some(u16::from_be_bytes(segment.get(at..at + 2)?.try_into().ok()?));
    let flags = *segment.get(13)?;
    Some(Answer {
        source_port: port(0)?,
        destination_port: port(2)?,
        ack: u32::from_be_bytes(segment.get(8..12)?.try_into().ok()?),
        kind: match flags & 0x17 {
            0x12 => Kind::SynAck,
            0x14 => Kind::Reset,
            _ => Kind::Other,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOP: NextHop = NextHop {
        ifindex: 2,
        vlan: 0,
        mac: [2, 0, 0, 0, 0, 1],
        source_mac: [2, 0, 0, 0, 0, 2],
        mtu: 1500,
        source: IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED),
    };

    #[test]
    fn a_frame_has_the_next_hops_addresses_and_its_tag() {
        let inner = segment(
            "10.0.0.1:4000".parse().unwrap(),
            "192.0.2.10:443".parse().unwrap(),
            Segment::Syn(7),
        )
        .unwrap();
        assert_eq!(frame(&HOP, &inner)[..14], [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]);
        let tagged = frame(&NextHop { vlan: 7, ..HOP }, &inner);
        assert_eq!(tagged[12..18], [0x81, 0, 0, 7, 8, 0]);
        let outer = in_ip([10, 0, 0, 1].into(), [10, 0, 0, 101].into(), &inner).unwrap();
        assert_eq!((outer[9], &outer[20..]), (4, &inner[..]));
    }

    #[test]
    fn an_answer_is_a_syn_ack_or_a_reset_with_the_acknowledgement() {
        let mut bytes = [0; 20];
        bytes[..4].copy_from_slice(&[1, 0xbb, 0x0f, 0xa0]);
        bytes[8..12].copy_from_slice(&8_u32.to_be_bytes());
        for (flags, kind) in [(0x12, Kind::SynAck), (0x14, Kind::Reset), (0x10, Kind::Other)] {
            bytes[13] = flags;
            let wanted = Answer { source_port: 443, destination_port: 4000, ack: 8, kind };
            assert_eq!(answer(&bytes), Some(wanted));
        }
        assert_eq!(answer(&bytes[..13]), None);
        let mut packet = vec![0x45; 1];
        packet.resize(20, 0);
        packet.extend(bytes);
        assert_eq!(in_ipv4(&packet), Some(&bytes[..]));
    }
}
