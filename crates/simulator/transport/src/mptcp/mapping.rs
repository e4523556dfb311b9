//! Data sequence mappings: a subflow's bytes in the connection's stream (RFC 8684 section 3.3.1).

use alloc::collections::{BTreeMap, VecDeque};
use core::ops::Range;

/// A contiguous range of a subflow's bytes that is contiguous in the stream. Packed, because there
/// is about one for each segment in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, packed(4))]
struct Mapping {
    /// Data sequence number of the first byte.
    data_seq: u64,
    len: u32,
}

impl Mapping {
    fn data_end(self) -> u64 {
        self.data_seq + u64::from(self.len)
    }

    /// Stream bytes of the part of the mapping inside `bytes` of the subflow, where the mapping
    /// starts at subflow byte `seq`.
    fn data(self, seq: u64, bytes: &Range<u64>) -> Range<u64> {
        let start = bytes.start.max(seq) - seq;
        let end = bytes.end.min(seq + u64::from(self.len)).max(seq + start) - seq;
        self.data_seq + start..self.data_seq + end
    }
}

/// Mappings of one subflow at the client, without gaps, from the oldest unacknowledged byte on.
#[derive(Clone, Debug, Default)]
pub(super) struct Mappings {
    /// Subflow sequence number of the first mapped byte.
    start: u64,
    mappings: VecDeque<Mapping>,
}

impl Mappings {
    /// Maps the subflow's next bytes to `data`, at most one segment.
    #[inline]
    pub(super) fn push(&mut self, data: Range<u64>) {
        let len = (data.end - data.start) as u32;
        if let Some(last) = self.mappings.back_mut()
            && last.data_end() == data.start
            && let Some(longer) = last.len.checked_add(len)
        {
            last.len = longer;
            return;
        }
        self.mappings.push_back(Mapping { data_seq: data.start, len });
    }

    /// Removes the mappings that end at or below subflow byte `seq`.
    #[inline]
    pub(super) fn drop_below(&mut self, seq: u64) {
        while let Some(first) = self.mappings.front() {
            let end = self.start + u64::from(first.len);
            if end > seq {
                return;
            }
            self.start = end;
            self.mappings.pop_front();
        }
    }

    /// Stream bytes of the first contiguous part of `bytes`.
    pub(super) fn first(&self, bytes: Range<u64>) -> Option<Range<u64>> {
        self.ranges(bytes).next()
    }

    /// Stream bytes of `bytes`, one range for each mapping.
    pub(super) fn ranges(&self, bytes: Range<u64>) -> impl Iterator<Item = Range<u64>> + '_ {
        let mut end = self.start;
        let with_start = self.mappings.iter().map(move |mapping| {
            let start = end;
            end += u64::from(mapping.len);
            (start, *mapping)
        });
        with_start
            .map(move |(seq, mapping)| mapping.data(seq, &bytes))
            .filter(|data| !data.is_empty())
    }
}

/// Mappings of out-of-order segments of one subflow at the server, kept until the subflow delivers
/// them in order.
#[derive(Clone, Debug, Default)]
pub(super) struct OutOfOrderMappings(BTreeMap<u64, Range<u64>>);

impl OutOfOrderMappings {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Stores the mapping of the segment that starts at `seq`; the longer one is kept if there are
    /// two.
    pub(super) fn insert(&mut self, seq: u64, data: Range<u64>) {
        let known = self.0.entry(seq).or_insert_with(|| data.clone());
        if known.end < data.end {
            *known = data;
        }
    }

    /// Removes and returns the stream ranges of segments below `delivered`, the subflow's count of
    /// bytes in order.
    pub(super) fn release(&mut self, delivered: u64) -> impl Iterator<Item = Range<u64>> {
        let later = self.0.split_off(&delivered);
        let due = core::mem::replace(&mut self.0, later);
        due.into_values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn ranges(mappings: &Mappings, bytes: Range<u64>) -> Vec<Range<u64>> {
        mappings.ranges(bytes).collect()
    }

    #[test]
    fn data_contiguous_with_the_last_mapping_extends_it() {
        let mut mappings = Mappings::default();
        for data in [100..110, 110..120, 300..310] {
            mappings.push(data);
        }
        assert_eq!(mappings.mappings.len(), 2);
        assert_eq!(mappings.first(5..15), Some(105..115));
        assert_eq!(mappings.first(15..25), Some(115..120), "as far as it is contiguous");
        assert_eq!(mappings.first(20..25), Some(300..305));
        assert_eq!(mappings.first(30..31), None);
        assert_eq!(ranges(&mappings, 5..25), [105..120, 300..305]);
    }

    #[test]
    fn acknowledged_mappings_are_removed() {
        let mut mappings = Mappings::default();
        mappings.push(100..110);
        mappings.push(300..310);
        mappings.drop_below(9);
        assert_eq!(mappings.first(9..12), Some(109..110));
        mappings.drop_below(10);
        assert_eq!(mappings.first(10..12), Some(300..302));
        assert_eq!(mappings.mappings.len(), 1);
    }

    #[test]
    fn the_server_releases_segments_in_order() {
        let mut held = OutOfOrderMappings::default();
        held.insert(20, 300..310);
        held.insert(10, 200..210);
        held.insert(10, 200..205);
        assert_eq!(held.release(10).next(), None);
        assert_eq!(held.release(20).next(), Some(200..210));
        assert_eq!(held.release(30).next(), Some(300..310));
        assert!(held.is_empty());
    }

    #[test]
    fn a_mapping_takes_12_bytes() {
        assert_eq!(size_of::<Mapping>(), 12);
    }
}
