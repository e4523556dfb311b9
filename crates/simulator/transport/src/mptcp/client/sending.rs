//! What a client sends next: repairs first, then new data on the subflow that the scheduler chooses.

use core::ops::Range;

use super::Client;
use crate::Segment;
use crate::mptcp::subflows::Standing;
use crate::mptcp::{Context, Scheduler};

impl Client {
    /// What is left of a segment whose bytes belong to several places.
    #[inline]
    pub(super) fn next_rest(&mut self) -> Option<(usize, Segment)> {
        let (path, segment) = self.rest.take()?;
        Some(self.mapped(path, segment))
    }

    /// Segments known to be lost go before new data, on their own subflow.
    #[inline]
    pub(super) fn next_hole(&mut self, with: &Context) -> Option<(usize, Segment)> {
        let (path, segment) =
            self.subflows.first_of(Standing::Repairing, with.subflow, |subflow| {
                subflow.sender.next_hole(with.subflow, with.now)
            })?;
        let (path, segment) = self.mapped(path, segment);
        Some((path, self.with_keys(with, path, segment)))
    }

    /// What a subflow sends when there is nothing new: see RFC 6675 section 4, rules 3 and 4.
    #[inline]
    pub(super) fn next_rescue(&mut self, with: &Context) -> Option<(usize, Segment)> {
        let (path, segment) =
            self.subflows.first_of(Standing::Repairing, with.subflow, |subflow| {
                subflow.sender.next_segment(with.subflow, with.now)
            })?;
        Some(self.mapped(path, segment))
    }

    /// New data, on the subflow that the scheduler chooses.
    pub(super) fn next_data(&mut self, with: &Context) -> Option<(usize, Segment)> {
        self.forget_late();
        let path = self.choose(with)?;
        let data = self.take_data(with, path)?;
        let segment = self.subflows.change(with.subflow, path, |subflow| {
            subflow.cursor = subflow.cursor.max(data.end);
            subflow.send(with.subflow, with.now, data)
        })?;
        Some((path, self.with_keys(with, path, segment)))
    }

    #[inline]
    fn choose(&mut self, with: &Context) -> Option<usize> {
        let paths = self.subflows.len();
        let ready = |path: &usize| self.is_ready(with, *path);
        match with.config.scheduler {
            Scheduler::LowestRtt => {
                (0..paths).filter(ready).min_by_key(|path| self.subflows.gauge(*path).srtt)
            }
            Scheduler::RoundRobin | Scheduler::Redundant => {
                let chosen = (0..paths).map(|step| (self.turn + step) % paths).find(ready)?;
                self.turn = (chosen + 1) % paths;
                Some(chosen)
            }
        }
    }

    /// Whether a subflow can send, and there is something for it.
    #[inline]
    fn is_ready(&self, with: &Context, path: usize) -> bool {
        self.subflows.gauge(path).has_room
            && (self.late_for(path).is_some() || !self.new_for(with, path).is_empty())
    }

    /// The next segment's bytes of those that are new to a subflow; empty if there is none, or the receive window is full.
    #[inline]
    fn new_for(&self, with: &Context, path: usize) -> Range<u64> {
        let start = match with.config.scheduler {
            Scheduler::Redundant => self.subflows.get(path).cursor.max(self.una),
            Scheduler::LowestRtt | Scheduler::RoundRobin => self.nxt,
        };
        let end = self.written.min(start.saturating_add(u64::from(with.subflow.mss)));
        if end <= self.window_end { start..end } else { start..start }
    }

    /// Takes the bytes for a subflow that is ready.
    #[inline]
    fn take_data(&mut self, with: &Context, path: usize) -> Option<Range<u64>> {
        if let Some(place) = self.late_for(path) {
            return self.take_late(place, u64::from(with.subflow.mss));
        }
        let data = self.new_for(with, path);
        self.nxt = self.nxt.max(data.end);
        Some(data)
    }

    /// Writes the data sequence mapping into a segment that is sent again. It may hold bytes of several places: the rest waits.
    fn mapped(&mut self, path: usize, mut segment: Segment) -> (usize, Segment) {
        let bytes = segment.seq..segment.seq + u64::from(segment.len);
        if let Some(data) = self.subflows.get(path).mappings.first(bytes) {
            let len = (data.end - data.start) as u16;
            if len < segment.len {
                let (seq, rest) = (segment.seq + u64::from(len), segment.len - len);
                self.rest = Some((path, Segment { seq, len: rest, ..segment }));
            }
            segment.data_seq = data.start;
            segment.len = len;
        }
        (path, segment)
    }
}
