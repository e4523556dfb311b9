//! Set-associative tables: an entry may be in any slot of the bucket selected by its hash, as in a
//! cache.
//!
//! A direct-mapped table at a load of 1/6 would reject one new entry in six. With buckets of four
//! slots it is one in 200, and a switch reads the four slots at once, one in each of four register
//! arrays.

use core::ops::Range;

use crate::table_size;

/// Slots of a bucket.
pub(super) const WAYS: usize = 4;

/// Slots of a table for `entries` entries: a power of two, at least one bucket.
pub(crate) const fn slots(entries: u32) -> u32 {
    let slots = table_size(entries);
    if slots < WAYS as u32 { WAYS as u32 } else { slots }
}

/// The set that `hash` picks in a table of `slots`.
#[inline]
pub(super) const fn bucket(hash: u32, slots: usize) -> Range<usize> {
    let first = (hash as usize).wrapping_mul(WAYS) & (slots - 1);
    first..first + WAYS
}

/// Fingerprint of 16 bits that distinguishes the flows of a bucket.
#[inline]
pub(super) const fn fingerprint(hash: u32) -> u16 {
    (hash >> 16) as u16
}
