//! A TCP header's options as the C and the wire crate read them.
#![allow(unsafe_code, reason = "calls C, which reads and writes through pointers")]

use core::ffi::c_int;

use heddle_wire::Version;
use heddle_wire::mptcp::{self, CapableKeys, MpJoin, MptcpOption};
use heddle_wire::tcp::MAX_OPTION_BYTES;

use crate::abi::{Handshake, HandshakeOption, STEP_OPTIONS};

/// `struct tcp_options` of bpf/common/mptcp.h.
type Buffer = [u8; STEP_OPTIONS as usize];

unsafe extern "C" {
    fn handshake_read(options: *const Buffer, bytes: u32, out: *mut Handshake) -> c_int;
}

/// The option, version, number of keys, token and keys.
type Read = (HandshakeOption, u8, u8, u32, Vec<u8>);

/// Reads the first 40 bytes of `options` by both.
///
/// # Errors
/// The difference.
pub fn compare(options: &[u8]) -> Result<(), String> {
    let options = &options[..options.len().min(MAX_OPTION_BYTES)];
    let (c, rust) = (in_c(options), in_rust(options));
    if c == rust { Ok(()) } else { Err(format!("{options:02x?}\nC:    {c:?}\nRust: {rust:?}")) }
}

fn in_c(options: &[u8]) -> Read {
    let mut buffer = [0; STEP_OPTIONS as usize];
    buffer[..options.len()].copy_from_slice(options);
    let mut out = Handshake::default();
    // SAFETY: the function reads `buffer` and writes `out`, within their sizes.
    unsafe { handshake_read(&raw const buffer, options.len() as u32, &raw mut out) };
    let option = HandshakeOption::from_number(out.option.into()).unwrap_or(HandshakeOption::None);
    let keys = out.keys[..8 * usize::from(out.key_count.min(2))].to_vec();
    (option, out.version, out.key_count, out.token, keys)
}

fn in_rust(options: &[u8]) -> Read {
    match mptcp::find(options) {
        Some(MptcpOption::Capable(capable)) => {
            let keys = match capable.keys {
                CapableKeys::None => vec![],
                CapableKeys::Sender(key) => key.0.to_vec(),
                CapableKeys::Both { sender, receiver }
                | CapableKeys::WithData { sender, receiver, .. } => [sender.0, receiver.0].concat(),
            };
            let version = u8::from(capable.version == Version::V1);
            (HandshakeOption::Capable, version, (keys.len() / 8) as u8, 0, keys)
        }
        Some(MptcpOption::Join(MpJoin::Syn { token, .. })) => {
            (HandshakeOption::JoinSyn, 0, 0, token.0, vec![])
        }
        Some(MptcpOption::Join(_)) => (HandshakeOption::Join, 0, 0, 0, vec![]),
        _ => (HandshakeOption::None, 0, 0, 0, vec![]),
    }
}
