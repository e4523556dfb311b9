//! Uneven spread of the published rules: replies from one port, and selectors that no sender
//! writes, over all 65536 source ports with B = 3, so that L = 10 and B^L = 59049.

use super::*;
use crate::testing::{chi_square, chi_square_bound};

const TOP: u8 = 9;

/// Next hops of all source ports at the router that reads a digit, and the number of ports that no
/// sender writes.
fn next_hops(rules: Rules, position: u8, key: u32) -> ([u32; 3], u32) {
    let field = Field::SourcePort(PortRange::ALL);
    let codec = codec_with(Cipher::Feistel, field, 3, rules, key);
    let (mut next_hops, mut hashed) = ([0; 3], 0);
    for source in 0..=u16::MAX {
        let ports = Some(Ports { source, destination: 443 });
        let decision = codec.decide(7, &Fields { ports, ..ipv4(60 + position) }, 3);
        next_hops[usize::from(decision.next_hop)] += 1;
        hashed += u32::from(decision.reason == Reason::NoSelector);
    }
    (next_hops, hashed)
}

/// From 59049 = 3^10 up to 65535 the digits at positions 9 and 8 are 0: 6487 more than 3^9 = 19683
/// of each.
#[test]
fn as_published_the_top_digits_are_0_too_often() {
    for position in [8, TOP] {
        let (mut counts, hashed) = next_hops(Rules::AsPublished, position, 1);
        counts.sort_unstable();
        assert_eq!((counts, hashed), ([19_683, 19_683, 19_683 + 6_487], 0));
    }
}

/// 6487 = 3 * 3^7 - 74: one digit at position 7 is 74 times missing; lower ones lean by less than
/// 3^position.
#[test]
fn as_published_lower_digits_are_nearly_even() {
    let lean = |position| {
        let (counts, _) = next_hops(Rules::AsPublished, position, 1);
        counts.iter().max().unwrap() - counts.iter().min().unwrap()
    };
    assert_eq!(lean(7), 74);
    assert!((0..7).all(|position| lean(position) <= 3u32.pow(position.into())));
}

/// 59049 ports spread exactly, 6487 as a hash spreads them.
#[test]
fn hashing_unwritten_selectors_makes_every_digit_even() {
    for position in 0..=TOP {
        let (counts, hashed) = next_hops(Rules::Even, position, 1);
        assert_eq!(hashed, 6_487, "position {position}");
        let of_hashed = counts.map(|count| count - 19_683);
        assert!(chi_square(&of_hashed) < chi_square_bound(2), "position {position}: {of_hashed:?}");
    }
}

/// A server's replies, where the source port encodes the path: one port, so one selector, and 4096
/// clients.
fn paths_of_replies(rules: Rules) -> [u32; 16] {
    let field = Field::SourcePort(PortRange::ALL);
    let codec = codec_with(Cipher::Feistel, field, 4, rules, 1);
    let mut paths = [0; 16];
    for client in 0..4096 {
        let ports = Some(Ports { source: 443, destination: 32_768 + client });
        let path = (0..4).fold(0, |path, hop| {
            let fields = Fields { ports, ..ipv4(60 - hop) };
            2 * path + usize::from(codec.decide(hop.into(), &fields, 2).next_hop)
        });
        paths[path] += 1;
    }
    paths
}

#[test]
fn as_published_replies_from_one_port_use_few_of_the_paths_through_four_routers() {
    let paths = paths_of_replies(Rules::AsPublished);
    assert!(chi_square(&paths) > 10.0 * chi_square_bound(15), "{paths:?}");
}

#[test]
fn a_shift_for_each_digit_spreads_them_over_all() {
    let paths = paths_of_replies(Rules::Even);
    assert!(chi_square(&paths) < chi_square_bound(15), "{paths:?}");
}

/// Equation 4 by hand: two routers' digits shifted by H(u) mod B, all others 0 before the shift.
#[test]
fn as_published_all_digits_are_shifted_alike() {
    let codec = codec_with(Cipher::Rc5, Field::Ports, 4, Rules::AsPublished, 1);
    let shift = |position| codec.shift(0xdead_beef, position);
    assert!((0..16).all(|position| shift(position) == 3), "0xdeadbeef is in the last quarter");
    let codec = codec_with(Cipher::Rc5, Field::Ports, 4, Rules::Even, 1);
    let shift = |position| codec.shift(0xdead_beef, position);
    assert!((0..4).all(|shifted| (0..16).any(|position| shift(position) == shifted)));
}

/// Share of 0 in the top digit of both ports, as in the module documentation: 46 of 100.
#[test]
fn with_32_bits_and_base_3_the_top_digit_is_0_in_46_of_100() {
    let radix = Radix::new(3, 1 << 32).unwrap();
    let unwritten = (1u64 << 32) - radix.selectors();
    let below = radix.selectors() / 3;
    assert!(
        unwritten <= below,
        "from B^L up the quotient is 3, which is 0 modulo 3, up to 4 B^(L-1)"
    );
    assert_eq!(((unwritten + below) * 1000) >> 32, 458);
}
