//! The balancer's C, compiled for this machine.
#![allow(unsafe_code, reason = "calls C, which reads and writes through pointers")]

use core::ffi::c_int;

use heddle_wire::{Key, TcpFlags, Token, Version};

use super::{Found, Kind};

/// `struct xdp_md`, as bpf/lib/native.h has it: where the frame begins and ends.
#[repr(C)]
struct Context {
    data: usize,
    data_end: usize,
}

/// `struct mptcp_found` of bpf/lib/options.h.
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

unsafe extern "C" {
    fn find_mptcp(
        context: *mut Context,
        l4: u32,
        bytes: u32,
        tcp_flags: u32,
        out: *mut RawFound,
    ) -> c_int;
    fn balancer_token_v0(key: *const [u8; 8]) -> u32;
    fn balancer_token_v1(key: *const [u8; 8]) -> u32;
    fn balancer_siphash(key: *const [u64; 2], word: u64) -> u64;
}

/// Bytes of a TCP header before its options.
const TCP_HEADER: usize = 20;

/// What the balancer finds in the option area of a TCP header with these flags.
///
/// The frame ends with the options, and with its allocation: a sanitizer sees whatever is read beyond.
pub fn find(options: &[u8], flags: TcpFlags) -> Found {
    let frame: Box<[u8]> = [&[0; TCP_HEADER], options].concat().into();
    let bytes = u32::try_from(options.len()).unwrap_or(u32::MAX);
    find_in(&frame, 0, bytes, flags)
}

/// What the balancer finds in a frame whose TCP header begins at byte `l4` and claims so many bytes of options.
pub fn find_in(frame: &[u8], l4: u32, bytes: u32, flags: TcpFlags) -> Found {
    let ends = frame.as_ptr_range();
    let mut context =
        Context { data: ends.start.expose_provenance(), data_end: ends.end.expose_provenance() };
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

/// The balancer's SipHash-2-4 of the eight bytes that are `word` with the lowest first.
pub fn siphash(key: [u64; 2], word: u64) -> u64 {
    // SAFETY: the function reads the two words and nothing else.
    unsafe { balancer_siphash(&raw const key, word) }
}
