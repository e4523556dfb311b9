//! Encoding of a path in header fields by a sender (algorithm 2).

use core::ops::RangeInclusive;

use super::hash::of_uncontrollable;
use super::{Codec, Fields, MAX_LENGTH};

/// Choice of one router on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouterChoice {
    /// Number of routers before it: the first one, at 0, receives the TTL that the sender writes.
    pub hop: u8,
    /// The next hop to take, from 0.
    pub next_hop: u16,
    /// Number of its next hops. Nothing is encoded for a router with one next hop, and its choice
    /// may be omitted.
    pub next_hops: u16,
}

/// Error of an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// A router has more next hops than B.
    #[error("router {hop} of the path has {next_hops} next hops, but the radix is {radix}")]
    RadixTooSmall {
        /// The router, from 0.
        hop: u8,
        /// Its next hops.
        next_hops: u16,
        /// B.
        radix: u32,
    },
    /// A router does not have the requested next hop.
    #[error("router {hop} of the path has {next_hops} next hops: there is no number {next_hop}")]
    NoSuchNextHop {
        /// The router, from 0.
        hop: u8,
        /// The requested next hop.
        next_hop: u16,
        /// Its next hops.
        next_hops: u16,
    },
    /// Two routers with different choices read the same digit: the path is longer than the
    /// selector.
    #[error(
        "routers {first} and {second} of the path read the same digit of {length} and are to choose differently"
    )]
    TooLong {
        /// The nearer router, from 0.
        first: u8,
        /// The farther one.
        second: u8,
        /// L.
        length: u32,
    },
    /// The TTL expires on the path.
    #[error("a TTL of {ttl} does not lead past router {hop} of the path")]
    TtlTooLow {
        /// The TTL that the sender writes.
        ttl: u8,
        /// The router that would drop the packet.
        hop: u8,
    },
    /// The packet has none of the controllable fields.
    #[error("the packet has no such field to encode a path in")]
    NoField,
    /// All encodings of the path are in use or reserved.
    #[error("none of {tried} ways to name the path is free")]
    NoneFree {
        /// Number of encodings tried.
        tried: u32,
    },
}

/// Choices that determine a digit, by position. The other digits are free.
type Digits = [Option<RouterChoice>; MAX_LENGTH];

impl Codec {
    /// Largest number of values of the unused digits that are tried with one TTL.
    pub const MAX_TRIES: u32 = 1 << 16;

    /// The packet with its controllable fields set so that it takes the path. `fields.ttl` is the
    /// TTL that the sender writes; unused digits are those of `filler` in base B, so that a path
    /// has [`Codec::names`] encodings.
    ///
    /// # Errors
    /// See [`EncodeError`].
    pub fn encode(
        &self,
        choices: &[RouterChoice],
        fields: &Fields,
        filler: u32,
    ) -> Result<Fields, EncodeError> {
        let digits = self.digits(choices, fields.ttl)?;
        self.write(&digits, fields, filler).ok_or(EncodeError::NoField)
    }

    /// Number of encodings of a path: values of the controllable fields with one TTL. Saturates at
    /// 2^32 - 1.
    ///
    /// # Errors
    /// See [`EncodeError`].
    pub fn names(&self, choices: &[RouterChoice], ttl: u8) -> Result<u32, EncodeError> {
        Ok(self.names_of(&self.digits(choices, ttl)?))
    }

