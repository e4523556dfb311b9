//! Avalanche (section 3.3): a bit of the input, once flipped, flips each bit of the output half of
//! the time.
//!
//! Over n = 16384 keys and inputs an output bit flips n / 2 times, with a standard deviation of
//! sqrt(n) / 2 = 64 (binomial). Six of them are exceeded by chance once in 5 * 10^8 pairs of bits;
//! a function has 1024 pairs at most.

use alloc::vec;

use super::*;

const TRIALS: u32 = 16_384;
const SIX_SIGMA: u32 = 6 * 64;

/// Largest deviation from half, over pairs of an input and an output bit.
fn worst(bits: u32, function: impl Fn(u32, u32) -> u32) -> u32 {
    let mut flips = vec![0u32; (bits * bits) as usize];
    for trial in 0..TRIALS {
        let input = mix(trial, 0x5eed) >> (32 - bits);
        let output = function(trial, input);
        for (bit, flips) in (0..bits).zip(flips.chunks_mut(bits as usize)) {
            let flipped = output ^ function(trial, input ^ 1 << bit);
            (0..bits).zip(flips).for_each(|(bit, flips)| *flips += flipped >> bit & 1);
        }
    }
    flips.iter().map(|flips| flips.abs_diff(TRIALS / 2)).max().unwrap()
}

fn key<const BYTES: usize>(number: u32) -> [u8; BYTES] {
    core::array::from_fn(|byte| mix(number, byte as u32) as u8)
}

/// The worse of both directions.
fn worst_of_cipher(cipher: Cipher, bits: u32) -> u32 {
    let function =
        |trial| Function::new(cipher, 1 << bits, &key::<16>(trial)[..cipher.key_bytes()]).unwrap();
    let apply = worst(bits, |trial, input| function(trial).apply(input));
    apply.max(worst(bits, |trial, input| function(trial).invert(input)))
}

fn worst_of_feistel<const PAIRS: usize>(bits: u32) -> u32 {
    let feistel = |trial| Feistel::<PAIRS>::new(1 << bits, &key(trial));
    let encrypt = worst(bits, |trial, input| feistel(trial).encrypt(input));
    encrypt.max(worst(bits, |trial, input| feistel(trial).decrypt(input)))
}

#[test]
fn every_function_has_avalanche() {
    for (cipher, bits) in
        [(Cipher::Rc5, 32), (Cipher::Skip32, 32), (Cipher::Feistel, 32), (Cipher::Feistel, 20)]
    {
        let worst = worst_of_cipher(cipher, bits);
        assert!(worst <= SIX_SIGMA, "{cipher:?} on {bits} bits: {worst} from half");
    }
}

#[test]
fn six_rounds_of_a_feistel_network_have_avalanche_from_10_bits_on() {
    for bits in [10, 15, 16] {
        let worst = worst_of_feistel::<3>(bits);
        assert!(worst <= SIX_SIGMA, "{bits} bits: {worst} from half");
    }
}

/// Two rounds leave one half as it was but for the flipped bit; four have avalanche where halves
/// are not too narrow.
#[test]
fn two_rounds_have_none_and_four_do_from_15_bits_on() {
    assert_eq!(worst_of_feistel::<1>(16), TRIALS / 2);
    for bits in [15, 16, 32] {
        let worst = worst_of_feistel::<2>(bits);
        assert!(worst <= SIX_SIGMA, "{bits} bits: {worst} from half");
    }
}

#[test]
fn the_hash_has_avalanche() {
    for place in 0..4 {
        let hash = |trial, word| {
            let mut words: [u32; 4] = core::array::from_fn(|i| mix(trial, i as u32 + 1));
            words[place] = word;
            hash_words(0, &words)
        };
        let worst = worst(32, hash);
        assert!(worst <= SIX_SIGMA, "word {place}: {worst} from half");
    }
}
