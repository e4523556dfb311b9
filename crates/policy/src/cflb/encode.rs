//! A sender's side: header fields that make a packet take a path (algorithm 2).

use core::ops::RangeInclusive;

use super::hash::of_uncontrollable;
use super::{Codec, Fields, MAX_LENGTH};

/// What one router on the path is to choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Routers before it: the first one, at 0, receives the TTL that the sender writes.
    pub hop: u8,
    /// The next hop that it is to take, from 0.
    pub next_hop: u16,
    /// The next hops that it has. With one there is nothing to encode.
    pub next_hops: u16,
}

/// Why a path cannot be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// A router has more next hops than digits have values.
    #[error("router {hop} of the path has {next_hops} next hops, but the radix is {radix}")]
    RadixTooSmall {
        /// The router, from 0.
        hop: u8,
        /// Its next hops.
        next_hops: u16,
        /// B.
        radix: u32,
    },
    /// A router is to take a next hop that it has not.
    #[error("router {hop} of the path has {next_hops} next hops: there is no number {next_hop}")]
    NoSuchNextHop {
        /// The router, from 0.
        hop: u8,
        /// The next hop asked for.
        next_hop: u16,
        /// Its next hops.
        next_hops: u16,
    },
    /// Two routers are to choose differently but read the same digit: the path is longer than the selector.
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
    /// The packet would die on the way.
    #[error("a TTL of {ttl} does not reach router {hop} of the path")]
    TtlTooLow {
        /// The TTL that the sender writes.
        ttl: u8,
        /// The last router that is to choose.
        hop: u8,
    },
    /// The packet has none of the controllable fields.
    #[error("the packet has no such field to encode a path in")]
    NoField,
    /// Everything that names the path is taken or reserved.
    #[error("none of {tried} ways to name the path is free")]
    NoneFree {
        /// Ways that were tried.
        tried: u32,
    },
}

/// A digit that no router of the path reads.
const FREE: u16 = u16::MAX;

/// The digits that a path asks for, by position, and how many positions are left over.
struct Digits {
    wanted: [u16; MAX_LENGTH],
    /// The router that asked.
    by: [u8; MAX_LENGTH],
}

impl Codec {
    /// Most fillings of the unused digits that are tried with one TTL.
    pub const MOST_TRIED: u32 = 1 << 16;

    /// The packet with its controllable fields set so that it takes the path. `fields.ttl` is the TTL that the sender writes; the
    /// digits that no router reads are those of `filler` in base B, so that a path has as many names as [`Codec::names`] says.
    ///
    /// # Errors
    /// See [`EncodeError`].
    pub fn encode(
        &self,
        turns: &[Turn],
        fields: &Fields,
        filler: u32,
    ) -> Result<Fields, EncodeError> {
        let digits = self.digits(turns, fields.ttl)?;
        self.write(&digits, fields, filler).ok_or(EncodeError::NoField)
    }

    /// How many values the controllable fields can have for a path, with one TTL; at most 2^32 - 1 is told.
    ///
    /// # Errors
    /// See [`EncodeError`].
    pub fn names(&self, turns: &[Turn], ttl: u8) -> Result<u32, EncodeError> {
        Ok(self.names_of(&self.digits(turns, ttl)?))
    }

    /// As [`Codec::encode`], with the first name of the path that `is_free` accepts: with `fields.ttl` first, then with the other
    /// TTLs, fillings in order from `start`, [`Codec::MOST_TRIED`] of each.
    ///
    /// # Errors
    /// See [`EncodeError`]; with a range of TTLs, of the first TTL if no other one serves.
    pub fn encode_free(
        &self,
        turns: &[Turn],
        fields: &Fields,
        ttls: RangeInclusive<u8>,
        start: u32,
        mut is_free: impl FnMut(&Fields) -> bool,
    ) -> Result<Fields, EncodeError> {
        let mut tried = 0;
        let mut first_error = None;
        let others = ttls.filter(|ttl| *ttl != fields.ttl);
        for ttl in core::iter::once(fields.ttl).chain(others) {
            let digits = match self.digits(turns, ttl) {
                Ok(digits) => digits,
                Err(error) => {
                    first_error = first_error.or(Some(error));
                    continue;
                }
            };
            let names = self.names_of(&digits);
            let fields = Fields { ttl, ..*fields };
            for step in 0..names.min(Codec::MOST_TRIED) {
                let filler = (u64::from(start) + u64::from(step)) % u64::from(names);
                let named =
                    self.write(&digits, &fields, filler as u32).ok_or(EncodeError::NoField)?;
                if is_free(&named) {
                    return Ok(named);
                }
                tried += 1;
            }
        }
        Err(first_error.filter(|_| tried == 0).unwrap_or(EncodeError::NoneFree { tried }))
    }

    /// Checks the turns, and gives the digits that they ask for.
    fn digits(&self, turns: &[Turn], ttl: u8) -> Result<Digits, EncodeError> {
        let mut digits = Digits { wanted: [FREE; MAX_LENGTH], by: [0; MAX_LENGTH] };
        for turn in turns.iter().filter(|turn| turn.next_hops != 1) {
            self.check(turn)?;
            let ttl_there = ttl.checked_sub(turn.hop).filter(|ttl| *ttl > 0);
            let ttl_there = ttl_there.ok_or(EncodeError::TtlTooLow { ttl, hop: turn.hop })?;
            let position = self.radix.position(ttl_there) as usize;
            let (wanted, by) = (&mut digits.wanted[position], &mut digits.by[position]);
            if *wanted != FREE && *wanted != turn.next_hop {
                let length = self.radix.length();
                return Err(EncodeError::TooLong { first: *by, second: turn.hop, length });
            }
            (*wanted, *by) = (turn.next_hop, turn.hop);
        }
        Ok(digits)
    }

    fn check(&self, turn: &Turn) -> Result<(), EncodeError> {
        let &Turn { hop, next_hop, next_hops } = turn;
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
        let wanted = &digits.wanted[..self.radix.length() as usize];
        let free = wanted.iter().filter(|digit| **digit == FREE).count() as u32;
        self.radix.base().saturating_pow(free)
    }

    fn write(&self, digits: &Digits, fields: &Fields, mut filler: u32) -> Option<Fields> {
        let hash = of_uncontrollable(self.field, fields);
        let base = self.radix.base();
        let mut selector = 0u32;
        for position in 0..self.radix.length() {
            let mut digit = u32::from(digits.wanted[position as usize]);
            if digits.wanted[position as usize] == FREE {
                (digit, filler) = (filler % base, filler / base);
            }
            let weight = self.radix.weight(self.shift(digit, hash), position);
            selector = selector.wrapping_add(weight);
        }
        self.field.write(fields, self.function.apply(selector))
    }
}
