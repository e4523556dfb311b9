//! Changes of next hops under steered flows (section 3.3, "in case of topological changes").

use super::*;
use crate::testing::{chi_square, chi_square_bound};

const FLOWS: u32 = 4096;

/// Packets of different hosts, steered to next hop `next_hop` of 4 at their first router.
fn steered(codec: &Codec, next_hop: u16) -> impl Iterator<Item = Fields> {
    (0..FLOWS).map(move |flow| {
        let addresses = Addresses::V4(mix(flow, 1).into(), mix(flow, 2).into());
        codec.encode(&[choice(0, next_hop, 4)], &Fields { addresses, ..ipv4(64) }, flow).unwrap()
    })
}

/// One of 4 next hops is removed: flows steered to 0, 1 and 2 stay, those steered to 3 are spread
/// over the rest.
#[test]
fn flows_to_a_next_hop_that_is_gone_are_hashed() {
    let codec = codec(Cipher::Rc5, Field::Ports, 4);
    for next_hop in 0..3 {
        let follows = |sent| at_router(&codec, &sent, 0, 3).next_hop == next_hop;
        assert!(steered(&codec, next_hop).all(follows));
    }
    let mut counts = [0; 3];
    for sent in steered(&codec, 3) {
        let Decision { next_hop, reason } = at_router(&codec, &sent, 0, 3);
        assert_eq!(reason, Reason::DigitTooHigh { position: 0, digit: 3 });
        counts[usize::from(next_hop)] += 1;
    }
    assert!(chi_square(&counts) < chi_square_bound(2), "{counts:?}");
}

/// The digit is a number, not a link: when next hops are renumbered, flows follow the numbers.
#[test]
fn flows_follow_the_numbers_when_next_hops_are_renumbered() {
    let codec = codec(Cipher::Rc5, Field::Ports, 4);
    let (before, after) = (["a", "b", "c", "d"], ["b", "c", "d"]);
    for sent in steered(&codec, 1) {
        let link = |links: &[&'static str]| {
            links[usize::from(at_router(&codec, &sent, 0, links.len() as u16).next_hop)]
        };
        assert_eq!((link(&before), link(&after)), ("b", "c"));
    }
}

/// A next hop returns: routers have no state, so flows return to their encoded path.
#[test]
fn flows_return_with_their_next_hop() {
    let codec = codec(Cipher::Rc5, Field::Ports, 4);
    for sent in steered(&codec, 3) {
        assert_ne!(at_router(&codec, &sent, 0, 3).next_hop, 3);
        assert_eq!(at_router(&codec, &sent, 0, 4).next_hop, 3);
    }
}

/// With a removed next hop at each of two routers, the two hash independently.
#[test]
fn two_routers_hash_what_they_cannot_follow_independently() {
    let codec = codec(Cipher::Rc5, Field::Ports, 4);
    let mut counts = [0; 9];
    for flow in 0..FLOWS {
        let fields = Fields {
            addresses: Addresses::V4(mix(flow, 1).into(), mix(flow, 2).into()),
            ..ipv4(64)
        };
        let sent = codec.encode(&[choice(0, 3, 4), choice(1, 3, 4)], &fields, flow).unwrap();
        let [near, far] = [0, 1].map(|hop| usize::from(at_router(&codec, &sent, hop, 3).next_hop));
        counts[3 * near + far] += 1;
    }
    assert!(chi_square(&counts) < chi_square_bound(8), "{counts:?}");
}
