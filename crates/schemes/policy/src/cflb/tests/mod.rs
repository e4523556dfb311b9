//! Tests of the codec: traces of the paper, statistics of flows that are not steered, and random
//! senders.

mod avalanche;
mod encoding;
mod encodings;
mod errors;
mod rules;
mod spread;
mod topology;
mod traces;

use core::net::IpAddr;

use super::*;
use crate::mix;

/// Linux's range of ports for clients.
const EPHEMERAL: PortRange = PortRange { low: 32_768, high: 60_999 };

/// Every cipher with every field that it fits.
const KINDS: [(Cipher, Field); 6] = [
    (Cipher::Rc5, Field::Ports),
    (Cipher::Skip32, Field::Ports),
    (Cipher::Feistel, Field::Ports),
    (Cipher::Feistel, Field::SourcePort(PortRange::ALL)),
    (Cipher::Feistel, Field::SourcePort(EPHEMERAL)),
    (Cipher::Feistel, Field::FlowLabel),
];

/// A codec with key number `key`.
fn codec_with(cipher: Cipher, field: Field, radix: u16, rules: Rules, key: u32) -> Codec {
    let key: [u8; 16] = core::array::from_fn(|byte| mix(key, byte as u32) as u8);
    let config = CflbConfig { field, cipher, radix, rules };
    Codec::new(&config, &key[..cipher.key_bytes()]).unwrap()
}

fn codec(cipher: Cipher, field: Field, radix: u16) -> Codec {
    codec_with(cipher, field, radix, Rules::Even, 1)
}

/// All source ports: 16 bits.
fn codec_of_16_bits(radix: u16) -> Codec {
    codec(Cipher::Feistel, Field::SourcePort(PortRange::ALL), radix)
}

fn addresses(source: &str, destination: &str) -> Addresses {
    let [source, destination]: [IpAddr; 2] =
        [source, destination].map(|text| text.parse().unwrap());
    Addresses::new(source, destination).unwrap()
}

/// A TCP packet over IPv4.
fn ipv4(ttl: u8) -> Fields {
    let ports = Some(Ports { source: 40_000, destination: 5_001 });
    let addresses = addresses("10.0.0.1", "10.0.0.2");
    Fields { addresses, protocol: 6, ports, flow_label: 0, ttl }
}

/// A TCP packet over IPv6.
fn ipv6(ttl: u8) -> Fields {
    let addresses = addresses("2001:db8::1", "2001:db8::2");
    Fields { addresses, flow_label: 0x1_2345, ..ipv4(ttl) }
}

fn choice(hop: u8, next_hop: u16, next_hops: u16) -> RouterChoice {
    RouterChoice { hop, next_hop, next_hops }
}

/// Decision of router number `hop` on the path for a packet sent as `sent`.
fn at_router(codec: &Codec, sent: &Fields, hop: u8, next_hops: u16) -> Decision {
    let received = Fields { ttl: sent.ttl - hop, ..*sent };
    codec.decide(hop.into(), &received, next_hops)
}
