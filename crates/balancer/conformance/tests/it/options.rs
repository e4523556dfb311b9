//! The balancer's search for MPTCP options: known headers, and whatever the wire crate says of
//! others.

use heddle_conformance::balancer::options::expected;
use heddle_conformance::balancer::{Found, Kind, native};
use heddle_wire::{Key, TcpFlags, Token};
use proptest::collection::vec;
use proptest::prelude::*;

const SYN: TcpFlags = TcpFlags::SYN;
const ACK: TcpFlags = TcpFlags::ACK;

/// MSS, SACK permitted, timestamps, window scale: what every SYN of Linux has.
const USUAL: [u8; 20] = [2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 3, 7];

const KEY_A: [u8; 8] = [0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7];
const KEY_B: [u8; 8] = [0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7];

fn check(options: &[&[u8]], flags: TcpFlags, found: Found) {
    let options = options.concat();
    assert_eq!(native::find(&options, flags), found, "{options:x?}");
    assert_eq!(expected(&options, flags), found, "expected of {options:x?}");
}

fn kind(kind: Kind) -> Found {
    Found { kind, ..Found::default() }
}

/// RFC 8684 section 3.1: version 1 opens with four bytes; RFC 6824's with the opener's key.
#[test]
fn a_syn_that_opens_a_connection() {
    let v1 = [30, 4, 0x01, 0x81];
    let found = Found { version: 1, flags: 0x81, at: 20, length: 4, ..kind(Kind::CapableSyn) };
    check(&[&USUAL, &v1], SYN, found);
    let v0 = [&[30, 12, 0x00, 0x01][..], &KEY_A].concat();
    let found = Found { flags: 0x01, at: 0, length: 12, key: Key(KEY_A), ..kind(Kind::CapableSyn) };
    check(&[&v0], SYN, found);
}

/// RFC 8684 section 3.2: the token is the receiver's, bytes 4 to 7.
#[test]
fn a_syn_that_joins() {
    let join = [30, 12, 0x11, 2, 0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4];
    let found = Found { at: 20, length: 12, token: Token(0xdead_beef), ..kind(Kind::JoinSyn) };
    check(&[&USUAL, &join], SYN, found);
    check(&[&USUAL, &join], ACK, kind(Kind::Other));
    check(&[&USUAL, &join], SYN | ACK, kind(Kind::Other));
}

/// RFC 8684 section 3.2: the ACK that ends a join's handshake has 20 bytes of HMAC; its answer
/// before has 8 and a nonce.
#[test]
fn an_ack_that_joins() {
    let ack = [&[30, 24, 0x10, 0][..], &[7; 20]].concat();
    check(&[&[1, 1], &ack], ACK, Found { at: 2, length: 24, ..kind(Kind::JoinAck) });
    check(&[&ack], SYN, kind(Kind::Other));
    let answer = [&[30, 16, 0x10, 2][..], &[7; 12]].concat();
    check(&[&answer], ACK, kind(Kind::Other));
    check(&[&ack[..23]], ACK, kind(Kind::Malformed));
}

/// The ACK of the handshake (20 bytes) and version 1's first data (22, with a checksum 24): the
/// second key is the receiver's.
#[test]
fn packets_with_both_keys() {
    for (version, length) in [(0, 20), (1, 20), (1, 22), (1, 24)] {
        let option = [&[30, length, version, 0x81][..], &KEY_A, &KEY_B, &[0, 9, 7, 7]].concat();
        let found = Found {
            version,
            flags: 0x81,
            at: 2,
            length,
            key: Key(KEY_B),
            ..kind(Kind::CapableKeys)
        };
        check(&[&[1, 1], &option[..length.into()]], ACK, found);
        check(&[&[1, 1], &option[..length.into()]], SYN, kind(Kind::Other));
    }
}

/// RFC 8684 section 3.3: a data ACK of four bytes; a mapping with eight-byte numbers, with and
/// without a checksum.
#[test]
fn data_sequence_signals() {
    for (flags, length) in [(0x00, 4), (0x01, 8), (0x03, 12), (0x05, 18), (0x0f, 26), (0x0f, 28)] {
        let mut option = [7; 28];
        option[..4].copy_from_slice(&[30, length, 0x20, flags]);
        let found = Found { at: 0, length, ..kind(Kind::Dss) };
        check(&[&option[..length.into()]], ACK, found);
        check(&[&option[..length.into()], &[1, 1]], SYN, kind(Kind::Other));
    }
    check(&[&[30, 10, 0x20, 0x01, 1, 2, 3, 4, 5, 6]], ACK, kind(Kind::Malformed));
}

#[test]
fn options_without_mptcp() {
    check(&[], ACK, kind(Kind::None));
    check(&[&USUAL], SYN, kind(Kind::None));
    check(&[&[1; 40]], SYN, kind(Kind::None));
    check(&[&[0], &[30, 4, 0x01, 0x81]], SYN, kind(Kind::None));
}

