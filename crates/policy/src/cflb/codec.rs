//! What all routers and senders of a network share, and a router's decision (algorithm 1).

use super::hash::{hash_words, of_uncontrollable};
use super::{Cipher, Field, Fields, Function, Radix};
use crate::pick;

/// What becomes of a packet whose selector no sender writes: one from B^L up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Surplus {
    /// It is hashed, as any packet that is not steered: every digit is then as frequent as the others.
    #[default]
    Hash,
    /// Its digits are read all the same (equation 6).
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
    /// What becomes of selectors that nobody writes.
    pub surplus: Surplus,
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
    surplus: Surplus,
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
    /// A hash, because no sender writes this selector ([`Surplus::Hash`]).
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
        let CflbConfig { field, cipher, radix, surplus } = *config;
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
        Ok(Codec { field, function, radix, surplus })
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
        if self.surplus == Surplus::Hash && u64::from(selector) >= self.radix.selectors() {
            return Reason::NoSelector;
        }
        let position = self.radix.position(ttl);
        let digit = self.unshift(self.radix.digit(selector, position), hash) as u16;
        let position = position as u8;
        match digit < next_hops {
            true => Reason::Controlled { position, digit },
            false => Reason::DigitTooHigh { position, digit },
        }
    }

    /// E: a digit shifted by the hash of the uncontrollable fields (equation 3).
    #[inline]
    pub(super) fn shift(&self, digit: u32, hash: u32) -> u32 {
        let shifted = digit + self.shift_of(hash);
        if shifted >= self.radix.base() { shifted - self.radix.base() } else { shifted }
    }

    /// D, the inverse of E (equation 5).
    #[inline]
    fn unshift(&self, digit: u32, hash: u32) -> u32 {
        let shift = self.shift_of(hash);
        if digit >= shift { digit - shift } else { digit + self.radix.base() - shift }
    }

    /// H(u) mod B.
    #[inline]
    fn shift_of(&self, hash: u32) -> u32 {
        pick(hash, self.radix.base() as usize) as u32
    }
}
