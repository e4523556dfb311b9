//! Lengths and bits against the RFCs' figures; whole frames are in `tests/it/captures`.

use std::vec::Vec;

use super::*;
use crate::{Key, Token, Version};

/// An option of `len` bytes: the subtype and its nibble, the next byte, then bytes that are all
/// different.
fn bytes(subtype: u8, nibble: u8, flags: u8, len: u8) -> Vec<u8> {
    let mut option: Vec<u8> = (0..len).map(|at| at ^ 0xa0).collect();
    for (to, from) in option.iter_mut().zip([tcp::MPTCP, len, subtype << 4 | nibble, flags]) {
        *to = from;
    }
    option
}

/// The lengths at which such an option is well formed.
fn lengths(subtype: u8, nibble: u8, flags: u8) -> Vec<u8> {
    (0..=60)
        .filter(|&len| MptcpOption::parse(&bytes(subtype, nibble, flags, len)).is_ok())
        .collect()
}

fn emitted(option: &MptcpOption) -> Vec<u8> {
    let mut out = [0; 40];
    let len = option.emit(&mut out).unwrap();
    out[..len].to_vec()
}

#[test]
fn lengths_are_those_of_the_figures() {
    assert_eq!(lengths(0x0, 0, 0x01), [12, 20], "MP_CAPABLE, RFC 6824 section 3.1");
    assert_eq!(lengths(0x0, 1, 0x01), [4, 12, 20, 22, 24], "MP_CAPABLE, RFC 8684 section 3.1");
    assert_eq!(lengths(0x1, 0, 0), [12, 16, 24], "MP_JOIN");
    // With an HMAC it is version 1, where the bits of 4 and 6 are reserved.
    assert_eq!(lengths(0x3, 0, 0), [16, 18, 28, 30], "ADD_ADDR of version 1");
    assert_eq!(lengths(0x3, 4, 0), [8, 10, 16, 18, 28, 30], "and of version 0, IPv4");
    assert_eq!(lengths(0x3, 6, 0), [16, 18, 20, 22, 28, 30], "and of version 0, IPv6");
    assert_eq!(lengths(0x3, 1, 0), [8, 10, 20, 22], "ADD_ADDR of version 1, echo");
    assert_eq!(lengths(0x4, 0, 0), (4..=40).collect::<Vec<u8>>(), "REMOVE_ADDR");
    assert_eq!(lengths(0x5, 0, 0), [3, 4], "MP_PRIO");
    assert_eq!(lengths(0x6, 0, 0), [12], "MP_FAIL");
    assert_eq!(lengths(0x7, 0, 0), [12], "MP_FASTCLOSE");
    assert_eq!(lengths(0x8, 0, 0), [4], "MP_TCPRST");
}

/// RFC 8684 section 3.3.1: A and M say which numbers are there, a and m how long they are; a
/// checksum may follow.
#[test]
fn flags_decide_the_length_of_a_dss() {
    for flags in 0..=u8::MAX {
        let ack = [0, 4, 0, 8][usize::from(flags & 0b11)];
        match flags >> 2 & 0b11 {
            0b00 | 0b10 => assert_eq!(lengths(0x2, 0, flags), [4 + ack], "{flags:#010b}"),
            m => {
                let mapping = if m == 0b11 { 8 + 6 } else { 4 + 6 };
                let both = [4 + ack + mapping, 4 + ack + mapping + 2];
                assert_eq!(lengths(0x2, 0, flags), both, "{flags:#010b}");
            }
        }
    }
}

