//! Segments of an established connection: retransmissions first, then new data on the subflow that
//! the scheduler selects.

use core::ops::Range;

use super::Client;
use crate::Segment;
use crate::mptcp::status::SubflowPhase;
use crate::mptcp::{Context, Scheduler};

impl Client {
    /// Rest of a retransmitted segment that spans several mappings.
    #[inline]
    pub(super) fn next_remainder(&mut self) -> Option<(usize, Segment)> {
        let (path, segment) = self.remainder.take()?;
        Some(self.with_mapping(path, segment))
    }

    /// Retransmission of a lost segment, on its own subflow; sent before new data.
    #[inline]
    pub(super) fn next_lost(&mut self, cx: &Context) -> Option<(usize, Segment)> {
        let (path, segment) =
            self.subflows.find_map_in(SubflowPhase::Recovering, cx.subflow, |subflow| {
                subflow.sender.next_lost(cx.subflow, cx.now)
            })?;
        let (path, segment) = self.with_mapping(path, segment);
        Some((path, self.with_keys(cx, path, segment)))
    }

    /// Rescue retransmission, if there is no new data (RFC 6675 section 4, NextSeg rules 3 and 4).
    #[inline]
    pub(super) fn next_rescue(&mut self, cx: &Context) -> Option<(usize, Segment)> {
        let (path, segment) =
            self.subflows.find_map_in(SubflowPhase::Recovering, cx.subflow, |subflow| {
                subflow.sender.next_segment(cx.subflow, cx.now)
            })?;
        Some(self.with_mapping(path, segment))
    }

    /// New data, on the subflow that the scheduler selects.
    pub(super) fn next_data(&mut self, cx: &Context) -> Option<(usize, Segment)> {
        self.reinject_queue.drop_acked(self.una);
        let path = self.schedule(cx)?;
        let data = self.take_data(cx, path)?;
        let segment = self.subflows.update(cx.subflow, path, |subflow| {
            subflow.cursor = subflow.cursor.max(data.end);
            subflow.send(cx.subflow, cx.now, data)
        })?;
        Some((path, self.with_keys(cx, path, segment)))
    }

    /// Subflow for the next data, by the configured scheduler.
    #[inline]
    fn schedule(&mut self, cx: &Context) -> Option<usize> {
        let paths = self.subflows.len();
        let ready = |path: &usize| self.is_ready(cx, *path);
        match cx.config.scheduler {
            Scheduler::LowestRtt => {
                (0..paths).filter(ready).min_by_key(|path| self.subflows.status(*path).srtt)
            }
            Scheduler::RoundRobin | Scheduler::Redundant => {
                let chosen =
                    (0..paths).map(|step| (self.round_robin + step) % paths).find(ready)?;
                self.round_robin = (chosen + 1) % paths;
                Some(chosen)
            }
        }
    }

    /// True if a subflow can send and there is data for it.
    #[inline]
    fn is_ready(&self, cx: &Context, path: usize) -> bool {
        self.subflows.status(path).can_send
            && (self.reinject_queue.first_for(path).is_some()
                || !self.new_data(cx, path).is_empty())
    }

    /// Next segment's worth of data that is new to a subflow; empty if there is none or the receive
    /// window is full.
    #[inline]
    fn new_data(&self, cx: &Context, path: usize) -> Range<u64> {
        let start = match cx.config.scheduler {
            Scheduler::Redundant => self.subflows.get(path).cursor.max(self.una),
            Scheduler::LowestRtt | Scheduler::RoundRobin => self.nxt,
        };
        let end = self.written.min(start.saturating_add(u64::from(cx.subflow.mss)));
        if end <= self.window_end { start..end } else { start..start }
    }

    /// Takes the next data for a subflow that is ready: a reinjection, or new data.
    #[inline]
    fn take_data(&mut self, cx: &Context, path: usize) -> Option<Range<u64>> {
        if let Some(index) = self.reinject_queue.first_for(path) {
            return self.take_reinjection(index, u64::from(cx.subflow.mss));
        }
        let data = self.new_data(cx, path);
        self.nxt = self.nxt.max(data.end);
        Some(data)
    }

    /// Adds the data sequence mapping to a retransmitted segment. If it spans several mappings, it
    /// is cut and the rest kept.
    fn with_mapping(&mut self, path: usize, mut segment: Segment) -> (usize, Segment) {
        let bytes = segment.seq..segment.seq + u64::from(segment.len);
        if let Some(data) = self.subflows.get(path).mappings.first(bytes) {
            let len = (data.end - data.start) as u16;
            if len < segment.len {
                let (seq, remainder) = (segment.seq + u64::from(len), segment.len - len);
                self.remainder = Some((path, Segment { seq, len: remainder, ..segment }));
            }
            segment.data_seq = data.start;
            segment.len = len;
        }
        (path, segment)
    }
}
