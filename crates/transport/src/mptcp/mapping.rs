//! Where a subflow's bytes belong in the connection's stream (RFC 8684 section 3.3.1).

use alloc::collections::VecDeque;
use core::ops::Range;

/// `len` bytes of a subflow from `seq` on are the connection's bytes from `data_seq` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mapping {
    seq: u64,
    data_seq: u64,
    len: u64,
}

impl Mapping {
    fn end(&self) -> u64 {
        self.seq + self.len
    }

    /// The connection's bytes of the part of this mapping that lies in `bytes` of the subflow.
    fn data(&self, bytes: &Range<u64>) -> Range<u64> {
        let start = bytes.start.max(self.seq);
        let end = bytes.end.min(self.end()).max(start);
        let first = self.data_seq + (start - self.seq);
        first..first + (end - start)
    }
}

/// Mappings of one subflow, in the order of its sequence numbers, which they cover without a gap where the sender keeps them.
#[derive(Clone, Debug, Default)]
pub(super) struct Mappings(VecDeque<Mapping>);

impl Mappings {
    /// Adds a mapping behind all others, as the sender does.
    #[inline]
    pub(super) fn push(&mut self, seq: u64, data: Range<u64>) {
        let len = data.end - data.start;
        if let Some(last) = self.0.back_mut()
            && last.end() == seq
            && last.data_seq + last.len == data.start
        {
            last.len += len;
            return;
        }
        self.0.push_back(Mapping { seq, data_seq: data.start, len });
    }

    /// Adds a mapping in its place, as the server does with what comes out of order. One that is known is left alone.
    pub(super) fn insert(&mut self, seq: u64, data: Range<u64>) {
        let place = self.0.partition_point(|mapping| mapping.seq < seq);
        let new = Mapping { seq, data_seq: data.start, len: data.end - data.start };
        match self.0.get(place) {
            Some(known) if known.seq == seq && known.len >= new.len => {}
            Some(known) if known.seq == seq => self.0[place] = new,
            _ => self.0.insert(place, new),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets what is below `seq`.
    #[inline]
    pub(super) fn forget_below(&mut self, seq: u64) {
        while self.0.front().is_some_and(|mapping| mapping.end() <= seq) {
            self.0.pop_front();
        }
    }

    /// The connection's bytes of the start of `bytes`, as far as they are one range there.
    pub(super) fn first(&self, bytes: Range<u64>) -> Option<Range<u64>> {
        let place = self.0.partition_point(|mapping| mapping.end() <= bytes.start);
        let mapping = self.0.get(place).filter(|mapping| mapping.seq <= bytes.start)?;
        Some(mapping.data(&bytes))
    }

    /// The connection's bytes of all of `bytes`, range by range.
    pub(super) fn ranges(&self, bytes: Range<u64>) -> impl Iterator<Item = Range<u64>> + '_ {
        let place = self.0.partition_point(|mapping| mapping.end() <= bytes.start);
        let within = self.0.iter().skip(place).take_while({
            let end = bytes.end;
            move |mapping| mapping.seq < end
        });
        within.map(move |mapping| mapping.data(&bytes)).filter(|data| !data.is_empty())
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
    fn what_goes_on_where_the_last_mapping_ends_prolongs_it() {
        let mut mappings = Mappings::default();
        mappings.push(0, 100..110);
        mappings.push(10, 110..120);
        mappings.push(20, 300..310);
        assert_eq!(mappings.0.len(), 2);
        assert_eq!(mappings.first(5..15), Some(105..115));
        assert_eq!(mappings.first(15..25), Some(115..120), "as far as it is one range");
        assert_eq!(mappings.first(20..25), Some(300..305));
        assert_eq!(mappings.first(30..31), None);
        assert_eq!(ranges(&mappings, 5..25), [105..120, 300..305]);
    }

    #[test]
    fn what_is_acknowledged_is_forgotten() {
        let mut mappings = Mappings::default();
        mappings.push(0, 100..110);
        mappings.push(10, 300..310);
        mappings.forget_below(9);
        assert_eq!(mappings.first(9..12), Some(109..110));
        mappings.forget_below(10);
        assert_eq!(mappings.first(9..12), None);
        assert_eq!(mappings.first(10..12), Some(300..302));
    }

    #[test]
    fn the_server_keeps_them_in_order() {
        let mut mappings = Mappings::default();
        mappings.insert(20, 300..310);
        mappings.insert(10, 200..210);
        mappings.insert(10, 200..205);
        assert_eq!(ranges(&mappings, 0..30), [200..210, 300..310]);
        assert_eq!(mappings.first(10..20), Some(200..210));
    }
}
