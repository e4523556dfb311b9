//! The frame that a described packet is.

use std::net::IpAddr;

use etherparse::{PacketBuilder, PacketBuilderStep, TcpHeader};
use heddle_wire::mptcp::{CapableFlags, CapableKeys, MpCapable, MpJoin};
use heddle_wire::{Key, MptcpOption as OnWire, Token, Version, tcp::MAX_OPTION_BYTES};

use crate::admin::{MptcpOption, Packet, QuicPacket};
use crate::hex;
use crate::service::Protocol;

/// The longest payload of a frame that the kernel takes for a test run, less all headers.
const MOST_PAYLOAD: u16 = 3000;
/// The first byte of a short header, and what is in front of the connection id's length in an
/// Initial of version 1 (RFC 9000, section 17).
const SHORT_HEADER: u8 = 0x40;
const INITIAL: [u8; 5] = [0xc0, 0, 0, 0, 1];
/// Bytes of UDP payload: more than the longest connection id with 21 behind it; a client's first
/// datagram (RFC 9000, section 14.1).
const LEAST_SHORT: u16 = 50;
const LEAST_INITIAL: u16 = 1200;
/// Invented addresses: the program does not read them.
const MACS: [[u8; 6]; 2] = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]];
const HOPS: u8 = 64;
const WINDOW: u16 = 65_535;
const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const PSH: u8 = 8;
const ACK: u8 = 16;

/// The frame, or why there is none.
pub(super) fn of(packet: &Packet) -> Result<Vec<u8>, String> {
    if packet.payload > MOST_PAYLOAD {
        return Err(format!(
            "a packet that can be explained has {MOST_PAYLOAD} bytes of payload at most"
        ));
    }
    let payload = payload(packet)?;
    let mut frame = Vec::new();
    let ip = ip(packet)?;
    let written = match packet.protocol {
        Protocol::Tcp if packet.quic.is_some() => return Err("QUIC runs over UDP".into()),
        Protocol::Udp if packet.mptcp.is_some() => return Err("UDP has no MPTCP options".into()),
        Protocol::Udp => {
            let (source, destination) = (packet.source.port(), packet.destination.port());
            ip.udp(source, destination).write(&mut frame, &payload)
        }
        Protocol::Tcp => ip.tcp_header(tcp(packet)?).write(&mut frame, &payload),
    };
    written.map_err(|error| error.to_string())?;
    Ok(frame)
}

/// The bytes behind the TCP or UDP header.
pub(super) fn payload(packet: &Packet) -> Result<Vec<u8>, String> {
    let (mut bytes, least) = match &packet.quic {
        None => (Vec::new(), 0),
        Some(QuicPacket::Short { connection_id }) => {
            ([&[SHORT_HEADER], &*id(connection_id)?].concat(), LEAST_SHORT)
        }
        Some(QuicPacket::Initial { connection_id }) => {
            let id = id(connection_id)?;
            ([&INITIAL[..], &[id.len() as u8], &id].concat(), LEAST_INITIAL)
        }
    };
    let wanted = if packet.payload == 0 { least } else { packet.payload };
    bytes.resize(bytes.len().max(wanted.into()), 0);
    Ok(bytes)
}

/// A connection id, of version 1's lengths (RFC 9000, section 17.2).
fn id(text: &str) -> Result<Vec<u8>, String> {
    let id = hex::bytes(text).filter(|id| id.len() <= 20);
    id.ok_or_else(|| format!("`{text}` is no connection id: up to 40 hexadecimal digits, in pairs"))
}

fn ip(packet: &Packet) -> Result<PacketBuilderStep<etherparse::IpHeaders>, String> {
    let [source, destination] = MACS;
    let ethernet = PacketBuilder::ethernet2(source, destination);
    match (packet.source.ip(), packet.destination.ip()) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            Ok(ethernet.ipv4(source.octets(), destination.octets(), HOPS))
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            Ok(ethernet.ipv6(source.octets(), destination.octets(), HOPS))
        }
        (source, destination) => {
            Err(format!("{source} and {destination} are not of one version of IP"))
        }
    }
}

fn tcp(packet: &Packet) -> Result<TcpHeader, String> {
    let has = |flag| packet.flags & flag != 0;
    let mut header = TcpHeader::new(packet.source.port(), packet.destination.port(), 1, WINDOW);
    (header.fin, header.syn, header.rst) = (has(FIN), has(SYN), has(RST));
    (header.psh, header.ack) = (has(PSH), has(ACK));
    if let Some(option) = packet.mptcp {
        let mut bytes = [0; MAX_OPTION_BYTES];
        let length = wire(option, packet.payload).emit(&mut bytes).map_err(|e| e.to_string())?;
        header.set_options_raw(&bytes[..length]).map_err(|error| error.to_string())?;
    }
    Ok(header)
}

/// The option as it is on the wire. Keys with data come with the data's mapping (RFC 8684, section
/// 3.1).
fn wire(option: MptcpOption, payload: u16) -> OnWire {
    let capable = |keys| {
        let (version, flags) = (Version::V1, CapableFlags::HMAC);
        OnWire::Capable(MpCapable { version, flags, keys })
    };
    let key = |key: u64| Key(key.to_be_bytes());
    match option {
        MptcpOption::Capable => capable(CapableKeys::None),
        MptcpOption::Keys { sender, receiver } => {
            let (sender, receiver) = (key(sender), key(receiver));
            capable(match payload {
                0 => CapableKeys::Both { sender, receiver },
                len => CapableKeys::WithData { sender, receiver, len, checksum: None },
            })
        }
        MptcpOption::Join { token } => {
            OnWire::Join(MpJoin::Syn { backup: false, address: 1, token: Token(token), nonce: 0 })
        }
    }
}
