//! The balancer's C, compiled for this machine.
#![allow(unsafe_code, reason = "calls C, which reads and writes through pointers")]

use core::ffi::c_int;
use std::net::{IpAddr, Ipv6Addr};

use heddle_wire::quic::ServerIds;
use heddle_wire::{Key, TcpFlags, Token, Version};

use super::packet::{Packet, Refusal};
use super::{Found, Kind};

/// `struct xdp_md`, as bpf/common/native.h has it: where the frame begins and ends.
#[repr(C)]
struct Context {
    data: usize,
    data_end: usize,
    interface: u32,
}

/// `struct mptcp_found` of bpf/common/options.h.
#[repr(C)]
#[derive(Default)]
struct RawFound {
    kind: u8,
    version: u8,
    flags: u8,
    at: u8,
    length: u8,
    pad: [u8; 3],
    token: u32,
    key: [u8; 8],
}

/// `struct packet` of bpf/common/packet.h. Addresses and ports in network order.
#[repr(C, align(8))]
#[derive(Default)]
struct RawPacket {
    source: [u8; 16],
    destination: [u8; 16],
    source_port: u16,
    destination_port: u16,
    l3: u16,
    l4: u16,
    length: u16,
    protocol: u8,
    tcp_flags: u8,
    options: u8,
    v6: bool,
    fragment: bool,
    later_fragment: bool,
    fragment_id: u32,
    pad: u32,
}

unsafe extern "C" {
    fn balancer_parse(context: *mut Context, out: *mut RawPacket) -> c_int;
    fn find_mptcp(
        context: *mut Context,
        l4: u32,
        bytes: u32,
        tcp_flags: u32,
        out: *mut RawFound,
    ) -> c_int;
    fn balancer_token_v0(key: *const [u8; 8]) -> u32;
    fn balancer_token_v1(key: *const [u8; 8]) -> u32;
    fn balancer_tag(
        key: *const [u64; 2],
        message: *const [u8; 20],
        sender: *const [u64; 2],
        packet: *const RawPacket,
    ) -> u64;
    fn balancer_server_id(
        context: *mut Context,
        rotation: u32,
        length: u32,
        out: *mut [u64; 2],
    ) -> c_int;
    fn balancer_siphash(key: *const [u64; 2], word: u64) -> u64;
}

/// Bytes of a TCP header before its options.
const TCP_HEADER: usize = 20;

/// The balancer's result for the option area of a TCP header with these flags.
///
/// The frame ends with the options, and with its allocation: a sanitizer sees whatever is read
/// beyond.
pub fn find(options: &[u8], flags: TcpFlags) -> Found {
    let frame: Box<[u8]> = [&[0; TCP_HEADER], options].concat().into();
    let bytes = u32::try_from(options.len()).unwrap_or(u32::MAX);
    find_in(&frame, 0, bytes, flags)
}

/// The balancer's result for a frame whose TCP header begins at byte `l4` and claims so many bytes
/// of options.
pub fn find_in(frame: &[u8], l4: u32, bytes: u32, flags: TcpFlags) -> Found {
    let mut context = Context::of(frame);
    let mut out = RawFound::default();
    // SAFETY: the context names a live frame, which the function only reads; it writes `out` only.
    let kind = unsafe { find_mptcp(&raw mut context, l4, bytes, flags.0.into(), &raw mut out) };
    debug_assert_eq!(kind, c_int::from(out.kind), "returned and written");
    Found {
        kind: Kind::from_c(out.kind),
        version: out.version,
        flags: out.flags,
        at: out.at,
        length: out.length,
        token: Token(out.token),
        key: Key(out.key),
    }
}

