//! Tags of steering headers: the balancer's C, and the same in Rust.

use std::net::IpAddr;

use heddle_balancer_maps::abi::SteeringKind;
use heddle_balancer_maps::steering::{Inner, Message, Signed};
use heddle_conformance::balancer::native;
use proptest::prelude::*;

fn tcp_frame(source: IpAddr, destination: IpAddr, ports: [u16; 2]) -> Vec<u8> {
    let tcp =
        [&ports[0].to_be_bytes()[..], &ports[1].to_be_bytes(), &[0; 8], &[0x50, 0x10], &[0; 6]];
    let tcp = tcp.concat();
    let (kind, ip) = match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let start = [0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0];
            ([8, 0], [&start[..], &source.octets(), &destination.octets()].concat())
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            let start = [0x60, 0, 0, 0, 0, 20, 6, 64];
            ([0x86, 0xdd], [&start[..], &source.octets(), &destination.octets()].concat())
        }
        _ => unreachable!("of one family"),
    };
    [&[2; 12][..], &kind, &ip, &tcp].concat()
}

fn tag_in(header: &Signed) -> [u8; 8] {
    *header.last_chunk().unwrap()
}

fn families() -> impl Strategy<Value = [IpAddr; 2]> {
    let v4 = any::<[[u8; 4]; 2]>().prop_map(|both| both.map(IpAddr::from));
    let v6 = any::<[[u16; 8]; 2]>().prop_map(|both| both.map(IpAddr::from));
    prop_oneof![v4, v6]
}

proptest! {
    #[test]
    fn c_and_rust_make_the_same_tag(
        key in any::<[u64; 2]>(),
        (token, backend, kind) in (any::<u32>(), any::<u32>(), 1..=10u32),
        [sender, _] in families(),
        [source, destination] in families(),
        ports in any::<[u16; 2]>(),
    ) {
        let kind = SteeringKind::from_number(kind).unwrap();
        let message = Message { kind, query: Some(SteeringKind::FlowQuery), token, backend };
        let inner = Inner { source, destination, protocol: 6, ports };
        let header = message.signed(key, sender, Some(&inner));
        let frame = tcp_frame(source, destination, ports);
        prop_assert_eq!(native::tag(key, &header, sender, Some(&frame)), Some(tag_in(&header)));
        prop_assert_eq!(Message::verified(&header, &[[7; 2], key], sender, Some(&inner)), Some(message));
        let alone = message.signed(key, sender, None);
        prop_assert_eq!(native::tag(key, &alone, sender, None), Some(tag_in(&alone)));
    }
}

/// Whatever the tag is about: another value has another tag.
#[test]
fn every_field_counts() {
    let key = [1, 2];
    let address = |last| IpAddr::from([192, 0, 2, last]);
    let inner = Inner { source: address(1), destination: address(2), protocol: 6, ports: [3, 4] };
    let message = Message { token: 5, backend: 6, ..Message::of(SteeringKind::Register) };
    let header = message.signed(key, address(9), Some(&inner));
    let believed = |header: &Signed, sender, inner: &Inner| {
        Message::verified(header, &[key], sender, Some(inner)).is_some()
    };
    assert!(believed(&header, address(9), &inner));
    for byte in 0..header.len() {
        let mut changed = header;
        changed[byte] ^= 0x40;
        assert!(!believed(&changed, address(9), &inner), "{byte}");
    }
    assert!(!believed(&header, address(8), &inner));
    let others = [
        Inner { source: address(3), ..inner },
        Inner { destination: address(3), ..inner },
        Inner { protocol: 17, ..inner },
        Inner { ports: [3, 5], ..inner },
        Inner { ports: [4, 3], ..inner },
    ];
    assert!(others.iter().all(|other| !believed(&header, address(9), other)));
    assert!(Message::verified(&header, &[key], address(9), None).is_none());
}