#[test]
fn reserved_bits_are_ignored_and_written_as_0() {
    let cases = [
        (bytes(0x1, 0xf, 2, 12), bytes(0x1, 0x1, 2, 12)),
        (bytes(0x1, 0xf, 0xff, 24), bytes(0x1, 0x0, 0, 24)),
        (bytes(0x2, 0xf, 0xe5, 18), bytes(0x2, 0x0, 0x05, 18)),
        (bytes(0x2, 0x0, 0x0a, 4), bytes(0x2, 0x0, 0x00, 4)),
        (bytes(0x3, 0xe, 9, 16), bytes(0x3, 0x0, 9, 16)),
        (bytes(0x3, 0xf, 9, 8), bytes(0x3, 0x1, 9, 8)),
        (bytes(0x4, 0xf, 9, 4), bytes(0x4, 0x0, 9, 4)),
        (bytes(0x5, 0xe, 0, 3), bytes(0x5, 0x0, 0, 3)),
        (bytes(0x6, 0xf, 0xff, 12), bytes(0x6, 0x0, 0, 12)),
        (bytes(0x7, 0xf, 0xff, 12), bytes(0x7, 0x0, 0, 12)),
    ];
    for (came, written) in cases {
        assert_eq!(emitted(&MptcpOption::parse(&came).unwrap()), written);
    }
}

#[test]
fn flags_with_a_meaning_to_come_are_kept() {
    for came in [bytes(0x0, 1, 0xff, 4), bytes(0x0, 0, 0x7e, 20), bytes(0x8, 0xf, 0xff, 4)] {
        assert_eq!(emitted(&MptcpOption::parse(&came).unwrap()), came);
    }
}

#[test]
fn errors_are_specific() {
    let error = |bytes: &[u8]| MptcpOption::parse(bytes).unwrap_err();
    assert_eq!(error(&[]), ParseError::Length);
    assert_eq!(error(&[tcp::MPTCP, 2]), ParseError::Length);
    assert_eq!(error(&[tcp::MPTCP, 4, 0x01]), ParseError::Length);
    assert_eq!(error(&[8, 3, 0x01]), ParseError::OtherKind);
    assert_eq!(error(&bytes(0x9, 0, 0, 12)), ParseError::Subtype(9));
    assert_eq!(error(&bytes(0x0, 2, 0, 12)), ParseError::Version(2));
    assert_eq!(error(&bytes(0x3, 6, 0, 8)), ParseError::AddressFamily);
}

#[test]
fn version_0_has_keys_in_every_handshake_packet() {
    let capable = |keys| {
        let flags = CapableFlags::HMAC;
        MptcpOption::Capable(MpCapable { version: Version::V0, flags, keys })
    };
    let mut out = [0; 40];
    assert_eq!(capable(CapableKeys::None).emit(&mut out), Err(EmitError::NotInVersion0));
    assert_eq!(capable(CapableKeys::Sender(Key([7; 8]))).emit(&mut out), Ok(12));
}

#[test]
fn a_buffer_too_short_is_an_error_at_every_length() {
    let join = MptcpOption::Join(MpJoin::Ack { hmac: [5; 20] });
    for room in 0..24 {
        assert_eq!(join.emit(&mut [0; 24][..room]), Err(EmitError::NoRoom));
    }
    assert_eq!(join.emit(&mut [0; 24]), Ok(24));
}

#[test]
fn a_list_of_addresses_holds_1_to_37() {
    assert_eq!(AddressIds::new(&[]), None);
    assert_eq!(AddressIds::new(&[1; 38]), None);
    assert_eq!(AddressIds::new(&[1; 300]), None);
    assert_eq!(AddressIds::new(&[3, 1, 2]).unwrap().as_slice(), [3, 1, 2]);
}

#[test]
fn the_first_well_formed_option_is_found() {
    let mut area = Vec::from([1, 1, 8, 10, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(find(&area), None);
    area.extend(bytes(0x9, 0, 0, 4));
    area.extend([30, 12, 0x11, 7, 0xaa, 0xbb, 0xcc, 0xdd, 1, 2, 3, 4]);
    let token = Token(0xaabb_ccdd);
    let join = MpJoin::Syn { backup: true, address: 7, token, nonce: 0x0102_0304 };
    assert_eq!(find(&area), Some(MptcpOption::Join(join)));
}
