//! The SACK scoreboard of RFC 6675 section 3: data received beyond the cumulative acknowledgement.
//!
//! It is kept across a retransmission timeout: this crate's receiver never discards selectively
//! acknowledged data (no reneging).

use alloc::vec::Vec;
use core::iter;
use core::ops::Range;

/// Selectively acknowledged ranges: sorted, not empty, with gaps between them.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    ranges: Vec<Range<u64>>,
}

impl Scoreboard {
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The end of the highest range; 0 if there is none.
    pub(super) fn highest(&self) -> u64 {
        self.ranges.last().map_or(0, |range| range.end)
    }

    /// Removes the ranges below the cumulative acknowledgement `una`.
    pub(super) fn advance(&mut self, una: u64) {
        let passed = self.ranges.partition_point(|range| range.end <= una);
        self.ranges.drain(..passed);
    }

    /// Adds `new`. Returns true if any byte of it was new; an empty range has none.
    pub(super) fn insert(&mut self, new: Range<u64>) -> bool {
        if new.is_empty() {
            return false;
        }
        let first = self.ranges.partition_point(|range| range.end < new.start);
        let after = self.ranges.partition_point(|range| range.start <= new.end);
        let touched = &self.ranges[first..after];
        if touched.iter().any(|range| range.start <= new.start && new.end <= range.end) {
            return false;
        }
        let start = touched.first().map_or(new.start, |range| range.start.min(new.start));
        let end = touched.last().map_or(new.end, |range| range.end.max(new.end));
        self.ranges.splice(first..after, iter::once(start..end));
        true
    }

    /// The first hole of `within`: its bytes up to the next range.
    pub(super) fn hole(&self, within: Range<u64>) -> Option<Range<u64>> {
        let mut start = within.start;
        for range in &self.ranges {
            if start < range.start {
                let end = range.start.min(within.end);
                return (start < end).then_some(start..end);
            }
            start = start.max(range.end);
        }
        (start < within.end).then_some(start..within.end)
    }

    /// The last hole of `within`.
    pub(super) fn last_hole(&self, within: Range<u64>) -> Option<Range<u64>> {
        let mut end = within.end;
        for range in self.ranges.iter().rev() {
            if range.end < end {
                let start = range.end.max(within.start);
                return (start < end).then_some(start..end);
            }
            end = end.min(range.start);
        }
        (within.start < end).then_some(within.start..end)
    }

    /// Bytes of `within` in holes.
    pub(super) fn missing(&self, within: Range<u64>) -> u64 {
        let overlap = |range: &Range<u64>| {
            range.end.min(within.end).saturating_sub(range.start.max(within.start))
        };
        let sacked: u64 = self.ranges.iter().map(overlap).sum();
        within.end.saturating_sub(within.start).saturating_sub(sacked)
    }

    /// Holes below this byte are lost, by RFC 6675's IsLost: above them are `threshold` ranges, or
    /// more than `threshold` - 1 segments' worth of bytes. 0 if nothing is.
    pub(super) fn lost_below(&self, threshold: u32, mss: u64) -> u64 {
        let most = u64::from(threshold.saturating_sub(1)) * mss;
        let (mut ranges, mut bytes) = (0, 0);
        for range in self.ranges.iter().rev() {
            ranges += 1;
            bytes += range.end - range.start;
            if ranges >= threshold || bytes > most {
                return range.start;
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn board(ranges: &[Range<u64>]) -> Scoreboard {
        let mut board = Scoreboard::default();
        for range in ranges {
            board.insert(range.clone());
        }
        board
    }

    #[test]
    fn ranges_that_touch_become_one() {
        let mut board = board(&[10..20, 30..40]);
        assert!(board.insert(20..30));
        assert_eq!(board.missing(0..50), 20);
        assert_eq!(board.ranges.len(), 1);
        assert!(!board.insert(15..40), "nothing new");
    }

    #[test]
    fn holes_lie_between_ranges() {
        let board = board(&[10..20, 30..40]);
        assert_eq!(board.hole(0..50), Some(0..10));
        assert_eq!(board.hole(12..50), Some(20..30));
        assert_eq!(board.hole(12..25), Some(20..25));
        assert_eq!(board.hole(30..40), None);
        assert_eq!(board.hole(35..50), Some(40..50));
        assert_eq!(board.last_hole(0..50), Some(40..50));
        assert_eq!(board.last_hole(0..40), Some(20..30));
        assert_eq!(board.last_hole(10..20), None);
        assert_eq!(board.missing(5..50), 25);
    }

    #[test]
    fn three_ranges_or_more_than_two_segments_above_mean_lost() {
        assert_eq!(board(&[10..20, 30..40]).lost_below(3, 10), 0, "two segments, two ranges");
        assert_eq!(board(&[10..20, 30..40, 50..51]).lost_below(3, 10), 10, "three ranges");
        assert_eq!(board(&[10..20, 30..51]).lost_below(3, 10), 30, "more than two segments");
        assert_eq!(board(&[10..20, 30..50]).lost_below(3, 10), 10, "less above 30, more above 10");
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_set_of_bytes(
            ranges in prop::collection::vec((0u64..60, 0u64..15), 0..20),
            una in 0u64..40,
            len in 0u64..60,
        ) {
            let mut board = Scoreboard::default();
            let mut bytes = BTreeSet::new();
            for (start, len) in ranges {
                let news = (start..start + len).filter(|byte| bytes.insert(*byte)).count();
                prop_assert_eq!(board.insert(start..start + len), news > 0);
            }
            board.advance(una);
            let missing: Vec<u64> = (una..una + len).filter(|byte| !bytes.contains(byte)).collect();
            prop_assert_eq!(board.missing(una..una + len), missing.len() as u64);
            prop_assert_eq!(board.hole(una..una + len).map(|hole| hole.start), missing.first().copied());
            let last = board.last_hole(una..una + len).map(|hole| hole.end - 1);
            prop_assert_eq!(last, missing.last().copied());
            prop_assert!(board.ranges.windows(2).all(|pair| pair[0].end < pair[1].start));
        }
    }
}
