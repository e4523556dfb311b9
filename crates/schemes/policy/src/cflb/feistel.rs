//! A permutation of any number of values up to 2^32: an alternating Feistel network over the bits
//! that they need, walked along its cycle until the value is in range (Black and Rogaway, "Ciphers
//! with arbitrary finite domains", CT-RSA 2002, sections 3 and 5).
//!
//! The halves need not be equal: odd numbers of bits are not rounded up, so that more than half of
//! the network's values are in range and few values need more than one step. A flow label (20 bits)
//! and all 65536 ports need one.
//!
//! The round function is the finaliser of MurmurHash3. From 15 bits on, four rounds have avalanche
//! and spread consecutive values evenly, and two do not; six rounds, used here, have avalanche on
//! 10 bits too (a range of 1000 ports). The permutation spreads flows; it is not secure against an
//! attacker who chooses ports and observes paths.

#[cfg(test)]
mod tests;

use crate::mix;

/// Most steps of a walk. Where more than half of the values are in range, a walk of a random
/// permutation needs more with a probability under 2^-128: 2^-96 for one anywhere among 2^32
/// values. With up to 128 values out of range no walk can be longer.
const MOST_STEPS: usize = 128;

/// A permutation of `0..values` with `PAIRS` pairs of rounds: one changes the left half, one the
/// right half.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Feistel<const PAIRS: usize = 3> {
    /// The largest value.
    last: u32,
    right_bits: u32,
    left_mask: u32,
    right_mask: u32,
    keys: [[u32; 2]; PAIRS],
}

impl<const PAIRS: usize> Feistel<PAIRS> {
    /// A permutation of the numbers below `values`, 1 to 2^32.
    pub fn new(values: u64, key: &[u8; 16]) -> Feistel<PAIRS> {
        let last = (values.clamp(1, 1 << 32) - 1) as u32;
        let bits = u32::BITS - last.leading_zeros();
        let (left_bits, right_bits) = (bits / 2, bits.div_ceil(2));
        let keys = round_keys(key);
        let (left_mask, right_mask) = ((1 << left_bits) - 1, (1 << right_bits) - 1);
        Feistel { last, right_bits, left_mask, right_mask, keys }
    }

    /// The image of a number below `values`.
    #[inline]
    pub fn encrypt(&self, number: u32) -> u32 {
        self.walk(number, |block| self.network(block))
    }

    /// The number whose image it is.
    #[inline]
    pub fn decrypt(&self, image: u32) -> u32 {
        self.walk(image, |block| self.reverse(block))
    }

    #[inline]
    fn walk(&self, number: u32, step: impl Fn(u32) -> u32) -> u32 {
        let mut block = number;
        for _ in 0..MOST_STEPS {
            block = step(block);
            if block <= self.last {
                break;
            }
        }
        block
    }

    #[inline]
    fn network(&self, block: u32) -> u32 {
        let (mut left, mut right) = self.halves(block);
        for &[a, b] in &self.keys {
            left ^= mix(right, a) & self.left_mask;
            right ^= mix(left, b) & self.right_mask;
        }
        self.join(left, right)
    }

    #[inline]
    fn reverse(&self, block: u32) -> u32 {
        let (mut left, mut right) = self.halves(block);
        for &[a, b] in self.keys.iter().rev() {
            right ^= mix(left, b) & self.right_mask;
            left ^= mix(right, a) & self.left_mask;
        }
        self.join(left, right)
    }

    #[inline]
    fn halves(&self, block: u32) -> (u32, u32) {
        (block >> self.right_bits & self.left_mask, block & self.right_mask)
    }

    #[inline]
    fn join(&self, left: u32, right: u32) -> u32 {
        left << self.right_bits | right
    }
}

/// Round keys from the key's four words in rotation, each mixed into the state before.
fn round_keys<const PAIRS: usize>(key: &[u8; 16]) -> [[u32; 2]; PAIRS] {
    let words = key.as_chunks().0.iter().copied().map(u32::from_le_bytes).cycle();
    let mut keys = [[0; 2]; PAIRS];
    let mut state = 0;
    for ((round, word), key) in (1..).zip(words).zip(keys.as_flattened_mut()) {
        state = mix(state ^ word, round);
        *key = state;
    }
    keys
}
