//! Sets of places: an entry may be in any place of the set that its hash picks, as in a cache.
//!
//! With one place for each hash, a table filled to a sixth would refuse one newcomer in six. With sets of four it is one in 200, and a
//! switch reads the four at once, one in each of four register arrays.

use core::ops::Range;

/// Places in a set.
pub(super) const WAYS: usize = 4;

/// The places of a table for `entries`: a power of two, at least a set.
pub(super) fn places(entries: usize) -> usize {
    entries.next_power_of_two().max(WAYS)
}

/// The set that `hash` picks in a table of `places`.
#[inline]
pub(super) const fn set(hash: u32, places: usize) -> Range<usize> {
    let first = (hash as usize).wrapping_mul(WAYS) & (places - 1);
    first..first + WAYS
}

/// 16 bits that tell most flows of a set apart.
#[inline]
pub(super) const fn check(hash: u32) -> u16 {
    (hash >> 16) as u16
}
