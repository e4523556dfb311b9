//! The events of all parts in the order of a run that is not divided.
//!
//! That run handles events by time, and those of one time in the order in which they were
//! scheduled. A part handles its own events in that order, too, so what remains is to merge the
//! logs of all parts by time and, at equal times, by the place of each event in the whole run's
//! order of scheduling. Events get that place here: when an event is merged, those that it has
//! scheduled get the next ones. They are in later windows of other parts, and further on in the log
//! of their own, so that an event has its place before it is compared.

use std::ops::DerefMut;

use super::Exchange;
use crate::engine::Event;
use crate::simulation::{Link, Logged, Mark, digest_with};

/// Knowledge of the whole run.
pub(super) struct Merge {
    /// Next place in the order of scheduling.
    next: u64,
    packets: i64,
    cursors: Vec<Cursor>,
    /// Events handled.
    pub(super) events: u64,
    pub(super) digest: u64,
    /// Most packets at one time.
    pub(super) peak: i64,
    /// The parts of the measured flows that have finished, in order.
    pub(super) finished: Vec<u16>,
}

/// Places in the log and the marks of a part.
#[derive(Clone, Copy, Default)]
struct Cursor {
    log: usize,
    marks: usize,
}

impl Merge {
    pub(super) fn new(parts: usize) -> Merge {
        Merge {
            next: 0,
            packets: 0,
            cursors: vec![Cursor::default(); parts],
            events: 0,
            digest: 0,
            peak: 0,
            finished: Vec::new(),
        }
    }

    /// Gives the first events, which all parts have alike, their places.
    pub(super) fn begin(&mut self, parts: &mut [impl DerefMut<Target = Exchange>], events: u32) {
        for part in parts.iter_mut() {
            (0..u64::from(events)).for_each(|seq| part.seqs.push(seq));
        }
        self.next = events.into();
    }

    /// Merges the logs of a window.
    pub(super) fn window(&mut self, parts: &mut [impl DerefMut<Target = Exchange>]) {
        self.cursors.fill(Cursor::default());
        while let Some(part) = self.first(parts) {
            let logged = self.take(parts, part);
            self.events += 1;
            self.digest = digest_with(self.digest, logged.at, logged.event);
            if is_shared(logged.event) {
                self.share(parts, &logged);
                continue;
            }
            let next_arrival = self.count(parts, part, &logged.effect);
            self.finish(part, &logged);
            if logged.link == Link::Leaves {
                self.enter(parts, &logged, next_arrival);
            }
        }
        let mut rest = parts.iter().zip(&self.cursors);
        debug_assert!(rest.all(|(part, cursor)| cursor.log == part.told.log.len()));
    }

    /// The part whose next event is the first of all. An arrival from another part goes with its
    /// event there, and what all parts do with that of the first.
    fn first(&self, parts: &[impl DerefMut<Target = Exchange>]) -> Option<usize> {
        let mut first: Option<(usize, &Logged)> = None;
        for (part, exchange) in parts.iter().enumerate() {
            let Some(logged) = exchange.told.log.get(self.cursors[part].log) else { continue };
            let waits =
                matches!(logged.link, Link::Enters { .. }) || (part > 0 && is_shared(logged.event));
            if waits {
                continue;
            }
            let is_first = first.is_none_or(|(other, before)| {
                let seq =
                    |part: usize, logged: &Logged| parts[part].seqs.of(logged.at, logged.order);
                logged.at < before.at
                    || (logged.at == before.at && seq(part, logged) < seq(other, before))
            });
            if is_first {
                first = Some((part, logged));
            }
        }
        first.map(|(part, _)| part)
    }

    fn take(&mut self, parts: &[impl DerefMut<Target = Exchange>], part: usize) -> Logged {
        let logged = parts[part].told.log[self.cursors[part].log];
        self.cursors[part].log += 1;
        logged
    }

    /// Counts what a part has done, and gives the events that it has scheduled their places;
    /// returns the place of the first.
    fn count(
        &mut self,
        parts: &mut [impl DerefMut<Target = Exchange>],
        part: usize,
        effect: &Mark,
    ) -> u64 {
        let first = self.next;
        let seqs = &mut parts[part].seqs;
        while seqs.next() != effect.scheduled {
            seqs.push(self.next);
            self.next += 1;
        }
        self.peak = self.peak.max(self.packets + i64::from(effect.peak));
        self.packets += i64::from(effect.packets);
        first
    }

    fn finish(&mut self, part: usize, logged: &Logged) {
        self.finished.extend((0..logged.flows).map(|_| part as u16));
    }

    /// Merges the arrival of a packet in the part that it has entered, with the place of the next
    /// arrival over the link, which both parts schedule.
    fn enter(
        &mut self,
        parts: &mut [impl DerefMut<Target = Exchange>],
        left: &Logged,
        next_arrival: u64,
    ) {
        let enters = |part: &usize| {
            let logged = parts[*part].told.log.get(self.cursors[*part].log);
            logged.is_some_and(|logged| {
                matches!(logged.link, Link::Enters { .. })
                    && (logged.at, logged.event) == (left.at, left.event)
            })
        };
        let part = (0..parts.len()).find(enters).expect("what leaves a part enters another");
        let logged = self.take(parts, part);
        if logged.link == (Link::Enters { is_followed: true }) {
            parts[part].seqs.push(next_arrival);
        }
        self.count(parts, part, &logged.effect);
        self.finish(part, &logged);
    }

    /// Merges an event of all parts: each flow that it starts is in one or two of them, and the
    /// events that it schedules at last are of all.
    fn share(&mut self, parts: &mut [impl DerefMut<Target = Exchange>], logged: &Logged) {
        for part in 1..parts.len() {
            let other = self.take(parts, part);
            debug_assert_eq!((other.at, other.event), (logged.at, logged.event));
        }
        for _ in 0..logged.marks {
            for part in 0..parts.len() {
                let mark = parts[part].told.marks[self.cursors[part].marks];
                self.cursors[part].marks += 1;
                self.count(parts, part, &mark);
            }
        }
        let scheduled = logged.effect.scheduled.wrapping_sub(parts[0].seqs.next());
        for part in parts.iter_mut() {
            (0..scheduled).for_each(|seq| part.seqs.push(self.next + u64::from(seq)));
        }
        self.next += u64::from(scheduled);
    }
}

/// True of an event that takes place in all parts.
fn is_shared(event: u32) -> bool {
    matches!(Event::unpack(event), Event::Spawn | Event::Sample | Event::Measure)
}
