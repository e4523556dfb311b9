//! Random draws, from a seed or from bytes that a fuzzer chooses.

/// A source of draws.
pub trait Draw {
    /// A number of `bytes` bytes, 1 to 4.
    fn number(&mut self, bytes: u32) -> u32;
}

impl dyn Draw + '_ {
    /// A number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: u32) -> u32 {
        let bytes = (u32::BITS - n.leading_zeros()).div_ceil(8).max(1);
        self.number(bytes).checked_rem(n).unwrap_or(0)
    }

    /// True in `times` of `of` cases.
    pub fn chance(&mut self, times: u32, of: u32) -> bool {
        self.below(of) >= of.saturating_sub(times)
    }

    /// One of `choices`, which has at least one.
    pub fn choose<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u32) as usize]
    }
}

/// Draws from a seed (SplitMix64; Steele, Lea and Flood, OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct Generator(pub u64);

impl Draw for Generator {
    fn number(&mut self, bytes: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) as u32) >> (u32::BITS - 8 * bytes.clamp(1, 4))
    }
}

/// Draws from bytes; zeros once they are used up.
#[derive(Clone, Debug)]
pub struct Bytes<'a>(pub &'a [u8]);

impl Bytes<'_> {
    /// True if all bytes are used up.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Draw for Bytes<'_> {
    fn number(&mut self, bytes: u32) -> u32 {
        (0..bytes).fold(0, |number, _| {
            let byte = self.0.split_off_first().copied().unwrap_or_default();
            number << 8 | u32::from(byte)
        })
    }
}
