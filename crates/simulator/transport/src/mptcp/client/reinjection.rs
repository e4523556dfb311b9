//! Reinjection: data of a subflow that timed out is sent again on another (RFC 8684 section 3.3.6).

use core::ops::Range;

use super::Client;
use crate::mptcp::{Context, Scheduler};

impl Client {
    /// Queues what subflow `from` has in flight for the other subflows. Each byte is queued once.
    pub(super) fn reinject(&mut self, cx: &Context, from: usize) {
        let is_open = |path: usize| self.subflows.get(path).is_open();
        let has_other = (0..self.subflows.len()).any(|path| path != from && is_open(path));
        if !has_other || !is_open(from) || cx.config.scheduler == Scheduler::Redundant {
            return;
        }
        let (queue, una) = (&mut self.reinject_queue, self.una);
        self.subflows.update(cx.subflow, from, |subflow| {
            let end = subflow.sender.written();
            let bytes = subflow.sender.acked().max(subflow.reinjected_to)..end;
            subflow.reinjected_to = end;
            queue.extend(from, subflow.mappings.ranges(bytes).filter(|data| data.end > una));
        });
    }

    /// Takes a segment's bytes from the reinjection at `index`.
    pub(super) fn take_reinjection(&mut self, index: usize, mss: u64) -> Option<Range<u64>> {
        let taken = self.reinject_queue.take(index, mss)?;
        self.reinjected += taken.end - taken.start;
        Some(taken)
    }
}