/// The balancer's parse of a frame.
///
/// # Errors
/// The reason for which it does not process such packets.
pub fn parse(frame: &[u8]) -> Result<Packet, Refusal> {
    let mut context = Context::of(frame);
    let mut out = RawPacket::default();
    // SAFETY: the context names a live frame, which the function only reads; it writes `out` only.
    let parsed = unsafe { balancer_parse(&raw mut context, &raw mut out) };
    match parsed {
        0 => Ok(out.decode()),
        1 => Err(Refusal::NotIp),
        2 => Err(Refusal::OtherProtocol),
        3 => Err(Refusal::ManyTags),
        4 => Err(Refusal::ManyExtensions),
        _ => Err(Refusal::Malformed),
    }
}

impl Context {
    fn of(frame: &[u8]) -> Context {
        let ends = frame.as_ptr_range();
        Context {
            data: ends.start.expose_provenance(),
            data_end: ends.end.expose_provenance(),
            interface: 0,
        }
    }
}

impl RawPacket {
    fn decode(&self) -> Packet {
        let address = |bytes| IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical();
        Packet {
            source: address(self.source),
            destination: address(self.destination),
            source_port: u16::from_be(self.source_port),
            destination_port: u16::from_be(self.destination_port),
            l3: self.l3.into(),
            l4: self.l4.into(),
            length: self.length.into(),
            protocol: self.protocol,
            tcp_flags: self.tcp_flags,
            options: self.options.into(),
            fragment: self.fragment,
            later_fragment: self.later_fragment,
        }
    }
}

/// The balancer's token of a key.
pub fn token(version: Version, key: Key) -> Token {
    // SAFETY: both functions read the eight bytes and nothing else.
    Token(unsafe {
        match version {
            Version::V0 => balancer_token_v0(&raw const key.0),
            Version::V1 => balancer_token_v1(&raw const key.0),
        }
    })
}

/// The balancer's tag of a steering header, as it lies there, from `sender` in front of the packet
/// of this frame; none if the balancer does not process such packets.
pub fn tag(
    key: [u64; 2],
    header: &[u8; 20],
    sender: IpAddr,
    frame: Option<&[u8]>,
) -> Option<[u8; 8]> {
    let mut packet = RawPacket::default();
    if let Some(frame) = frame {
        let mut context = Context::of(frame);
        // SAFETY: the context names a live frame, which the function only reads; it writes `packet`
        // only.
        if unsafe { balancer_parse(&raw mut context, &raw mut packet) } != 0 {
            return None;
        }
    }
    let sender = match sender {
        IpAddr::V4(v4) => v4.to_ipv6_mapped(),
        IpAddr::V6(v6) => v6,
    };
    let sender = [sender.to_bits() >> 64, sender.to_bits()].map(|half| (half as u64).to_be());
    let packet = frame.map_or(core::ptr::null(), |_| &raw const packet);
    // SAFETY: all four are live, or null where the function takes null; it reads them and nothing
    // else.
    Some(unsafe { balancer_tag(&raw const key, header, &raw const sender, packet) }.to_ne_bytes())
}

/// The server id that the balancer reads in a frame of QUIC, with zeros behind it up to 16 bytes;
/// the outer option is none where it sees no UDP packet.
pub fn server_id(frame: &[u8], ids: ServerIds) -> Option<Option<[u8; 16]>> {
    let mut context = Context::of(frame);
    let mut out = [0_u64; 2];
    let (rotation, length) = (ids.rotation().into(), ids.length().into());
    // SAFETY: the context names a live frame, which the function only reads; it writes `out` only.
    let read = unsafe { balancer_server_id(&raw mut context, rotation, length, &raw mut out) };
    let [high, low] = out.map(|word| u128::from(u64::from_be(word)));
    let bytes = (high << 64 | low).to_be_bytes();
    (read >= 0).then_some((read > 0).then_some(bytes))
}

/// The balancer's SipHash-2-4 of the eight bytes that are `word` with the lowest first.
pub fn siphash(key: [u64; 2], word: u64) -> u64 {
    // SAFETY: the function reads the two words and nothing else.
    unsafe { balancer_siphash(&raw const key, word) }
}
