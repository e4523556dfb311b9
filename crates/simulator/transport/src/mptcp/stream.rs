//! Reassembly of the connection's stream at the server (RFC 8684 section 3.3).

use alloc::collections::VecDeque;
use core::ops::Range;

/// Bytes delivered in order, and the ranges received beyond them.
#[derive(Clone, Debug, Default)]
pub(super) struct Stream {
    /// The next byte in order.
    next: u64,
    /// Ranges beyond `next`: sorted, not empty, with gaps between them.
    out_of_order: VecDeque<Range<u64>>,
}

impl Stream {
    /// Number of bytes delivered in order.
    #[inline]
    pub(super) fn delivered(&self) -> u64 {
        self.next
    }

    /// Adds bytes that a subflow has delivered.
    #[inline]
    pub(super) fn insert(&mut self, new: Range<u64>) {
        if new.start > self.next {
            return self.insert_out_of_order(new);
        }
        self.next = self.next.max(new.end);
        while let Some(range) = self.out_of_order.front().filter(|range| range.start <= self.next) {
            self.next = self.next.max(range.end);
            self.out_of_order.pop_front();
        }
    }

    /// Stores an out-of-order range. Most belong at the end, because each subflow delivers its own
    /// data in order.
    fn insert_out_of_order(&mut self, new: Range<u64>) {
        match self.out_of_order.back_mut() {
            Some(last) if last.end == new.start => last.end = new.end,
            Some(last) if last.end > new.start => self.merge(new),
            _ => self.out_of_order.push_back(new),
        }
    }

    fn merge(&mut self, mut new: Range<u64>) {
        let first = self.out_of_order.partition_point(|range| range.end < new.start);
        let after = self.out_of_order.partition_point(|range| range.start <= new.end);
        if let Some(range) = self.out_of_order.get(first).filter(|_| first < after) {
            new.start = new.start.min(range.start);
            new.end = new.end.max(self.out_of_order[after - 1].end);
        }
        self.out_of_order.drain(first..after);
        self.out_of_order.insert(first, new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn two_subflows_interleave_and_the_slow_one_fills_the_gaps() {
        let mut stream = Stream::default();
        for (new, delivered) in
            [(0..10, 10), (20..30, 10), (40..50, 10), (10..20, 30), (50..60, 30), (30..40, 60)]
        {
            stream.insert(new);
            assert_eq!(stream.delivered(), delivered);
        }
        assert!(stream.out_of_order.is_empty());
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_set_of_bytes(
            ranges in prop::collection::vec((0u64..80, 1u64..12), 1..60),
        ) {
            let (mut stream, mut seen) = (Stream::default(), BTreeSet::new());
            for (start, len) in ranges {
                stream.insert(start..start + len);
                seen.extend(start..start + len);
                prop_assert_eq!(stream.delivered(), (0..).find(|byte| !seen.contains(byte)).unwrap());
                let held: u64 = stream.out_of_order.iter().map(|range| range.end - range.start).sum();
                prop_assert_eq!(stream.delivered() + held, seen.len() as u64);
                let gaps = stream.out_of_order.iter().zip(stream.out_of_order.iter().skip(1));
                prop_assert!(gaps.into_iter().all(|(a, b)| a.end < b.start));
            }
        }
    }
}
