//! Queue of data to reinject: bytes of a subflow that timed out, for another subflow to send (RFC
//! 8684 section 3.3.6).

use alloc::collections::VecDeque;
use core::ops::Range;

/// Data that is outstanding on a subflow that timed out.
#[derive(Clone, Debug)]
struct Reinjection {
    /// The subflow that timed out.
    from: usize,
    /// Bytes of the connection's stream; never empty.
    data: Range<u64>,
}

/// Reinjections, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct ReinjectQueue(VecDeque<Reinjection>);

impl ReinjectQueue {
    /// Appends `ranges` of the stream, outstanding on subflow `from`.
    pub(super) fn extend(&mut self, from: usize, ranges: impl Iterator<Item = Range<u64>>) {
        self.0.extend(ranges.map(|data| Reinjection { from, data }));
    }

    /// Index of the first entry that subflow `path` may carry: one of another subflow.
    #[inline]
    pub(super) fn first_for(&self, path: usize) -> Option<usize> {
        self.0.iter().position(|reinjection| reinjection.from != path)
    }

    /// Takes up to `mss` bytes from the front of the entry at `index`.
    pub(super) fn take(&mut self, index: usize, mss: u64) -> Option<Range<u64>> {
        let reinjection = self.0.get_mut(index)?;
        let end = reinjection.data.end.min(reinjection.data.start + mss);
        let taken = reinjection.data.start..end;
        reinjection.data.start = end;
        if reinjection.data.is_empty() {
            self.0.remove(index);
        }
        Some(taken)
    }

    /// Drops bytes below `una`, the connection's cumulative acknowledgement.
    #[inline]
    pub(super) fn drop_acked(&mut self, una: u64) {
        if self.0.is_empty() {
            return;
        }
        for Reinjection { data, .. } in &mut self.0 {
            data.start = data.start.max(una).min(data.end);
        }
        self.0.retain(|reinjection| !reinjection.data.is_empty());
    }
}
