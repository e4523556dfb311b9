//! Out-of-order data at the receiver, and its SACK blocks (RFC 2018 section 4).

use alloc::vec::Vec;
use core::ops::Range;

use crate::{Options, SackBlock};

/// Disjoint ranges of out-of-order bytes, the most recently changed first.
#[derive(Clone, Debug, Default)]
pub(super) struct Reassembly {
    ranges: Vec<Range<u64>>,
    late: u64,
}

impl Reassembly {
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The end of the highest range; 0 if there is none.
    pub(super) fn highest(&self) -> u64 {
        self.ranges.iter().map(|range| range.end).max().unwrap_or(0)
    }

    /// Adds `new` to a stream whose next byte in order is `next`, and returns the new next byte.
    pub(super) fn insert(&mut self, next: u64, new: Range<u64>) -> u64 {
        let mut merged = new;
        self.ranges.retain(|range| {
            let apart = range.end < merged.start || merged.end < range.start;
            if !apart {
                merged = range.start.min(merged.start)..range.end.max(merged.end);
            }
            apart
        });
        if merged.start <= next {
            return merged.end;
        }
        self.ranges.insert(0, merged);
        next
    }

    /// True if all of `bytes` have arrived, out of order.
    pub(super) fn contains(&self, bytes: &Range<u64>) -> bool {
        self.ranges.iter().any(|range| range.start <= bytes.start && bytes.end <= range.end)
    }

    /// Counts a reordered segment, unless all of its bytes are known.
    pub(super) fn note_late(&mut self, bytes: Range<u64>) {
        self.late += u64::from(!self.contains(&bytes));
    }

    /// Segments counted by [`Reassembly::note_late`].
    pub(super) fn late(&self) -> u64 {
        self.late
    }

    /// SACK option of an acknowledgement of `next`.
    pub(super) fn report(&self, next: u64) -> Options {
        if self.is_empty() {
            return Options::None;
        }
        let mut blocks = [SackBlock::default(); 3];
        for (block, range) in blocks.iter_mut().zip(&self.ranges) {
            let (offset, len) = (range.start - next, range.end - range.start);
            *block = SackBlock { offset: offset as u32, len: len as u32 };
        }
        Options::Sack(blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_agrees_with_a_set_of_bytes(
            segments in prop::collection::vec((0u64..60, 1u64..10), 1..40),
        ) {
            let (mut held, mut next, mut seen) = (Reassembly::default(), 0, BTreeSet::new());
            for (start, len) in segments {
                seen.extend(start..start + len);
                let new = start.max(next)..start + len;
                if new.is_empty() {
                    continue;
                }
                next = held.insert(next, new.clone());
                prop_assert_eq!(next, (0..).find(|byte| !seen.contains(byte)).unwrap());
                let bytes: u64 = held.ranges.iter().map(|range| range.end - range.start).sum();
                prop_assert_eq!(next + bytes, seen.len() as u64);
                let first = held.ranges.first();
                prop_assert!(new.start < next || first.is_some_and(|range| range.contains(&new.start)));
            }
        }
    }
}
