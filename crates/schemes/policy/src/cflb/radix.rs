//! Path selectors as numbers in base B (section 3.2).

use core::num::NonZeroU32;

/// The most digits that a selector can have: 32 bits, base 2.
pub const MAX_LENGTH: usize = 32;

/// The base B of the selectors, the number of their digits L, and the powers of B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Radix {
    base: NonZeroU32,
    length: NonZeroU32,
    /// B^i; 1 beyond L.
    powers: [NonZeroU32; MAX_LENGTH],
    /// B^L: selectors are below it.
    selectors: u64,
}

impl Radix {
    /// Selectors in base `base` for fields of `values` values: L is the greatest with `base`^L not
    /// above `values` (at most 2^32). `None` for a base below 2, and where not even one digit fits.
    pub fn new(base: u16, values: u64) -> Option<Radix> {
        let base = u64::from(base);
        if base < 2 || base > values {
            return None;
        }
        let values = values.min(1 << 32);
        let mut powers = [NonZeroU32::MIN; MAX_LENGTH];
        let (mut length, mut power) = (0, 1u64);
        while length < MAX_LENGTH && power * base <= values {
            powers[length] = NonZeroU32::new(power as u32)?;
            (length, power) = (length + 1, power * base);
        }
        let (base, length) = (NonZeroU32::new(base as u32)?, NonZeroU32::new(length as u32)?);
        Some(Radix { base, length, powers, selectors: power })
    }

    /// B.
    pub const fn base(&self) -> u32 {
        self.base.get()
    }

    /// L, the number of digits, 1 to 32.
    pub const fn length(&self) -> u32 {
        self.length.get()
    }

    /// B^L: every selector is below it.
    pub const fn selectors(&self) -> u64 {
        self.selectors
    }

    /// The position of a router in the selector: the TTL of the packet that it receives, modulo L.
    #[inline]
    pub fn position(&self, ttl: u8) -> u32 {
        u32::from(ttl) % self.length
    }

    /// The digit of a selector at a position below L (equation 2).
    #[inline]
    pub fn digit(&self, selector: u32, position: u32) -> u32 {
        selector / self.powers[position as usize % MAX_LENGTH] % self.base
    }

    /// Removes and returns the lowest digit of a number.
    pub(super) fn take_digit(&self, number: &mut u32) -> u32 {
        let digit = *number % self.base;
        *number /= self.base;
        digit
    }

    /// Value of a digit at a position below L (equation 1).
    #[inline]
    pub(super) fn weight(&self, digit: u32, position: u32) -> u32 {
        digit.wrapping_mul(self.powers[position as usize % MAX_LENGTH].get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 3.1: L is the greatest with B^L not above the number of values, for every base and
    /// width of field.
    #[test]
    fn selectors_are_as_long_as_fit() {
        for values in [2, 1000, 28_232, 1 << 16, 1 << 20, 1u64 << 32] {
            for base in 2..=u16::MAX {
                let Some(radix) = Radix::new(base, values) else {
                    assert!(u64::from(base) > values);
                    continue;
                };
                assert_eq!(radix.selectors(), u64::from(base).pow(radix.length()));
                assert!((values / u64::from(base) + 1..=values).contains(&radix.selectors()));
            }
        }
    }

    #[test]
    fn digits_add_up_to_the_selector() {
        for base in [2, 3, 4, 7, 16, 255, u16::MAX] {
            let radix = Radix::new(base, 1 << 32).unwrap();
            let mut selector = (radix.selectors() - 1) as u32;
            for _ in 0..1000 {
                let weigh = |position| radix.weight(radix.digit(selector, position), position);
                assert_eq!((0..radix.length()).map(weigh).sum::<u32>(), selector);
                selector = selector / 2 + selector / 5;
            }
        }
    }
}
