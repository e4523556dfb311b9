//! Cost of CFLB: a router's decision, and a sender's encoding of a path.
//!
//! Times are for one packet, over 4096 different packets without dependencies between them: the
//! throughput of a router.

use core::{hint::black_box, net::IpAddr};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use heddle_policy::{
    cflb::{
        Addresses, CflbConfig, Cipher, Codec, Field, Fields, PortRange, Ports, RouterChoice, Rules,
    },
    mix,
};

const PACKETS: u32 = 4096;
const EPHEMERAL: PortRange = PortRange { low: 32_768, high: 60_999 };

#[derive(Clone, Copy, Debug)]
enum Family {
    V4,
    V6,
}

fn address(family: Family, number: u32) -> IpAddr {
    match family {
        Family::V4 => IpAddr::from(number.to_be_bytes()),
        Family::V6 => IpAddr::from((0x2001_0db8_u128 << 96 | u128::from(number)).to_be_bytes()),
    }
}

fn packet(family: Family, number: u32) -> Fields {
    let [source, destination] = [1, 2].map(|salt| address(family, mix(number, salt)));
    Fields {
        addresses: Addresses::new(source, destination).expect("one family"),
        protocol: 6,
        ports: Some(Ports::from_bits(mix(number, 3) | 0x8000_0000)),
        flow_label: mix(number, 4) >> 12,
        ttl: 64 - (mix(number, 5) % 6) as u8,
    }
}

fn packets(family: Family) -> Vec<Fields> {
    (0..PACKETS).map(|number| packet(family, number)).collect()
}

fn codec(cipher: Cipher, field: Field, radix: u16) -> Codec {
    let key: [u8; 16] = core::array::from_fn(|byte| 17 * byte as u8);
    let config = CflbConfig { field, cipher, radix, rules: Rules::Even };
    Codec::new(&config, &key[..cipher.key_bytes()]).expect("a sound configuration")
}

const KINDS: [(&str, Cipher, Field); 6] = [
    ("rc5", Cipher::Rc5, Field::Ports),
    ("skip32", Cipher::Skip32, Field::Ports),
    ("feistel-32", Cipher::Feistel, Field::Ports),
    ("feistel-20", Cipher::Feistel, Field::FlowLabel),
    ("feistel-16", Cipher::Feistel, Field::SourcePort(PortRange::ALL)),
    ("feistel-ephemeral", Cipher::Feistel, Field::SourcePort(EPHEMERAL)),
];

fn decide(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decide");
    group.throughput(Throughput::Elements(u64::from(PACKETS)));
    for (name, cipher, field) in KINDS {
        for (radix, family) in [(4, Family::V4), (3, Family::V4), (4, Family::V6), (3, Family::V6)]
        {
            let (codec, packets) = (codec(cipher, field, radix), packets(family));
            group.bench_function(format!("{name}/B={radix}/{family:?}"), |bench| {
                bench.iter(|| {
                    let next_hops = |fields| codec.decide(7, fields, radix).next_hop;
                    packets
                        .iter()
                        .map(|fields| u32::from(next_hops(black_box(fields))))
                        .sum::<u32>()
                });
            });
        }
    }
}

fn encode(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("encode");
    group.throughput(Throughput::Elements(u64::from(PACKETS)));
    let choices =
        [0, 1, 3, 4].map(|hop| RouterChoice { hop, next_hop: u16::from(hop) % 3, next_hops: 3 });
    for (name, cipher, field) in KINDS {
        let (codec, packets) = (codec(cipher, field, 4), packets(Family::V6));
        group.bench_function(format!("{name}/B=4/V6"), |bench| {
            bench.iter(|| {
                for (filler, fields) in (0..).zip(&packets) {
                    let _ = black_box(codec.encode(&choices, black_box(fields), filler));
                }
            });
        });
    }
}

criterion_group!(benches, decide, encode);
criterion_main!(benches);
