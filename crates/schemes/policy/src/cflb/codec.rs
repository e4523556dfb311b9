//! Network-wide constants of CFLB, and a router's decision (algorithm 1).

use super::hash::{hash_words, of_uncontrollable};
use super::{Cipher, Field, Fields, Function, Radix};
use crate::{mix, pick};

/// Encoding of selectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(rename_all = "kebab-case")
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename = "CflbRules"))]
pub enum Rules {
    /// Each digit is shifted by a hash of its own, and a value from B^L up, which encodes no path,
    /// is hashed: flows that are not steered are distributed evenly.
    #[default]
    Even,
    /// All digits are shifted by one hash (CFLB equation 3), and digits are read of every selector
    /// (equation 6).
    AsPublished,
}

/// Network-wide constants, but for the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(deny_unknown_fields)
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct CflbConfig {
    /// The controllable fields.
    pub field: Field,
    /// F.
    pub cipher: Cipher,
    /// B: not below the number of next hops of any router.
    pub radix: u16,
    /// Rules for writing and reading selectors.
    pub rules: Rules,
}

/// Error of the network-wide constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// The range of source ports is empty.
    #[error("the range of source ports is empty")]
    NoPorts,
    /// The cipher's blocks are not as wide as the field.
    #[error("the cipher needs a field of 32 bits, this one has {values} values")]
    Cipher {
        /// Values of the field.
        values: u64,
    },
    /// The key has a wrong length.
    #[error("the key has {given} bytes, the cipher needs {needed}")]
    Key {
        /// Bytes that the cipher needs.
        needed: usize,
        /// Bytes of the key.
        given: usize,
    },
    /// The base is out of range.
    #[error("a radix of {radix} cannot be: from 2 to {values}")]
    Radix {
        /// The radix.
        radix: u16,
        /// Values of the field.
        values: u64,
    },
}

/// Encoder and decoder with prepared constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codec {
    pub(super) field: Field,
    pub(super) function: Function,
    pub(super) radix: Radix,
    rules: Rules,
}

/// A router's next hop for a packet, with the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The next hop's number, from 0.
    pub next_hop: u16,
    /// Reason of a decision.
    pub reason: Reason,
}

/// Reason of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// There is only one next hop.
    Alone,
    /// The digit of the selector at the router's position.
    Controlled {
        /// The position, TTL mod L.
        position: u8,
        /// The digit, which is the next hop.
        digit: u16,
    },
    /// A hash, because the digit has no next hop: the packet is not steered, or there are fewer
    /// next hops than the sender assumed.
    DigitTooHigh {
        /// The position, TTL mod L.
        position: u8,
        /// The digit.
        digit: u16,
    },
    /// A hash, because this value encodes no path ([`Rules::Even`]).
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

    /// Decision of router number `router` for a packet with `next_hops` next hops, at least 1
    /// (equation 7, algorithm 1).
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

    /// H(u) mod B, the shift of the digit at a position.
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
