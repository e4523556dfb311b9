//! Options of MPTCP's handshakes (RFC 6824, RFC 8684), for steps of MP-HULA.

use heddle_wire::{Key, TcpFlags, Token, Version};

use crate::draw::Draw;

const SYN: u8 = TcpFlags::SYN.0;
const ACK: u8 = TcpFlags::ACK.0;
const FIN: u8 = TcpFlags::FIN.0;
const RST: u8 = TcpFlags::RST.0;

/// Keys of the ends of random connections.
const KEYS: u32 = 5;

/// Key number `number`: eight equal bytes.
pub const fn key(number: u32) -> Key {
    Key([number as u8; 8])
}

/// MP_CAPABLE with any number of keys: none, the sender's, both.
pub fn capable(version: Version, keys: &[Key]) -> Vec<u8> {
    let mut option = vec![30, 4 + 8 * keys.len() as u8, nibble(version), 0x81];
    keys.iter().for_each(|key| option.extend(key.0));
    option
}

/// MP_JOIN of a SYN.
pub fn join(token: Token) -> Vec<u8> {
    let mut option = vec![30, 12, 0x10, 1];
    option.extend(token.0.to_be_bytes());
    option.extend([9, 8, 7, 6]);
    option
}

const fn nibble(version: Version) -> u8 {
    match version {
        Version::V0 => 0,
        Version::V1 => 1,
    }
}

/// Flags and options of a packet of a random handshake or teardown.
pub fn random(draw: &mut dyn Draw) -> (u8, Vec<u8>) {
    let version = draw.choose(&[Version::V1, Version::V0]);
    let a = key(draw.below(KEYS));
    let b = key(draw.below(KEYS));
    let (flags, option) = match draw.below(16) {
        0 => (SYN, capable(version, &[])),
        1 | 2 => (SYN, capable(version, &[a])),
        3 | 4 => (SYN | ACK, capable(version, &[b])),
        5 | 6 => (ACK, capable(version, &[a, b])),
        7 => (ACK, [capable(version, &[a, b]), vec![0, 9]].concat()),
        8..=10 => (SYN, join(version.token(a))),
        11 => (SYN | ACK, vec![30, 16, 0x10, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9]),
        12 => (draw.choose(&[FIN | ACK, FIN]), vec![30, 4, 0x20, 0x10]),
        13 => (draw.choose(&[RST, RST | ACK]), Vec::new()),
        14 => (draw.choose(&[SYN, SYN | ACK, ACK]), Vec::new()),
        _ => (draw.number(1) as u8, random_option(draw)),
    };
    (flags, arrange(draw, with_length(option)))
}

/// The length of MP_CAPABLE that carries the length of data.
fn with_length(mut option: Vec<u8>) -> Vec<u8> {
    if option.len() == 22 {
        option[1] = 22;
    }
    option
}

/// An MPTCP option of any subtype, well-formed or not.
fn random_option(draw: &mut dyn Draw) -> Vec<u8> {
    let length = draw.choose(&[4u8, 12, 20, 3, 8, 16, 22, 24, 2, 18, 26, 28, 0, 5]);
    let mut option = vec![30, length, draw.number(1) as u8];
    option.resize(usize::from(length).max(3), draw.number(1) as u8);
    option
}

/// The option among others.
fn arrange(draw: &mut dyn Draw, option: Vec<u8>) -> Vec<u8> {
    let before = match draw.below(8) {
        0..=3 => Vec::new(),
        4 => vec![2, 4, 5, 0xb4],
        5 => vec![1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8],
        6 => random_option(draw),
        _ => vec![0],
    };
    let mut all = [before, option].concat();
    if draw.chance(1, 8) {
        let other = random_option(draw);
        all.extend(other);
    }
    all.truncate(if draw.chance(1, 8) { draw.below(40) as usize } else { 40 });
    all
}
