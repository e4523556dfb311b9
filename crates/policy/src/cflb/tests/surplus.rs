//! Selectors that no sender writes, counted one by one: all 65536 source ports, B = 3, so that L = 10 and B^L = 59049.

use super::*;
use crate::testing::{chi_square, chi_square_bound};

const TOP: u8 = 9;

/// Next hops of all source ports, at the router that reads a digit, and how many no sender writes.
fn next_hops(surplus: Surplus, position: u8, key: u32) -> ([u32; 3], u32) {
    let field = Field::SourcePort(PortRange::ALL);
    let codec = codec_with(Cipher::Feistel, field, 3, surplus, key);
    let (mut next_hops, mut hashed) = ([0; 3], 0);
    for source in 0..=u16::MAX {
        let ports = Some(Ports { source, destination: 443 });
        let decision = codec.decide(7, &Fields { ports, ..ipv4(60 + position) }, 3);
        next_hops[usize::from(decision.next_hop)] += 1;
        hashed += u32::from(decision.reason == Reason::NoSelector);
    }
    (next_hops, hashed)
}

/// From 59049 = 3^10 up to 65535 the digits at positions 9 and 8 are 0: 6487 more than 3^9 = 19683 of each.
#[test]
fn as_published_the_top_digits_are_0_too_often() {
    for position in [8, TOP] {
        let (mut counts, hashed) = next_hops(Surplus::AsPublished, position, 1);
        counts.sort_unstable();
        assert_eq!((counts, hashed), ([19_683, 19_683, 19_683 + 6_487], 0));
    }
}

/// 6487 = 3 * 3^7 - 74: one digit at position 7 is 74 times missing; lower ones lean by less than 3^position.
#[test]
fn as_published_lower_digits_are_nearly_even() {
    let lean = |position| {
        let (counts, _) = next_hops(Surplus::AsPublished, position, 1);
        counts.iter().max().unwrap() - counts.iter().min().unwrap()
    };
    assert_eq!(lean(7), 74);
    assert!((0..7).all(|position| lean(position) <= 3u32.pow(position.into())));
}

/// 59049 ports spread exactly, 6487 as a hash spreads them.
#[test]
fn hashing_what_nobody_writes_leaves_every_digit_even() {
    for position in 0..=TOP {
        let (counts, hashed) = next_hops(Surplus::Hash, position, 1);
        assert_eq!(hashed, 6_487, "position {position}");
        let of_hashed = counts.map(|count| count - 19_683);
        assert!(chi_square(&of_hashed) < chi_square_bound(2), "position {position}: {of_hashed:?}");
    }
}

#[test]
fn both_ways_read_a_senders_digits_alike() {
    let codecs = [Surplus::Hash, Surplus::AsPublished]
        .map(|surplus| codec_with(Cipher::Rc5, Field::Ports, 3, surplus, 1));
    let path = [turn(0, 2, 3), turn(1, 0, 3), turn(5, 1, 2)];
    for filler in 0..1000 {
        let [hash, published] = codecs.map(|codec| codec.encode(&path, &ipv4(64), filler).unwrap());
        assert_eq!(hash, published);
        for turn in path {
            let decide = |codec: &Codec| at_router(codec, &hash, turn.hop, turn.next_hops);
            assert_eq!(decide(&codecs[0]), decide(&codecs[1]));
        }
    }
}

/// The share of 0 in the top digit of both ports, as the module's doc tells it: 46 of 100.
#[test]
fn with_32_bits_and_base_3_the_top_digit_is_0_in_46_of_100() {
    let radix = Radix::new(3, 1 << 32).unwrap();
    let surplus = (1u64 << 32) - radix.selectors();
    let below = radix.selectors() / 3;
    assert!(
        surplus <= below,
        "from B^L up the quotient is 3, which is 0 modulo 3, up to 4 B^(L-1)"
    );
    assert_eq!(((surplus + below) * 1000) >> 32, 458);
}
