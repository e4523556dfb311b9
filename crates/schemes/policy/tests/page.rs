//! A second router, written from the page on CFLB for other implementations
//! (vectors/schemes/CFLB.md) and nothing else: it gives the page's test values, and decides as
//! [`Codec`] does on random packets.

use std::net::{Ipv4Addr, Ipv6Addr};

use heddle_policy::cflb::{
    Addresses, CflbConfig, Cipher, Codec, Field, Fields, PortRange, Ports, Reason, Rules,
};
use proptest::prelude::*;

const PAGE: &str = include_str!("../../../../vectors/schemes/CFLB.md");
const KEY: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// The page's functions, in its order and by its names.
mod page {
    pub fn mix(x: u32, salt: u32) -> u32 {
        let mut h = x ^ salt;
        h = (h ^ h >> 16).wrapping_mul(0x85eb_ca6b);
        h = (h ^ h >> 13).wrapping_mul(0xc2b2_ae35);
        h ^ h >> 16
    }

    pub fn pick(x: u32, n: u32) -> u32 {
        ((u64::from(x) * u64::from(n)) >> 32) as u32
    }

    pub fn hash(seed: u32, words: &[u32]) -> u32 {
        let mut h = seed;
        for w in words {
            let w = w.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
            h = (h ^ w).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
        }
        mix(h ^ (4 * words.len() as u32), 0)
    }

    pub fn rc5(key: &[u8; 16], v: u32) -> u32 {
        let mut k: Vec<u16> =
            key.chunks(2).map(|pair| u16::from(pair[0]) | u16::from(pair[1]) << 8).collect();
        let mut s = vec![0xb7e1u16];
        for i in 1..26 {
            s.push(s[i - 1].wrapping_add(0x9e37));
        }
        let (mut x, mut y) = (0u16, 0u16);
        for step in 0..78 {
            let (i, j) = (step % 26, step % 8);
            s[i] = s[i].wrapping_add(x).wrapping_add(y).rotate_left(3);
            x = s[i];
            let by = u32::from(x.wrapping_add(y) % 16);
            k[j] = k[j].wrapping_add(x).wrapping_add(y).rotate_left(by);
            y = k[j];
        }
        let (mut a, mut b) = ((v >> 16) as u16, v as u16);
        for i in (1..=12).rev() {
            b = b.wrapping_sub(s[2 * i + 1]).rotate_right(u32::from(a % 16)) ^ a;
            a = a.wrapping_sub(s[2 * i]).rotate_right(u32::from(b % 16)) ^ b;
        }
        u32::from(a.wrapping_sub(s[0])) << 16 | u32::from(b.wrapping_sub(s[1]))
    }

    pub fn feistel(key: &[u8; 16], values: u64, v: u32) -> u32 {
        let mut w = [0u32; 4];
        for (i, byte) in key.iter().enumerate() {
            w[i / 4] |= u32::from(*byte) << (8 * (i % 4));
        }
        let mut keys = vec![0u32];
        for r in 1..=6 {
            keys.push(mix(keys[r - 1] ^ w[(r - 1) % 4], r as u32));
        }
        let bits = 64 - (values - 1).leading_zeros();
        let (left_bits, right_bits) = (bits / 2, bits - bits / 2);
        let low = |x: u32, bits: u32| x & ((1u64 << bits) - 1) as u32;
        let mut block = v;
        for _ in 0..128 {
            let (mut l, mut r) = ((u64::from(block) >> right_bits) as u32, low(block, right_bits));
            for round in [6, 4, 2] {
                r ^= low(mix(l, keys[round]), right_bits);
                l ^= low(mix(r, keys[round - 1]), left_bits);
            }
            block = (u64::from(l) << right_bits) as u32 | r;
            if u64::from(block) < values {
                break;
            }
        }
        block
    }
}

/// A packet as it stands in a header.
#[derive(Clone, Copy, Debug)]
struct Packet {
    v6: bool,
    source: u128,
    destination: u128,
    protocol: u8,
    ports: Option<(u16, u16)>,
    flow_label: u32,
    ttl: u8,
}

/// The constants of a network.
#[derive(Clone, Copy, Debug)]
struct Net {
    cipher: Cipher,
    field: Field,
    radix: u16,
    rules: Rules,
}

/// H(u), p where the packet has one, and the next hop.
fn second(net: &Net, packet: &Packet, router: u32, n: u32) -> (u32, Option<u32>, u32) {
    let (source_port, destination_port) = packet.ports.unwrap_or((0, 0));
    let both = u32::from(source_port) * 65536 + u32::from(destination_port);
    let words = if packet.v6 { 4 } else { 1 };
    let address = |bits: u128| (0..words).rev().map(move |word| (bits >> (32 * word)) as u32);
    let mut u: Vec<u32> = address(packet.source).chain(address(packet.destination)).collect();
    u.push(packet.protocol.into());
    let (rest, values, v) = match net.field {
        Field::Ports => (0, 1u64 << 32, packet.ports.map(|_| both)),
        Field::SourcePort(PortRange { low, high }) => {
            let inside = packet.ports.is_some() && low <= source_port && source_port <= high;
            let values = u64::from(high) - u64::from(low) + 1;
            (destination_port.into(), values, inside.then(|| u32::from(source_port - low)))
        }
        Field::FlowLabel => (both, 1 << 20, packet.v6.then_some(packet.flow_label)),
    };
    u.push(rest);
    let h = page::hash(0, &u);
    let p = v.map(|v| match net.cipher {
        Cipher::Rc5 => page::rc5(&KEY, v),
        Cipher::Feistel => page::feistel(&KEY, values, v),
        Cipher::Skip32 => unreachable!("as published"),
    });
    let base = u64::from(net.radix);
    let length = (1..=32).take_while(|&l| base.pow(l) <= values).last().expect("a radix fits");
    let hashed = page::pick(page::hash(h, &[v.unwrap_or(0), router]), n);
    let digit = p.and_then(|p| {
        let i = u32::from(packet.ttl) % length;
        let is_even = net.rules == Rules::Even;
        if is_even && u64::from(p) >= base.pow(length) {
            return None;
        }
        let shift = page::pick(if is_even { page::mix(h, i) } else { h }, net.radix.into());
        let digit = (u64::from(p) / base.pow(i) % base + base - u64::from(shift)) % base;
        Some(digit as u32).filter(|&digit| digit < n)
    });
    (h, p, digit.unwrap_or(hashed))
}

