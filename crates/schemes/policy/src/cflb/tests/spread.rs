//! Flows that are not steered spread as evenly as by a good hash (section 4.1.1).
//!
//! Pearson's statistic of each case stays below the bound that it exceeds with probability 10^-6,
//! and so does the sum over all cases of a kind, which detects a small bias that no single case
//! would show.

use super::*;
use crate::testing::{chi_square, chi_square_bound};

const FLOWS: u32 = 4096;

#[derive(Clone, Copy, Debug)]
enum Traffic {
    /// Every address, port and label at random.
    Any,
    /// One client and one server: port 443, with consecutive client ports or labels.
    OneServer,
}

/// Addresses at random, in the family that has the field.
fn hosts(field: Field, salt: u32) -> Addresses {
    let [source, destination] = [1, 2].map(|host| mix(salt, host));
    match field {
        Field::Ports | Field::SourcePort(_) => Addresses::V4(source.into(), destination.into()),
        Field::FlowLabel => {
            Addresses::V6(u128::from(source).into(), u128::from(destination).into())
        }
    }
}

/// Flow number `number` of a case.
fn packet(traffic: Traffic, field: Field, case: u32, number: u32) -> Fields {
    let flow = case << 16 | number;
    let (addresses, ports, flow_label) = match traffic {
        Traffic::Any => (hosts(field, flow), Ports::from_bits(mix(flow, 3)), mix(flow, 4) >> 12),
        Traffic::OneServer => {
            let ports = Ports { source: 33_000 + number as u16, destination: 443 };
            (hosts(field, case), ports, number)
        }
    };
    Fields { addresses, ports: Some(ports), flow_label, ..ipv4(64) }
}

/// Next hops of all flows at routers in a row, each flow as one number in base N.
fn counts<const CELLS: usize>(
    codec: &Codec,
    traffic: Traffic,
    case: u32,
    routers: u8,
    next_hops: u16,
) -> [u32; CELLS] {
    let mut counts = [0; CELLS];
    for number in 0..FLOWS {
        let sent = packet(traffic, codec.field(), case, number);
        let way = (0..routers).fold(0, |way, hop| {
            way * usize::from(next_hops)
                + usize::from(at_router(codec, &sent, hop, next_hops).next_hop)
        });
        counts[way] += 1;
    }
    counts
}

/// Sums Pearson's statistics.
#[derive(Default)]
struct Sum {
    statistic: f64,
    degrees: u32,
    cases: u32,
}

impl Sum {
    fn add(&mut self, counts: &[u32], case: core::fmt::Arguments<'_>) {
        let (statistic, degrees) = (chi_square(counts), counts.len() as u32 - 1);
        assert!(statistic < chi_square_bound(degrees), "{case}: {counts:?}");
        self.statistic += statistic;
        self.degrees += degrees;
        self.cases += 1;
    }

    fn check(&self, kind: core::fmt::Arguments<'_>) {
        let bound = chi_square_bound(self.degrees);
        assert!(self.statistic < bound, "{kind}: {} is not below {bound}", self.statistic);
    }
}

/// N = 2 to 8, B = N to 16, each with a key and hosts of its own.
#[test]
fn one_router_spreads_flows_evenly() {
    for (cipher, field) in KINDS {
        for traffic in [Traffic::Any, Traffic::OneServer] {
            let mut sum = Sum::default();
            for (next_hops, radix) in (2..=8u16).flat_map(|n| (n..=16).map(move |b| (n, b))) {
                let key = u32::from(next_hops) << 8 | u32::from(radix);
                let codec = codec_with(cipher, field, radix, Rules::Even, key);
                let counts: [u32; 8] = counts(&codec, traffic, key, 1, next_hops);
                sum.add(
                    &counts[..usize::from(next_hops)],
                    format_args!("{cipher:?} {field:?} {traffic:?} N={next_hops} B={radix}"),
                );
            }
            assert_eq!(sum.cases, 84);
            sum.check(format_args!("{cipher:?} {field:?} {traffic:?}"));
        }
    }
}

/// Figure 6b: all paths through four routers are equally frequent, so the choices of the routers
/// are independent.
#[test]
fn four_routers_in_a_row_choose_independently() {
    for (cipher, field) in KINDS {
        for traffic in [Traffic::Any, Traffic::OneServer] {
            let mut sum = Sum::default();
            for radix in 2..=12 {
                let codec = codec_with(cipher, field, radix, Rules::Even, radix.into());
                assert!(codec.radix().length() >= 4, "further ones read a digit again");
                let mut add = |counts: &[u32]| {
                    sum.add(counts, format_args!("{cipher:?} {field:?} {traffic:?} B={radix}"));
                };
                add(&counts::<16>(&codec, traffic, radix.into(), 4, 2));
                if radix >= 3 {
                    add(&counts::<81>(&codec, traffic, radix.into(), 4, 3));
                }
            }
            sum.check(format_args!("{cipher:?} {field:?} {traffic:?}"));
        }
    }
}

/// Routers L apart read the same digit. With N = B they choose alike, with N < B as often as the
/// digit is a next hop. Flows polarise on a path longer than the selector, which is why a wide
/// field and a small base matter.
#[test]
fn routers_a_selector_apart_read_the_same_digit() {
    let codec = codec_of_16_bits(16);
    assert_eq!(codec.radix().length(), 4);
    for number in 0..FLOWS {
        let sent = packet(Traffic::Any, codec.field(), 0, number);
        let [near, far] = [0, 4].map(|hop| at_router(&codec, &sent, hop, 16));
        assert_eq!(near, far);
    }
}
