//! Frames made by etherparse, which knows nothing of the programs.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use etherparse::{
    IpDscp, IpEcn, IpFragOffset, IpNumber, Ipv4Header, Ipv4Options, Ipv6FlowLabel, Ipv6Header,
    TcpHeader, UdpHeader,
};

pub const CLIENT_MAC: [u8; 6] = [2, 0, 0, 0, 0, 0xc];
pub const OUR_MAC: [u8; 6] = [2, 0, 0, 0, 0, 0xb];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    V4,
    V6,
}

pub const FAMILIES: [Family; 2] = [Family::V4, Family::V6];

/// An address of documentation, of either family.
pub const fn address(family: Family, last: u8) -> IpAddr {
    match family {
        Family::V4 => IpAddr::V4(Ipv4Addr::new(192, 0, 2, last)),
        Family::V6 => IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last as u16)),
    }
}

pub const fn client(family: Family) -> IpAddr {
    address(family, 9)
}

pub const fn service(family: Family) -> IpAddr {
    address(family, 80)
}

/// An IP header in the making: DF, no options, 64 hops, id 0.
#[derive(Clone, Copy, Debug)]
pub struct Ip {
    pub source: IpAddr,
    pub destination: IpAddr,
    pub protocol: IpNumber,
    /// DSCP and ECN.
    pub class: u8,
    pub label: u32,
}

impl Ip {
    /// The packet with this payload.
    pub fn packet(&self, payload: &[u8]) -> Vec<u8> {
        let mut bytes = match (self.source, self.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                self.v4(source, destination, payload.len()).to_bytes().to_vec()
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                self.v6(source, destination, payload.len()).to_bytes().to_vec()
            }
            _ => panic!("one family"),
        };
        bytes.extend(payload);
        bytes
    }

    pub fn v4(&self, source: Ipv4Addr, destination: Ipv4Addr, length: usize) -> Ipv4Header {
        let mut header = Ipv4Header {
            dscp: IpDscp::try_new(self.class >> 2).unwrap(),
            ecn: IpEcn::try_new(self.class & 3).unwrap(),
            total_len: (Ipv4Header::MIN_LEN + length).try_into().unwrap(),
            identification: 0,
            dont_fragment: true,
            more_fragments: false,
            fragment_offset: IpFragOffset::ZERO,
            time_to_live: 64,
            protocol: self.protocol,
            header_checksum: 0,
            source: source.octets(),
            destination: destination.octets(),
            options: Ipv4Options::new(),
        };
        header.header_checksum = header.calc_header_checksum();
        header
    }

    fn v6(&self, source: Ipv6Addr, destination: Ipv6Addr, length: usize) -> Ipv6Header {
        Ipv6Header {
            traffic_class: self.class,
            flow_label: Ipv6FlowLabel::try_new(self.label).unwrap(),
            payload_length: length.try_into().unwrap(),
            next_header: self.protocol,
            hop_limit: 64,
            source: source.octets(),
            destination: destination.octets(),
        }
    }
}

/// A client's frame to the service: TCP with `length` bytes behind its header.
pub fn from_client(family: Family, class: u8, length: usize) -> Vec<u8> {
    between(client(family), service(family), class, length)
}

pub fn between(source: IpAddr, destination: IpAddr, class: u8, length: usize) -> Vec<u8> {
    let payload: Vec<u8> = (0..length).map(|byte| byte as u8).collect();
    let mut tcp = TcpHeader::new(40000, 443, 1, 1000);
    tcp.checksum = match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            tcp.calc_checksum_ipv4_raw(source.octets(), destination.octets(), &payload).unwrap()
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            tcp.calc_checksum_ipv6_raw(source.octets(), destination.octets(), &payload).unwrap()
        }
        _ => panic!("one family"),
    };
    let segment = [tcp.to_bytes().to_vec(), payload].concat();
    Ip { source, destination, protocol: IpNumber::TCP, class, label: 0x54321 }.packet(&segment)
}

/// A UDP datagram without a checksum.
pub fn datagram(source_port: u16, destination_port: u16, payload: &[u8]) -> Vec<u8> {
    let length = (UdpHeader::LEN + payload.len()).try_into().unwrap();
    let header = UdpHeader { source_port, destination_port, length, checksum: 0 };
    [header.to_bytes().to_vec(), payload.to_vec()].concat()
}

/// A frame with an IP packet in it.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub destination: [u8; 6],
    pub source: [u8; 6],
    /// Priority and id of a VLAN tag.
    pub tag: Option<u16>,
}

/// Without a tag, in VLAN 100 and with a priority alone, as frames come from the client.
pub const LINKS: [Link; 3] = [
    Link { destination: OUR_MAC, source: CLIENT_MAC, tag: None },
    Link { destination: OUR_MAC, source: CLIENT_MAC, tag: Some(0x6064) },
    Link { destination: OUR_MAC, source: CLIENT_MAC, tag: Some(0x6000) },
];

impl Link {
    pub fn frame(&self, packet: &[u8]) -> Vec<u8> {
        let ethertype: u16 = if packet[0] >> 4 == 6 { 0x86dd } else { 0x0800 };
        let mut frame = [self.destination, self.source].concat();
        if let Some(tag) = self.tag {
            frame.extend(0x8100_u16.to_be_bytes());
            frame.extend(tag.to_be_bytes());
        }
        frame.extend(ethertype.to_be_bytes());
        frame.extend(packet);
        frame
    }

    /// With the tag of a VLAN, or of none (0). The priority in a tag stays (802.1Q, 9.6).
    pub fn in_vlan(self, vlan: u16) -> Link {
        const VLAN_ID: u16 = 0xfff;
        let tag = match vlan {
            0 => self.tag.filter(|tag| tag & VLAN_ID == 0),
            _ => Some(self.tag.unwrap_or(0) & !VLAN_ID | vlan),
        };
        Link { tag, ..self }
    }

    /// The way back.
    pub fn back(&self) -> Self {
        Self { destination: self.source, source: self.destination, ..*self }
    }
}
