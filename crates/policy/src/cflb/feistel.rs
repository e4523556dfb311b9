//! A permutation of any number of values up to 2^32: a balanced Feistel network over the next even number of bits, walked along its
//! cycle until the value is in range (Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002, sections 3 and 5).
//!
//! 16 and 20 bits are even, so that ports and flow labels are never walked; a range of ports may be. The round function is
//! MurmurHash3's finaliser. This spreads flows; it hides nothing from who can choose ports and look where packets go.

use crate::mix;

/// Rounds.
const ROUNDS: usize = 8;

/// A permutation of `0..values`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Feistel {
    values: u64,
    half_bits: u32,
    keys: [u32; ROUNDS],
}

impl Feistel {
    /// A permutation of the numbers below `values`, 1 to 2^32.
    pub fn new(values: u64, key: &[u8; 16]) -> Feistel {
        let values = values.clamp(1, 1 << 32);
        let bits = 64 - (values - 1).leading_zeros();
        let words: [u32; 4] = core::array::from_fn(|word| {
            u32::from_le_bytes(core::array::from_fn(|byte| key[4 * word + byte]))
        });
        let mut state = 0;
        let keys = core::array::from_fn(|round| {
            state = mix(state ^ words[round % words.len()], round as u32 + 1);
            state
        });
        Feistel { values, half_bits: bits.div_ceil(2), keys }
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

    /// At least a quarter of the network's values are in range, so few steps are walked.
    #[inline]
    fn walk(&self, number: u32, step: impl Fn(u32) -> u32) -> u32 {
        let mut block = step(number);
        while u64::from(block) >= self.values {
            block = step(block);
        }
        block
    }

    #[inline]
    fn network(&self, block: u32) -> u32 {
        let (mut left, mut right) = self.halves(block);
        for &key in &self.keys {
            (left, right) = (right, left ^ self.round(right, key));
        }
        self.join(left, right)
    }

    #[inline]
    fn reverse(&self, block: u32) -> u32 {
        let (mut left, mut right) = self.halves(block);
        for &key in self.keys.iter().rev() {
            (left, right) = (right ^ self.round(left, key), left);
        }
        self.join(left, right)
    }

    #[inline]
    fn round(&self, half: u32, key: u32) -> u32 {
        mix(half, key) & self.mask()
    }

    #[inline]
    fn halves(&self, block: u32) -> (u32, u32) {
        (block >> self.half_bits & self.mask(), block & self.mask())
    }

    #[inline]
    fn join(&self, left: u32, right: u32) -> u32 {
        left << self.half_bits | right
    }

    #[inline]
    fn mask(&self) -> u32 {
        (1 << self.half_bits) - 1
    }
}
