//! The connection's stream at the server, put in order (RFC 8684 section 3.3).

use alloc::collections::VecDeque;
use core::ops::Range;

/// Bytes delivered, and those that came ahead of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Stream {
    next: u64,
    /// Ranges beyond `next`: sorted, not empty, with gaps between them.
    ahead: VecDeque<Range<u64>>,
}

impl Stream {
    /// Bytes in order, from the first.
    #[inline]
    pub(super) fn delivered(&self) -> u64 {
        self.next
    }

    /// Adds bytes that a subflow has delivered.
    #[inline]
    pub(super) fn insert(&mut self, new: Range<u64>) {
        if new.start > self.next {
            return self.hold(new);
        }
        self.next = self.next.max(new.end);
        while let Some(range) = self.ahead.front().filter(|range| range.start <= self.next) {
            self.next = self.next.max(range.end);
            self.ahead.pop_front();
        }
    }

    /// Keeps a range that is ahead. A subflow's own data come in order, so most ranges belong at the end.
    fn hold(&mut self, new: Range<u64>) {
        match self.ahead.back_mut() {
            Some(last) if last.end == new.start => last.end = new.end,
            Some(last) if last.end > new.start => self.merge(new),
            _ => self.ahead.push_back(new),
        }
    }

    fn merge(&mut self, mut new: Range<u64>) {
        let first = self.ahead.partition_point(|range| range.end < new.start);
        let after = self.ahead.partition_point(|range| range.start <= new.end);
        if let Some(range) = self.ahead.get(first).filter(|_| first < after) {
            new.start = new.start.min(range.start);
            new.end = new.end.max(self.ahead[after - 1].end);
        }
        self.ahead.drain(first..after);
        self.ahead.insert(first, new);
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
        assert!(stream.ahead.is_empty());
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
                let held: u64 = stream.ahead.iter().map(|range| range.end - range.start).sum();
                prop_assert_eq!(stream.delivered() + held, seen.len() as u64);
                let gaps = stream.ahead.iter().zip(stream.ahead.iter().skip(1));
                prop_assert!(gaps.into_iter().all(|(a, b)| a.end < b.start));
            }
        }
    }
}
