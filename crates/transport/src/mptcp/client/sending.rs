//! What a client sends next: repairs first, then new data on the subflow that the scheduler chooses.

use core::ops::Range;

use super::Client;
use crate::Segment;
use crate::mptcp::{Context, Scheduler};

impl Client {
    /// Segments known to be lost go before new data, on their own subflow.
    #[inline]
    pub(super) fn next_hole(&mut self, with: &Context) -> Option<(usize, Segment)> {
        let repairing =
            self.subflows.iter_mut().enumerate().filter(|(_, s)| s.sender.is_repairing());
        repairing.into_iter().find_map(|(path, subflow)| {
            Some((path, subflow.sender.next_hole(with.subflow, with.now)?))
        })
    }

    /// What a subflow sends when there is nothing new: see RFC 6675 section 4, rules 3 and 4.
    pub(super) fn next_rescue(&mut self, with: &Context) -> Option<(usize, Segment)> {
        let repairing =
            self.subflows.iter_mut().enumerate().filter(|(_, s)| s.sender.is_repairing());
        repairing.into_iter().find_map(|(path, subflow)| {
            Some((path, subflow.sender.next_segment(with.subflow, with.now)?))
        })
    }

    /// New data, on the subflow that the scheduler chooses.
    pub(super) fn next_data(&mut self, with: &Context) -> Option<(usize, Segment)> {
        self.forget_late();
        let path = self.choose(with)?;
        let data = self.take_data(with, path)?;
        let segment = self.subflows[path].send(with.subflow, with.now, data)?;
        Some((path, segment))
    }

    fn choose(&mut self, with: &Context) -> Option<usize> {
        let paths = self.subflows.len();
        let ready = |path: &usize| self.is_ready(with, *path);
        match with.config.scheduler {
            Scheduler::LowestRtt => {
                (0..paths).filter(ready).min_by_key(|path| self.subflows[*path].sender.srtt())
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
        let subflow = &self.subflows[path];
        subflow.is_open()
            && subflow.sender.has_room(with.subflow)
            && (self.late_for(path).is_some() || !self.new_for(with, path).is_empty())
    }

    /// The next segment's bytes of those that are new to a subflow; empty if there is none, or the receive window is full.
    #[inline]
    fn new_for(&self, with: &Context, path: usize) -> Range<u64> {
        let start = match with.config.scheduler {
            Scheduler::Redundant => self.subflows[path].cursor.max(self.una),
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
        self.subflows[path].cursor = data.end;
        Some(data)
    }

    /// Writes the data sequence mapping into a segment of data. One sent again may hold bytes of several places: the rest waits.
    #[inline]
    pub(super) fn mapped(&mut self, path: usize, mut segment: Segment) -> (usize, Segment) {
        let bytes = segment.seq..segment.seq + u64::from(segment.len);
        if let Some(data) = self.subflows[path].mappings.first(bytes) {
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
