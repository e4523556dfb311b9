//! Places of a part's events in the order in which the whole run schedules events.

use std::collections::{BTreeMap, VecDeque};

use heddle_units::Time;

use crate::engine::Scheduled;

/// The places of events that are still to be handled, by the part's own order of scheduling.
#[derive(Default)]
pub(super) struct Seqs {
    /// Places of the events scheduled last, in the part's order.
    recent: VecDeque<u64>,
    /// Order of the first of them, modulo 2^32.
    first: u32,
    /// Windows of the recent ones: the time of the latest event that one has scheduled, and the
    /// number of events.
    windows: VecDeque<(Time, usize)>,
    /// Events scheduled since the last window.
    open: usize,
    /// Events that were far ahead when they were scheduled, by time and order.
    far: BTreeMap<(Time, u32), u64>,
}

impl Seqs {
    /// Gives the next event of the part's order its place.
    #[inline]
    pub(super) fn push(&mut self, seq: u64) {
        self.recent.push_back(seq);
        self.open += 1;
    }

    /// Order of the next event, modulo 2^32.
    #[inline]
    pub(super) fn next(&self) -> u32 {
        self.first.wrapping_add(self.recent.len() as u32)
    }

    /// The place of an event of a time and an order.
    pub(super) fn of(&self, at: Time, order: u32) -> u64 {
        let recent = self.recent.get(order.wrapping_sub(self.first) as usize);
        let found = recent.or_else(|| self.far.get(&(at, order)));
        *found.expect("events have their places until they are handled")
    }

    /// Ends a window, after which all events before `now` have been handled.
    pub(super) fn close(&mut self, scheduled: &mut Scheduled, now: Time) {
        for (at, order) in scheduled.far.drain(..) {
            self.far.insert((at, order), self.of(at, order));
        }
        self.windows.push_back((scheduled.latest, std::mem::take(&mut self.open)));
        while let Some(&(_, count)) = self.windows.front().filter(|(latest, _)| *latest < now) {
            self.windows.pop_front();
            self.recent.drain(..count);
            self.first = self.first.wrapping_add(count as u32);
        }
        while self.far.first_key_value().is_some_and(|((at, _), _)| *at < now) {
            self.far.pop_first();
        }
    }
}
