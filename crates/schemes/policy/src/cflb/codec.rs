//! What all routers and senders of a network share, and a router's decision (algorithm 1).

use super::hash::{hash_words, of_uncontrollable};
use super::{Cipher, Field, Fields, Function, Radix};
use crate::{mix, pick};

/// How selectors are written and read, where the paper's way spreads flows that nobody steers unevenly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rules {
    /// Each digit is shifted by a hash of its own, and a selector that no sender writes, one from B^L up, is hashed.
    #[default]
    Even,
    /// All digits are shifted by one hash (equation 3), and digits are read of every selector (equation 6).
    AsPublished,
}

/// Network-wide constants, but for the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CflbConfig {
    /// The controllable fields.
    pub field: Field,
    /// F.
    pub cipher: Cipher,
    /// B: not below the number of next hops of any router.
    pub radix: u16,
    /// How selectors are written and read.
    pub rules: Rules,
}

/// Why constants make no codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// The source ports are a range without ports.
    #[error("the range of source ports is empty")]
    NoPorts,
    /// The cipher's blocks are not as wide as the field.
    #[error("the cipher needs a field of 32 bits, this one has {values} values")]
    Cipher {
        /// Values of the field.
        values: u64,
    },
    /// The key is not the cipher's.
    #[error("the key has {given} bytes, the cipher needs {needed}")]
    Key {
        /// Bytes that the cipher needs.
        needed: usize,
        /// Bytes that were given.
        given: usize,
    },
    /// A base in which nothing can be written.
    #[error("a radix of {radix} cannot be: from 2 to {values}")]
    Radix {
        /// The radix.
        radix: u16,
        /// Values of the field.
        values: u64,
    },
}

/// Network-wide constants, made ready: a selector for each packet, a decision for each router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codec {
    pub(super) field: Field,
    pub(super) function: Function,
    pub(super) radix: Radix,
    rules: Rules,
}

/// A router's next hop for a packet, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The next hop's number, from 0.
    pub next_hop: u16,
    /// What decided.
    pub reason: Reason,
}

/// What decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// There is one next hop only.
    Alone,
    /// The selector's digit at a position.
    Controlled {
        /// The position, TTL mod L.
        position: u8,
        /// The digit, which is the next hop.
        digit: u16,
    },
    /// A hash, because the digit names no next hop: nobody steers the packet, or the next hops are fewer than the sender thought.
    DigitTooHigh {
        /// The position, TTL mod L.
        position: u8,
        /// The digit.
        digit: u16,
    },
    /// A hash, because no sender writes this selector ([`Rules::Even`]).
    NoSelector,
    /// A hash, because the packet has none of the controllable fields.
    NoField,
}

impl Codec {
    /// Checks the constants and expands the key.
    ///
    /// # Errors
    /// See [`CodecError`].
    pub fn new(config: &CflbConfig, key: &[u8]) -> Result<Codec, CodecError> {
        let CflbConfig { field, cipher, radix, rules } = *config;
        let values = field.values();
        if values == 0 {
            return Err(CodecError::NoPorts);
        }
        if !cipher.fits(values) {
            return Err(CodecError::Cipher { values });
        }
        let (needed, given) = (cipher.key_bytes(), key.len());
        let function =
            Function::new(cipher, values, key).ok_or(CodecError::Key { needed, given })?;
        let radix = Radix::new(radix, values).ok_or(CodecError::Radix { radix, values })?;
        Ok(Codec { field, function, radix, rules })
    }

    /// The controllable fields.
    pub const fn field(&self) -> Field {
        self.field
    }

    /// B, L and the powers of B.
    pub const fn radix(&self) -> &Radix {
        &self.radix
    }

    /// What router number `router` does with a packet that has `next_hops` next hops, at least 1 (equation 7, algorithm 1).
    #[inline]
    pub fn decide(&self, router: u32, fields: &Fields, next_hops: u16) -> Decision {
        if next_hops <= 1 {
            return Decision { next_hop: 0, reason: Reason::Alone };
        }
        let hash = of_uncontrollable(self.field, fields);
        let value = self.field.read(fields);
        let reason = self.read(value, hash, fields.ttl, next_hops);
        let next_hop = match reason {
            Reason::Controlled { digit, .. } => digit,
            _ => {
                let seen = hash_words(hash, &[value.unwrap_or_default(), router]);
                pick(seen, usize::from(next_hops)) as u16
            }
        };
        Decision { next_hop, reason }
    }

    #[inline]
    fn read(&self, value: Option<u32>, hash: u32, ttl: u8, next_hops: u16) -> Reason {
        let Some(value) = value else { return Reason::NoField };
        let selector = self.function.invert(value);
        if self.rules == Rules::Even && u64::from(selector) >= self.radix.selectors() {
            return Reason::NoSelector;
        }
        let position = self.radix.position(ttl);
        let shift = self.shift(hash, position);
        let digit = self.unshifted(self.radix.digit(selector, position), shift) as u16;
        let position = position as u8;
        match digit < next_hops {
            true => Reason::Controlled { position, digit },
            false => Reason::DigitTooHigh { position, digit },
        }
    }

    /// H(u) mod B, what the digit at a position is shifted by.
    #[inline]
    pub(super) fn shift(&self, hash: u32, position: u32) -> u32 {
        let hash = match self.rules {
            Rules::Even => mix(hash, position),
            Rules::AsPublished => hash,
        };
        pick(hash, self.radix.base() as usize) as u32
    }

    /// E: a digit, shifted (equation 3).
    #[inline]
    pub(super) fn shifted(&self, digit: u32, shift: u32) -> u32 {
        let shifted = digit + shift;
        if shifted >= self.radix.base() { shifted - self.radix.base() } else { shifted }
    }

    /// D, the inverse of E (equation 5).
    #[inline]
    fn unshifted(&self, digit: u32, shift: u32) -> u32 {
        if digit >= shift { digit - shift } else { digit + self.radix.base() - shift }
    }
}
