//! The paper's example, and a sender and the routers together.

use core::net::Ipv4Addr;

use super::*;

fn fields(ttl: u8) -> Fields {
    let [source, destination] = [1, 2].map(|host| Ipv4Addr::new(10, 0, 0, host));
    let ports = Some(Ports { source: 40_000, destination: 5_001 });
    let addresses = Addresses::V4(source, destination);
    Fields { addresses, protocol: 6, ports, flow_label: 0, ttl }
}

fn codec(cipher: Cipher, field: Field, radix: u16) -> Codec {
    let key: [u8; 16] = core::array::from_fn(|byte| byte as u8);
    let config = CflbConfig { field, cipher, radix, surplus: Surplus::Hash };
    Codec::new(&config, &key[..cipher.key_bytes()]).unwrap()
}

/// Section 3.2: B = 3, L = 20, a TTL of 64; R1 takes 0 at position 4, R4, two hops on, takes 2 at position 2: p = 18.
#[test]
fn the_papers_example() {
    let radix = Radix::new(3, 1 << 32).unwrap();
    assert_eq!(radix.length(), 20);
    assert_eq!((radix.position(64), radix.position(62)), (4, 2));
    let selector = radix.weight(0, 4) + radix.weight(2, 2);
    assert_eq!((selector, radix.digit(selector, 4), radix.digit(selector, 2)), (18, 0, 2));
}

#[test]
fn routers_read_what_the_sender_wrote() {
    for cipher in [Cipher::Rc5, Cipher::Skip32, Cipher::Feistel] {
        let codec = codec(cipher, Field::Ports, 3);
        let turns = [(0, 0, 3), (1, 0, 1), (2, 2, 3)].map(|(hop, next_hop, next_hops)| Turn {
            hop,
            next_hop,
            next_hops,
        });
        let sent = codec.encode(&turns, &fields(64), 12_345).unwrap();
        for turn in turns {
            let seen = Fields { ttl: 64 - turn.hop, ..sent };
            let decision = codec.decide(u32::from(turn.hop), &seen, turn.next_hops);
            assert_eq!(decision.next_hop, turn.next_hop, "{cipher:?} at {turn:?}");
        }
    }
}
