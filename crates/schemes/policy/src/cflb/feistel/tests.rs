//! The network as a permutation, and as many rounds as its spread needs.

use alloc::vec;

use proptest::prelude::*;

use super::Feistel;
use crate::{
    mix,
    testing::{chi_square, chi_square_bound},
};

fn key(number: u32) -> [u8; 16] {
    core::array::from_fn(|byte| mix(number, byte as u32) as u8)
}

/// Every number below `values` has an image below it, no two the same one, and comes back.
fn permutes(values: u32, key: &[u8; 16]) {
    let feistel = Feistel::<3>::new(values.into(), key);
    let mut seen = vec![false; values as usize];
    for number in 0..values {
        let image = feistel.encrypt(number);
        assert!(!core::mem::replace(&mut seen[image as usize], true), "{image} of {values} twice");
        assert_eq!(feistel.decrypt(image), number);
    }
}

/// All ports and all flow labels.
#[test]
fn whole_fields_are_permuted() {
    permutes(1 << 16, &key(1));
    permutes(1 << 20, &key(2));
}

/// Linux's range of ephemeral ports, all but the low ones, the registry's dynamic ones; a range
/// just too wide for its bits.
#[test]
fn ranges_of_ports_are_permuted() {
    for values in [28_232, 28_233, 64_512, 16_384, 16_385, 32_769, 1000, 129, 3, 2, 1] {
        (0..20).for_each(|number| permutes(values, &key(number)));
    }
}

#[test]
fn the_smallest_ranges_are_permuted_with_any_key() {
    for values in 1..=130 {
        (0..100).for_each(|number| permutes(values, &key(number)));
    }
}

proptest! {
    #[test]
    fn blocks_of_32_bits_come_back(key: [u8; 16], number: u32) {
        let feistel = Feistel::<3>::new(1 << 32, &key);
        prop_assert_eq!(feistel.decrypt(feistel.encrypt(number)), number);
        prop_assert_eq!(feistel.encrypt(feistel.decrypt(number)), number);
    }

    #[test]
    fn any_range_is_kept_to(key: [u8; 16], values in 1u64..=1 << 32, number: u32) {
        let (feistel, number) = (Feistel::<3>::new(values, &key), u64::from(number) % values);
        let image = feistel.encrypt(number as u32);
        prop_assert!(u64::from(image) < values);
        prop_assert_eq!(u64::from(feistel.decrypt(image)), number);
    }
}

/// Unevenness of consecutive values, such as a client's ports and labels, over remainders of the
/// selectors: Pearson's statistic relative to the bound that it exceeds with probability 10^-6, for
/// 500 keys together.
fn unevenness<const PAIRS: usize>(bits: u32, modulus: u32) -> f64 {
    let (mut sum, mut degrees) = (0.0, 0);
    for number in 0..500 {
        let feistel = Feistel::<PAIRS>::new(1 << bits, &key(number));
        let start = mix(number, 77) >> (32 - bits) & !255;
        let mut counts = [0; 8];
        let counts = &mut counts[..modulus as usize];
        (start..start + 256)
            .for_each(|value| counts[(feistel.decrypt(value) % modulus) as usize] += 1);
        (sum, degrees) = (sum + chi_square(counts), degrees + modulus - 1);
    }
    sum / chi_square_bound(degrees)
}

/// Selectors modulo 8 are their low bits: two rounds add one and the same number to those of a run.
#[test]
fn two_rounds_do_not_spread_consecutive_values() {
    for bits in [16, 20, 32] {
        let ratio = unevenness::<1>(bits, 8);
        assert!(!(0.5..1.0).contains(&ratio), "{bits} bits: {ratio}");
    }
}

#[test]
fn four_and_six_rounds_spread_consecutive_values() {
    for (bits, modulus) in [15, 16, 20, 32].into_iter().flat_map(|bits| [(bits, 7), (bits, 8)]) {
        let ratios = [unevenness::<2>(bits, modulus), unevenness::<3>(bits, modulus)];
        assert!(ratios.iter().all(|ratio| *ratio < 1.0), "{bits} bits: {ratios:?}");
    }
}
