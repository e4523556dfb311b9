//! Data of a subflow that timed out, sent again on another (RFC 8684 section 3.3.6).

use core::ops::Range;

use super::Client;
use crate::mptcp::{Context, Scheduler};

/// Bytes that a subflow was late with, for another one to carry.
#[derive(Clone, Debug)]
pub(super) struct Late {
    from: usize,
    data: Range<u64>,
}

impl Client {
    /// Lets the other subflows carry what this one has in flight, once.
    pub(super) fn reinject(&mut self, with: &Context, from: usize) {
        let is_open = |path: usize| self.subflows.get(path).is_open();
        let has_other = (0..self.subflows.len()).any(|path| path != from && is_open(path));
        if !has_other || !is_open(from) || with.config.scheduler == Scheduler::Redundant {
            return;
        }
        let (late, una) = (&mut self.late, self.una);
        self.subflows.change(with.subflow, from, |subflow| {
            let end = subflow.sender.written();
            let bytes = subflow.sender.acked().max(subflow.reinjected_to)..end;
            subflow.reinjected_to = end;
            let ranges = subflow.mappings.ranges(bytes).filter(|data| data.end > una);
            late.extend(ranges.map(|data| Late { from, data }));
        });
    }

    /// The first bytes that another subflow is late with, by their place in the list.
    #[inline]
    pub(super) fn late_for(&self, path: usize) -> Option<usize> {
        self.late.iter().position(|late| late.from != path)
    }

    pub(super) fn take_late(&mut self, place: usize, mss: u64) -> Option<Range<u64>> {
        let late = self.late.get_mut(place)?;
        let end = late.data.end.min(late.data.start + mss);
        let taken = late.data.start..end;
        late.data.start = end;
        if late.data.is_empty() {
            self.late.remove(place);
        }
        self.reinjected += taken.end - taken.start;
        Some(taken)
    }

    /// Drops late bytes that have been acknowledged meanwhile.
    #[inline]
    pub(super) fn forget_late(&mut self) {
        if self.late.is_empty() {
            return;
        }
        for late in &mut self.late {
            late.data.start = late.data.start.max(self.una).min(late.data.end);
        }
        self.late.retain(|late| !late.data.is_empty());
    }
}
