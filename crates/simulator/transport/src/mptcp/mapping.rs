//! Where a subflow's bytes belong in the connection's stream (RFC 8684 section 3.3.1).

use alloc::collections::{BTreeMap, VecDeque};
use core::ops::Range;

/// A run of a subflow's bytes that is a run of the stream's, too. Connections keep one for each segment in flight: small is fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, packed(4))]
struct Run {
    /// The first byte's number in the stream.
    data_seq: u64,
    len: u32,
}

impl Run {
    fn data_end(self) -> u64 {
        self.data_seq + u64::from(self.len)
    }

    /// The stream's bytes of the part of the run that lies in `bytes` of the subflow, if the run begins at `seq` there.
    fn data(self, seq: u64, bytes: &Range<u64>) -> Range<u64> {
        let start = bytes.start.max(seq) - seq;
        let end = bytes.end.min(seq + u64::from(self.len)).max(seq + start) - seq;
        self.data_seq + start..self.data_seq + end
    }
}

/// The client's mappings of one subflow: of all bytes that the server may still be missing, without a gap.
#[derive(Clone, Debug, Default)]
pub(super) struct Mappings {
    /// The subflow's number of the first byte that is mapped.
    start: u64,
    runs: VecDeque<Run>,
}

impl Mappings {
    /// Maps the subflow's next bytes to `data`, a segment or less.
    #[inline]
    pub(super) fn push(&mut self, data: Range<u64>) {
        let len = (data.end - data.start) as u32;
        if let Some(last) = self.runs.back_mut()
            && last.data_end() == data.start
            && let Some(longer) = last.len.checked_add(len)
        {
            last.len = longer;
            return;
        }
        self.runs.push_back(Run { data_seq: data.start, len });
    }

    /// Forgets what is below `seq`, but for the run that it lies in.
    #[inline]
    pub(super) fn forget_below(&mut self, seq: u64) {
        while let Some(first) = self.runs.front() {
            let end = self.start + u64::from(first.len);
            if end > seq {
                return;
            }
            self.start = end;
            self.runs.pop_front();
        }
    }

    /// The stream's bytes of the start of `bytes`, as far as they are one run there.
    pub(super) fn first(&self, bytes: Range<u64>) -> Option<Range<u64>> {
        self.ranges(bytes).next()
    }

    /// The stream's bytes of all of `bytes`, run by run.
    pub(super) fn ranges(&self, bytes: Range<u64>) -> impl Iterator<Item = Range<u64>> + '_ {
        let mut end = self.start;
        let with_start = self.runs.iter().map(move |run| {
            let start = end;
            end += u64::from(run.len);
            (start, *run)
        });
        with_start.map(move |(seq, run)| run.data(seq, &bytes)).filter(|data| !data.is_empty())
    }
}

/// The server's mappings of what has come out of order on one subflow: it may not go to the stream before its turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Held(BTreeMap<u64, Range<u64>>);

impl Held {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keeps where the segment that begins at `seq` belongs. Of two that begin there the longer one counts.
    pub(super) fn insert(&mut self, seq: u64, data: Range<u64>) {
        let known = self.0.entry(seq).or_insert_with(|| data.clone());
        if known.end < data.end {
            *known = data;
        }
    }

    /// Takes what lies below `delivered`, the subflow's count of bytes in order, as ranges of the stream.
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
    fn what_goes_on_where_the_last_mapping_ends_prolongs_it() {
        let mut mappings = Mappings::default();
        for data in [100..110, 110..120, 300..310] {
            mappings.push(data);
        }
        assert_eq!(mappings.runs.len(), 2);
        assert_eq!(mappings.first(5..15), Some(105..115));
        assert_eq!(mappings.first(15..25), Some(115..120), "as far as it is one run");
        assert_eq!(mappings.first(20..25), Some(300..305));
        assert_eq!(mappings.first(30..31), None);
        assert_eq!(ranges(&mappings, 5..25), [105..120, 300..305]);
    }

    #[test]
    fn what_is_acknowledged_is_forgotten() {
        let mut mappings = Mappings::default();
        mappings.push(100..110);
        mappings.push(300..310);
        mappings.forget_below(9);
        assert_eq!(mappings.first(9..12), Some(109..110));
        mappings.forget_below(10);
        assert_eq!(mappings.first(10..12), Some(300..302));
        assert_eq!(mappings.runs.len(), 1);
    }

    #[test]
    fn the_server_holds_segments_until_their_turn() {
        let mut held = Held::default();
        held.insert(20, 300..310);
        held.insert(10, 200..210);
        held.insert(10, 200..205);
        assert_eq!(held.release(10).next(), None);
        assert_eq!(held.release(20).next(), Some(200..210));
        assert_eq!(held.release(30).next(), Some(300..310));
        assert!(held.is_empty());
    }

    #[test]
    fn a_run_takes_12_bytes() {
        assert_eq!(size_of::<Run>(), 12);
    }
}
