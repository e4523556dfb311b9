//! Names, ranges, and how routers one behind the other agree.

use std::net::{Ipv4Addr, Ipv6Addr};

use heddle_policy::cflb::{Addresses, Ports};
use proptest::prelude::*;

use super::*;

fn fields(source: u32, ports: u32) -> Fields {
    let addresses = Addresses::V4(Ipv4Addr::from_bits(source), Ipv4Addr::new(10, 0, 0, 2));
    Fields { addresses, protocol: 6, ports: Some(Ports::from_bits(ports)), flow_label: 0, ttl: 64 }
}

fn chooser(name: &str) -> Chooser {
    choosers(2).into_iter().find(|chooser| chooser.name == name).unwrap()
}

#[test]
fn names_are_different_and_radices_serve() {
    for next_hops in [2, 3, 4, 16] {
        let mut names: Vec<String> = choosers(next_hops).into_iter().map(|c| c.name).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
    assert_eq!(
        [2, 3, 4, 16].map(radices),
        [vec![3, 4, 16], vec![4, 16], vec![4, 5, 16], vec![16, 17]]
    );
}

#[test]
fn every_router_comes_as_published_too() {
    let names: Vec<String> = routers(2).into_iter().map(|chooser| chooser.name).collect();
    for pair in names.chunks(2) {
        assert_eq!(pair[1], format!("{}, as published", pair[0]));
    }
    assert_eq!(names.len(), 4 * 3 * 2);
}

#[test]
fn a_tuple_is_in_the_order_of_the_figure() {
    let packet = fields(0x0a00_0001, 0x1234_0050);
    let expected = [10, 0, 0, 1, 10, 0, 0, 2, 6, 0x12, 0x34, 0, 80];
    assert_eq!(Tuple::new(&packet).bytes(), expected);
    assert_eq!(Tuple::new(&packet).with_router(7).bytes(), [&expected[..], &[0, 0, 0, 7]].concat());
    let addresses = Addresses::V6(Ipv6Addr::LOCALHOST, Ipv6Addr::UNSPECIFIED);
    let v6 = Fields { addresses, ..packet };
    assert_eq!(Tuple::new(&v6).with_router(7).bytes().len(), 16 + 16 + 1 + 2 + 2 + 4);
}

/// Of 4096 flows, how many find the same next hop of two at routers 0 and 1.
fn agreeing(name: &str) -> usize {
    let function = chooser(name).function;
    let same = |i: &u32| {
        let fields = fields(i.wrapping_mul(0x9e37_79b9), i.wrapping_mul(0x85eb_ca6b));
        function.next_hop(&fields, 0, 2) == function.next_hop(&fields, 1, 2)
    };
    (0..4096).filter(same).count()
}

/// A linear hash: all or none. Others: half of them, within four standard deviations of 32.
#[test]
fn linear_hashes_agree_about_every_flow() {
    for name in ["crc16", "crc32", "toeplitz"] {
        assert!([0, 4096].contains(&agreeing(name)), "{name}: {}", agreeing(name));
        let mixed = agreeing(&format!("{name}, mixed"));
        assert!((1920..=2176).contains(&mixed), "{name}: {mixed}");
    }
    for name in ["md5", "xxh64"] {
        assert!((1920..=2176).contains(&agreeing(name)), "{name}: {}", agreeing(name));
    }
}

#[test]
fn round_robin_takes_turns() {
    let function = RoundRobin::default();
    assert_eq!([(); 5].map(|()| function.next_hop(&fields(1, 2), 0, 3)), [1, 2, 0, 1, 2]);
}

proptest! {
    #[test]
    fn every_choice_is_one_of_the_next_hops(source: u32, ports: u32, router: u32, next_hops in 1u16..=64) {
        for chooser in choosers(next_hops) {
            let hop = chooser.function.next_hop(&fields(source, ports), router, next_hops);
            prop_assert!(hop < next_hops, "{}: {hop}", chooser.name);
        }
    }
}