#[test]
fn bad_lengths() {
    for bad in [&[30, 0][..], &[30, 1], &[30, 4, 0x01], &[8, 0], &[8, 11], &[30], &[8]] {
        check(&[&USUAL, bad], SYN, kind(Kind::Malformed));
    }
    for length in [2, 3, 5, 11, 13, 20] {
        let mut option = [0x10; 20];
        option[..2].copy_from_slice(&[30, length]);
        check(&[&option[..length.into()]], SYN, kind(Kind::Malformed));
    }
    check(&[&[1; 41]], SYN, kind(Kind::Malformed));
}

/// The first that matters counts, whatever is before it: another subtype, a version to come, or
/// nonsense.
#[test]
fn several_mptcp_options() {
    let (prio, v2, bad) = ([30, 3, 0x51], [30, 4, 0x02, 0x81], [30, 5, 0x01, 0x81, 0]);
    let capable = [30, 4, 0x01, 0x81];
    let found = |at| Found { version: 1, flags: 0x81, at, length: 4, ..kind(Kind::CapableSyn) };
    check(&[&prio, &capable], SYN, found(3));
    check(&[&v2, &bad, &capable, &[8, 1]], SYN, found(9));
    check(&[&prio, &v2], SYN, kind(Kind::Other));
    check(&[&bad, &prio], SYN, kind(Kind::Malformed));
}

/// An option with the lengths and first bytes of MPTCP's, right or not.
fn mptcp() -> impl Strategy<Value = Vec<u8>> {
    let lengths = prop_oneof![
        4 => prop::sample::select(vec![3_u8, 4, 8, 12, 16, 18, 20, 22, 24, 26, 28]),
        1 => 2_u8..=30,
    ];
    (lengths, 0_u8..=4, 0_u8..=2, any::<[u8; 28]>()).prop_map(|(length, subtype, nibble, rest)| {
        let option = [&[30, length, subtype << 4 | nibble][..], &rest].concat();
        option[..usize::from(length).min(option.len())].to_vec()
    })
}

/// Any option, or what looks like one.
fn other() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => Just(vec![1]),
        6 => Just(vec![4, 2]),
        3 => Just(USUAL[6..16].to_vec()),
        1 => Just(vec![0]),
        1 => vec(any::<u8>(), 1..6),
    ]
}

/// The options that Linux has in front of MPTCP's, perhaps with another byte in them.
fn usual() -> impl Strategy<Value = Vec<u8>> {
    let first = prop::sample::select(vec![&USUAL[..], &[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]]);
    let wrong = prop::option::of((any::<prop::sample::Index>(), 0_u8..=31));
    (first, wrong).prop_map(|(first, wrong)| {
        let mut options = first.to_vec();
        if let Some((place, byte)) = wrong {
            *place.get_mut(&mut options) = byte;
        }
        options
    })
}

/// Up to 40 bytes of options in some order, perhaps cut off.
fn options() -> impl Strategy<Value = Vec<u8>> {
    let first = prop_oneof![Just(Vec::new()), usual()];
    let structured = (first, vec(prop_oneof![mptcp(), other()], 0..8)).prop_map(|(first, more)| {
        let mut options = [first, more.concat()].concat();
        options.truncate(40);
        options
    });
    prop_oneof![4 => structured, 1 => vec(any::<u8>(), 0..44)]
}

fn flags() -> impl Strategy<Value = TcpFlags> {
    prop_oneof![Just(SYN), Just(ACK), any::<u8>().prop_map(TcpFlags)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50_000))]

    #[test]
    fn the_balancer_finds_what_the_wire_crate_does(options in options(), flags in flags()) {
        prop_assert_eq!(native::find(&options, flags), expected(&options, flags));
    }

    #[test]
    fn what_is_around_the_options_does_not_matter(
        options in options(), flags in flags(),
        before in vec(any::<u8>(), 20..80), behind in vec(any::<u8>(), 0..40),
    ) {
        let frame = [&before[..], &options, &behind].concat();
        let (l4, bytes) = (before.len() - 20, options.len());
        let found = native::find_in(&frame, l4.try_into().unwrap(), bytes.try_into().unwrap(), flags);
        prop_assert_eq!(found, expected(&options, flags));
    }

    #[test]
    fn a_frame_that_ends_within_the_options_is_malformed(
        options in options(), flags in flags(), missing in 1_u32..100, l4 in 0_u32..40,
    ) {
        let frame = [&vec![0; 20 + l4 as usize][..], &options].concat();
        let claimed = u32::try_from(options.len()).unwrap() + missing;
        let found = native::find_in(&frame, l4, claimed, flags);
        prop_assert_eq!(found, Found { kind: Kind::Malformed, ..Found::default() });
    }
}
