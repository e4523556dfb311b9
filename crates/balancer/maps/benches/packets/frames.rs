//! The packets.

use std::net::{IpAddr, Ipv4Addr};

use etherparse::{PacketBuilder, PacketBuilderStep, TcpOptionElement as O};
use heddle_balancer_maps::abi::SteeringKind;
use heddle_balancer_maps::steering::{Inner, Message};

use super::balancers::{KEY, OTHER_BALANCER, PORT, STEERING_PORT, UDP_PORT, VIP4};

pub const SYN: u8 = 2;
pub const ACK: u8 = 16;

pub const SERVER_ID: [u8; 2] = [0, 0xa1];
pub const CAPABLE: [u8; 4] = [30, 4, 0x01, 0x01];
pub const KEYS: [u8; 20] = [30, 20, 0x01, 0x01, 1, 2, 3, 4, 5, 6, 7, 8, 0x0b, 2, 3, 4, 5, 6, 7, 8];
pub const JOIN: [u8; 12] = [30, 12, 0x10, 2, 0x11, 0x22, 0x33, 0x44, 9, 9, 9, 9];
pub const DSS: [u8; 8] = [30, 8, 0x20, 0x01, 0, 0, 0, 1];

/// From a client.
fn to(vip: IpAddr) -> PacketBuilderStep<etherparse::IpHeaders> {
    let ethernet = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 9], [2, 0, 0, 0, 0, 1]);
    match vip {
        IpAddr::V4(vip) => ethernet.ipv4([198, 51, 100, 7], vip.octets(), 64),
        IpAddr::V6(vip) => {
            let client = [0x20, 1, 0xd, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7];
            ethernet.ipv6(client, vip.octets(), 64)
        }
    }
}

/// A frame of a client to the service, with TCP options as Linux sends them and then `mptcp`.
pub fn frame(vip: IpAddr, flags: u8, mptcp: &[u8], payload: usize) -> Vec<u8> {
    let mut tcp = to(vip).tcp(50_000, PORT, 1, 64_240);
    if flags & SYN != 0 {
        tcp = tcp.syn();
    }
    if flags & ACK != 0 {
        tcp = tcp.ack(1);
    }
    let linux = if flags & SYN != 0 {
        vec![
            O::MaximumSegmentSize(1460),
            O::SelectiveAcknowledgementPermitted,
            O::Timestamp(1, 0),
            O::Noop,
            O::WindowScale(7),
        ]
    } else {
        vec![O::Noop, O::Noop, O::Timestamp(1, 1)]
    };
    let mut options =
        etherparse::TcpOptions::try_from_elements(&linux).unwrap_or_default().as_slice().to_vec();
    options.extend_from_slice(mptcp);
    let tcp = tcp.options_raw(&options).unwrap_or_else(|error| panic!("{error}"));
    let mut bytes = Vec::new();
    tcp.write(&mut bytes, &vec![0; payload]).unwrap_or_else(|error| panic!("{error}"));
    bytes
}

/// A packet of an established QUIC connection, whose connection id names a backend.
pub fn quic(vip: IpAddr) -> Vec<u8> {
    datagram_to(vip, PORT, &[&[0x40, 7][..], &SERVER_ID, &[0x5a; 30]].concat())
}

/// A datagram to the service without QUIC.
pub fn datagram(vip: IpAddr) -> Vec<u8> {
    datagram_to(vip, UDP_PORT, &[0; 34])
}

fn datagram_to(vip: IpAddr, port: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let written = to(vip).udp(50_000, port).write(&mut bytes, payload);
    written.unwrap_or_else(|error| panic!("{error}"));
    bytes
}

/// A message of the other balancer, with a client's packet behind it.
pub fn message(kind: SteeringKind, client: Option<&[u8]>) -> Vec<u8> {
    let inner = Inner {
        source: Ipv4Addr::new(198, 51, 100, 7).into(),
        destination: VIP4,
        protocol: 6,
        ports: [50_000, PORT],
    };
    let message = Message { backend: 1, ..Message::of(kind) };
    let header = message.signed(KEY, OTHER_BALANCER, client.map(|_| &inner));
    let ethernet = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 9], [2, 0, 0, 0, 0, 1]);
    let udp = ethernet.ipv4([10, 0, 0, 3], [10, 0, 0, 1], 64).udp(STEERING_PORT, STEERING_PORT);
    let payload = [&header[..], client.map_or(&[], |frame| &frame[14..])].concat();
    let mut bytes = Vec::new();
    udp.write(&mut bytes, &payload).unwrap_or_else(|error| panic!("{error}"));
    bytes
}