/// The decision of Heddle's own router.
fn first(net: &Net, packet: &Packet, router: u32, n: u32) -> u32 {
    let Net { cipher, field, radix, rules } = *net;
    let codec =
        Codec::new(&CflbConfig { field, cipher, radix, rules }, &KEY).expect("sound constants");
    let addresses = if packet.v6 {
        Addresses::V6(Ipv6Addr::from_bits(packet.source), Ipv6Addr::from_bits(packet.destination))
    } else {
        let address = |bits: u128| Ipv4Addr::from_bits(bits as u32);
        Addresses::V4(address(packet.source), address(packet.destination))
    };
    let ports = packet.ports.map(|(source, destination)| Ports { source, destination });
    let Packet { protocol, flow_label, ttl, .. } = *packet;
    let fields = Fields { addresses, protocol, ports, flow_label, ttl };
    let decision = codec.decide(router, &fields, n as u16);
    assert_ne!(decision.reason, Reason::Alone);
    decision.next_hop.into()
}

/// The rows of the page's table of test values, without markup.
fn rows() -> Vec<Vec<String>> {
    let table = PAGE.split("Values to test with").nth(1).expect("the table");
    let lines = table.lines().filter(|line| line.starts_with("| `")).take_while(|l| !l.is_empty());
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect()
    };
    lines.map(cells).filter(|row: &Vec<String>| row.len() == 13 && row[0] != "cipher").collect()
}

fn number(text: &str) -> u32 {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).expect("a number"),
        None => text.parse().unwrap_or_else(|_| panic!("{text}")),
    }
}

#[test]
fn the_pages_test_values() {
    let rows = rows();
    assert!(rows.len() >= 8, "{rows:?}");
    let mut wrong = Vec::new();
    for row in &rows {
        let cipher = if row[0] == "rc5" { Cipher::Rc5 } else { Cipher::Feistel };
        let field = match row[1].as_str() {
            "ports" => Field::Ports,
            "source-port" => Field::SourcePort(PortRange::ALL),
            "32768-60999" => Field::SourcePort(PortRange { low: 32768, high: 60999 }),
            "flow-label" => Field::FlowLabel,
            other => panic!("{other}"),
        };
        let (v6, radix, n) = (row[2] == "6", number(&row[3]) as u16, number(&row[4]));
        let (source, destination) = match v6 {
            true => ("2001:db8::1", "2001:db8::2"),
            false => ("::10.0.0.1", "::10.0.0.2"),
        };
        let bits = |text: &str| text.parse::<Ipv6Addr>().expect("an address").to_bits();
        let packet = Packet {
            v6,
            source: bits(source),
            destination: bits(destination),
            protocol: 6,
            ports: (row[5] != "-").then(|| (number(&row[5]) as u16, number(&row[6]) as u16)),
            flow_label: number(&row[7]),
            ttl: number(&row[8]) as u8,
        };
        let net = Net { cipher, field, radix, rules: Rules::Even };
        let router = number(&row[9]);
        let (h, p, next_hop) = second(&net, &packet, router, n);
        assert_eq!(first(&net, &packet, router, n), next_hop, "{row:?}");
        let p = p.map_or("-".to_owned(), |p| format!("{p:#010x}"));
        let found = [format!("{h:#010x}"), p, next_hop.to_string()];
        if found != row[10..13] {
            wrong.push(format!("{row:?} is {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn networks() -> impl Strategy<Value = Net> {
    let range = (any::<u16>(), any::<u16>())
        .prop_map(|(a, b)| PortRange { low: a.min(b), high: a.max(b) })
        .prop_filter("a radix fits", |range| range.len() >= 64);
    let field = prop_oneof![
        Just((Cipher::Rc5, Field::Ports)),
        Just((Cipher::Feistel, Field::Ports)),
        Just((Cipher::Feistel, Field::FlowLabel)),
        range.prop_map(|range| (Cipher::Feistel, Field::SourcePort(range))),
    ];
    let rules = prop_oneof![Just(Rules::Even), Just(Rules::AsPublished)];
    (field, 2u16..=64, rules).prop_map(|((cipher, field), radix, rules)| Net {
        cipher,
        field,
        radix,
        rules,
    })
}

prop_compose! {
    fn packets()(
        v6 in any::<bool>(),
        addresses in any::<(u128, u128)>(),
        protocol in any::<u8>(),
        ports in any::<Option<(u16, u16)>>(),
        flow_label in 0u32..1 << 20,
        ttl in any::<u8>(),
    ) -> Packet {
        let cut = |bits: u128| if v6 { bits } else { bits & 0xffff_ffff };
        let (source, destination) = (cut(addresses.0), cut(addresses.1));
        Packet { v6, source, destination, protocol, ports, flow_label, ttl }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn both_routers_decide_alike(
        net in networks(), packet in packets(), router in any::<u32>(), n in 2u32..=64,
    ) {
        prop_assert_eq!(first(&net, &packet, router, n), second(&net, &packet, router, n).2);
    }
}
