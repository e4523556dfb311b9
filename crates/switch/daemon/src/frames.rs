//! Frames for measurements and tests: TCP with MPTCP's options, probes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use heddle_wire::probe::TorId;
use heddle_wire::{EtherType, Key, Probe, Version};

/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;
/// Bytes of payload of a data packet.
const PAYLOAD: usize = 64;

/// The MPTCP option of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MptcpOption {
    /// None.
    None,
    /// MP_CAPABLE of version 1 with both keys, as in the third packet of a handshake.
    Keys([u8; 8], [u8; 8]),
    /// MP_JOIN in a SYN, with the receiver's token.
    Join(u32),
    /// DSS with a 4-byte acknowledgement.
    Dss,
}

impl MptcpOption {
    /// The TCP flags that go with it, and its bytes with padding.
    fn parts(self) -> (u8, Vec<u8>) {
        const ACK: u8 = 0x10;
        const SYN: u8 = 0x02;
        match self {
            MptcpOption::None => (ACK, vec![]),
            MptcpOption::Keys(a, b) => (ACK, [&[30, 20, 0x01, 0x81], &a[..], &b[..]].concat()),
            MptcpOption::Join(token) => {
                (SYN, [&[30, 12, 0x10, 2][..], &token.to_be_bytes(), &[1, 2, 3, 4]].concat())
            }
            MptcpOption::Dss => (ACK, vec![30, 8, 0x20, 0x01, 0, 0, 0, 1]),
        }
    }
}

fn sum(bytes: &[u8]) -> u32 {
    let words = bytes.chunks(2);
    words.map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0))).sum()
}

fn folded(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// A TCP packet with 64 bytes of payload.
#[derive(Clone, Debug)]
pub struct Tcp {
    /// Sender.
    pub source: IpAddr,
    /// Receiver, of the same family.
    pub destination: IpAddr,
    /// Ports of sender and receiver.
    pub ports: (u16, u16),
    /// TTL or hop limit.
    pub ttl: u8,
    /// IPv6's flow label.
    pub flow_label: u32,
    /// TCP's flags, CWR to FIN.
    pub flags: u8,
    /// The option area: a multiple of 4 bytes, 40 at most.
    pub options: Vec<u8>,
}

impl Tcp {
    /// An acknowledgement with data and a TTL of 64.
    pub fn new(source: IpAddr, destination: IpAddr, ports: (u16, u16)) -> Tcp {
        let (flags, options) = MptcpOption::None.parts();
        Tcp { source, destination, ports, ttl: 64, flow_label: 0, flags, options }
    }

    /// The same with an MPTCP option and the flags that go with it.
    #[must_use]
    pub fn with(self, option: MptcpOption) -> Tcp {
        let (flags, options) = option.parts();
        Tcp { flags, options, ..self }
    }

    /// The Ethernet frame, with right checksums.
    pub fn frame(&self) -> Vec<u8> {
        let mut tcp = self.header();
        tcp.extend(&self.options);
        tcp.extend([0x5a; PAYLOAD]);
        let ip = self.ip(tcp.len() as u16);
        let addresses = if self.destination.is_ipv4() { &ip[12..20] } else { &ip[8..40] };
        let check = folded(sum(&tcp) + sum(addresses) + 6 + tcp.len() as u32).to_be_bytes();
        tcp[16..18].copy_from_slice(&check);
        let kind = if self.destination.is_ipv4() { EtherType::IPV4 } else { EtherType::IPV6 };
        [ethernet(kind), ip, tcp].concat()
    }

    /// The TCP header but for options and checksum.
    fn header(&self) -> Vec<u8> {
        let mut tcp = Vec::from(self.ports.0.to_be_bytes());
        tcp.extend(self.ports.1.to_be_bytes());
        let words = (((20 + self.options.len()) / 4) << 4) as u8;
        tcp.extend([0, 0, 0, 1, 0, 0, 0, 1, words, self.flags, 0xff, 0xff, 0, 0, 0, 0]);
        tcp
    }

    /// The IP header of a packet with so many bytes behind it.
    fn ip(&self, length: u16) -> Vec<u8> {
        let mut ip = Vec::new();
        match (self.source, self.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                ip.extend([0x45, 0]);
                ip.extend((20 + length).to_be_bytes());
                ip.extend([0, 0, 0x40, 0, self.ttl, 6, 0, 0]);
                ip.extend(source.octets());
                ip.extend(destination.octets());
                let check = folded(sum(&ip)).to_be_bytes();
                ip[10..12].copy_from_slice(&check);
            }
            (source, destination) => {
                ip.extend((0x6000_0000 | self.flow_label & 0xf_ffff).to_be_bytes());
                ip.extend(length.to_be_bytes());
                ip.extend([6, self.ttl]);
                ip.extend(v6(source).octets());
                ip.extend(v6(destination).octets());
            }
        }
        ip
    }
}

fn v6(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    }
}

/// A TCP packet with a TTL of 64 and right checksums. Addresses that are none count as 0.0.0.0.
pub fn data(source: &str, destination: &str, ports: (u16, u16), option: MptcpOption) -> Vec<u8> {
    let address = |text: &str| text.parse().unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    Tcp::new(address(source), address(destination), ports).with(option).frame()
}

/// True if the checksum of an IPv4 header without options is right.
pub fn header_is_right(ip: &[u8]) -> bool {
    ip.len() >= 20 && folded(sum(&ip[..20])) == 0
}

/// True if the checksum of an ICMP message is right: with the pseudo-header's addresses for ICMPv6.
pub fn icmp_is_right(message: &[u8], v6_addresses: Option<&[u8]>) -> bool {
    let pseudo = v6_addresses.map_or(0, |both| sum(both) + 58 + message.len() as u32);
    folded(sum(message) + pseudo) == 0
}

fn ethernet(kind: EtherType) -> Vec<u8> {
    let mut header = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    header.extend(kind.0.to_be_bytes());
    header
}

/// A probe of a ToR.
pub fn probe(tor: u16, path_util: u8) -> Vec<u8> {
    let mut frame = ethernet(EtherType::PROBE);
    frame.resize(60, 0);
    if let Some(tor) = TorId::new(tor.into()) {
        // There is room.
        let _ = Probe { tor, path_util }.emit(&mut frame[ETHERNET..]);
    }
    frame
}

/// The handshakes of a connection of several subflows to 10.0.1.1, and a data packet of each; the
/// subflows' ports follow the first one's.
pub fn connection((client, first): (&str, u16), subflows: u16) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let (a, b) = (*b"client's", *b"server's");
    let token = Version::V1.token(Key(b));
    let packet = |n, option| data(client, "10.0.1.1", (first + n, 5000), option);
    let mut handshakes = vec![packet(0, MptcpOption::Keys(a, b))];
    handshakes.extend((1..subflows).map(|n| packet(n, MptcpOption::Join(token.0))));
    let data = (0..subflows).map(|n| packet(n, MptcpOption::Dss)).collect();
    (handshakes, data)
}
