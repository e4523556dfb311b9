//! Frames for measurements and tests: TCP with MPTCP's options, probes.

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

/// A TCP packet over IPv4 with a TTL of 64 and right checksums. Addresses that are none count as 0.0.0.0.
pub fn data(source: &str, destination: &str, ports: (u16, u16), option: MptcpOption) -> Vec<u8> {
    let address = |text: &str| text.parse().unwrap_or(std::net::Ipv4Addr::UNSPECIFIED).octets();
    let (flags, options) = option.parts();
    let mut tcp = Vec::from(ports.0.to_be_bytes());
    tcp.extend(ports.1.to_be_bytes());
    tcp.extend([0, 0, 0, 1, 0, 0, 0, 1, (((20 + options.len()) / 4) << 4) as u8, flags]);
    tcp.extend([0xff, 0xff, 0, 0, 0, 0]);
    tcp.extend(options);
    tcp.extend([0x5a; PAYLOAD]);
    let mut ip = vec![0x45, 0];
    ip.extend((20 + tcp.len() as u16).to_be_bytes());
    ip.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
    ip.extend(address(source));
    ip.extend(address(destination));
    let check = folded(sum(&ip)).to_be_bytes();
    ip[10..12].copy_from_slice(&check);
    let check = folded(sum(&tcp) + sum(&ip[12..20]) + 6 + tcp.len() as u32).to_be_bytes();
    tcp[16..18].copy_from_slice(&check);
    [ethernet(EtherType::IPV4), ip, tcp].concat()
}

/// True if the checksum of an IPv4 header is right.
pub fn header_is_right(ip: &[u8]) -> bool {
    ip.len() >= 20 && folded(sum(&ip[..20])) == 0
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

/// The handshakes of a connection of several subflows from 10.0.0.1 to 10.0.1.1, and a data packet of each.
pub fn connection(subflows: u16) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let (a, b) = (*b"client's", *b"server's");
    let token = Version::V1.token(Key(b));
    let packet = |port, option| data("10.0.0.1", "10.0.1.1", (port, 5000), option);
    let mut handshakes = vec![packet(4000, MptcpOption::Keys(a, b))];
    handshakes.extend((1..subflows).map(|n| packet(4000 + n, MptcpOption::Join(token.0))));
    let data = (0..subflows).map(|n| packet(4000 + n, MptcpOption::Dss)).collect();
    (handshakes, data)
}