    /// As [`Codec::encode`], with the first encoding of the path that `is_free` accepts: with
    /// `fields.ttl` first, then with the others of `ttls` in order; fillers in order from `start`,
    /// at most [`Codec::MAX_TRIES`] with each TTL. TTLs that differ by a multiple of L have the
    /// same encodings, which are tried once.
    ///
    /// Any value of the field may occur: `is_free` must reject values in use, ports below 1024, and
    /// the flow label 0, which means none.
    ///
    /// # Errors
    /// [`EncodeError::NoneFree`] if all are rejected, [`EncodeError::NoField`]; if the path can be
    /// encoded with no TTL, the error of the first one.
    pub fn encode_free(
        &self,
        choices: &[RouterChoice],
        fields: &Fields,
        ttls: RangeInclusive<u8>,
        start: u32,
        mut is_free: impl FnMut(&Fields) -> bool,
    ) -> Result<Fields, EncodeError> {
        let (mut tried, mut tried_at, mut first_error) = (0, 0u32, None);
        for ttl in core::iter::once(fields.ttl).chain(ttls) {
            let position = 1 << self.radix.position(ttl);
            if tried_at & position != 0 {
                continue;
            }
            let digits = match self.digits(choices, ttl) {
                Ok(digits) => digits,
                Err(error) => {
                    first_error.get_or_insert(error);
                    continue;
                }
            };
            tried_at |= position;
            let fields = Fields { ttl, ..*fields };
            for filler in fillers(self.names_of(&digits), start) {
                let named = self.write(&digits, &fields, filler).ok_or(EncodeError::NoField)?;
                if is_free(&named) {
                    return Ok(named);
                }
                tried += 1;
            }
        }
        Err(first_error.filter(|_| tried == 0).unwrap_or(EncodeError::NoneFree { tried }))
    }

    /// Checks the choices, and returns the digits that they determine.
    fn digits(&self, choices: &[RouterChoice], ttl: u8) -> Result<Digits, EncodeError> {
        let mut digits = [None; MAX_LENGTH];
        for choice in choices {
            self.check(choice)?;
            let position = self.radix.position(received(ttl, choice.hop)?) as usize;
            if choice.next_hops == 1 {
                continue;
            }
            let before = *digits[position].get_or_insert(*choice);
            if before.next_hop != choice.next_hop {
                let (first, second) = (before.hop.min(choice.hop), before.hop.max(choice.hop));
                return Err(EncodeError::TooLong { first, second, length: self.radix.length() });
            }
        }
        Ok(digits)
    }

    fn check(&self, choice: &RouterChoice) -> Result<(), EncodeError> {
        let &RouterChoice { hop, next_hop, next_hops } = choice;
        let radix = self.radix.base();
        if u32::from(next_hops) > radix {
            return Err(EncodeError::RadixTooSmall { hop, next_hops, radix });
        }
        if next_hop >= next_hops {
            return Err(EncodeError::NoSuchNextHop { hop, next_hop, next_hops });
        }
        Ok(())
    }

    fn names_of(&self, digits: &Digits) -> u32 {
        let digits = digits.iter().take(self.radix.length() as usize);
        let free = digits.filter(|digit| digit.is_none()).count() as u32;
        self.radix.base().saturating_pow(free)
    }

    /// Equation 4 and F. `None` if the packet has no such field.
    fn write(&self, digits: &Digits, fields: &Fields, mut filler: u32) -> Option<Fields> {
        let hash = of_uncontrollable(self.field, fields);
        let mut selector = 0u32;
        for (position, choice) in (0..self.radix.length()).zip(digits) {
            let digit = match choice {
                Some(choice) => u32::from(choice.next_hop),
                None => self.radix.take_digit(&mut filler),
            };
            let shifted = self.shifted(digit, self.shift(hash, position));
            selector += self.radix.weight(shifted, position);
        }
        self.field.write(fields, self.function.apply(selector))
    }
}

/// TTL of a packet at router `hop`. Forwarding needs at least 2 (RFC 1812, section 5.3.1).
fn received(ttl: u8, hop: u8) -> Result<u8, EncodeError> {
    ttl.checked_sub(hop).filter(|ttl| *ttl > 1).ok_or(EncodeError::TtlTooLow { ttl, hop })
}

/// The first [`Codec::MAX_TRIES`] of `names` fillers from `start`, modulo `names`.
fn fillers(names: u32, start: u32) -> impl Iterator<Item = u32> {
    let names = u64::from(names);
    (0..names.min(Codec::MAX_TRIES.into()))
        .map(move |step| ((u64::from(start) + step) % names) as u32)
}
