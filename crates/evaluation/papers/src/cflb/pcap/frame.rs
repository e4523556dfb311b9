//! Header fields of one captured frame that CFLB and hashes read.

use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket};
use heddle_policy::cflb::{Addresses, Fields, Ports};
use pcap_parser::Linktype;

/// Kinds of links, by what stands before IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    Ethernet,
    /// Nothing.
    Ip,
    /// Four bytes (BSD's loopback); IP's own version is asked.
    Loopback,
    /// 16 bytes, the EtherType at the end.
    Cooked,
    /// 20 bytes, the EtherType at the start.
    Cooked2,
}

impl Link {
    /// By its number (the tcpdump group's list of link types); raw IP has several, as BSDs differ.
    pub(super) fn of(link: Linktype) -> Option<Link> {
        Some(match link.0 {
            1 => Link::Ethernet,
            12 | 14 | 101 | 228 | 229 => Link::Ip,
            0 | 108 => Link::Loopback,
            113 => Link::Cooked,
            276 => Link::Cooked2,
            _ => return None,
        })
    }
}

/// Kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// Has ports.
    Packet(Fields),
    /// A fragment: its ports are not read.
    Fragment(Fields),
    /// Another protocol, or cut off before the ports.
    Portless(Fields),
    /// ARP and the like.
    NotIp,
    /// The IP header is cut off or broken.
    Broken,
}

/// Protocols whose headers begin with both ports: TCP, UDP, DCCP, SCTP, UDP-Lite.
const WITH_PORTS: [u8; 5] = [6, 17, 33, 132, 136];

pub(super) fn read(link: Link, data: &[u8]) -> Frame {
    let Some(packet) = slice(link, data) else { return Frame::Broken };
    match &packet.net {
        Some(LaxNetSlice::Ipv4(ip)) => {
            let header = ip.header();
            let addresses = Addresses::V4(header.source_addr(), header.destination_addr());
            let fields = Fields { ttl: header.ttl(), ..bare(addresses) };
            with_ports(fields, ip.payload())
        }
        Some(LaxNetSlice::Ipv6(ip)) => {
            let header = ip.header();
            let addresses = Addresses::V6(header.source_addr(), header.destination_addr());
            let flow_label = header.flow_label().value();
            let fields = Fields { ttl: header.hop_limit(), flow_label, ..bare(addresses) };
            with_ports(fields, ip.payload())
        }
        _ if packet.stop_err.is_some() => Frame::Broken,
        _ => Frame::NotIp,
    }
}

fn slice(link: Link, data: &[u8]) -> Option<LaxSlicedPacket<'_>> {
    match link {
        Link::Ethernet => LaxSlicedPacket::from_ethernet(data).ok(),
        Link::Ip => LaxSlicedPacket::from_ip(data).ok(),
        Link::Loopback => LaxSlicedPacket::from_ip(data.get(4..)?).ok(),
        Link::Cooked => cooked(data, 14, 16),
        Link::Cooked2 => cooked(data, 0, 20),
    }
}

fn cooked(data: &[u8], type_at: usize, header: usize) -> Option<LaxSlicedPacket<'_>> {
    let payload = data.get(header..)?;
    let ether_type = u16::from_be_bytes([data[type_at], data[type_at + 1]]);
    Some(LaxSlicedPacket::from_ether_type(EtherType(ether_type), payload))
}

fn bare(addresses: Addresses) -> Fields {
    Fields { addresses, protocol: 0, ports: None, flow_label: 0, ttl: 0 }
}

fn with_ports(fields: Fields, payload: &etherparse::LaxIpPayloadSlice) -> Frame {
    let fields = Fields { protocol: payload.ip_number.0, ..fields };
    if payload.fragmented {
        return Frame::Fragment(fields);
    }
    match payload.payload.first_chunk() {
        Some(&ports) if WITH_PORTS.contains(&fields.protocol) => {
            let ports = Some(Ports::from_bits(u32::from_be_bytes(ports)));
            Frame::Packet(Fields { ports, ..fields })
        }
        _ => Frame::Portless(fields),
    }
}
