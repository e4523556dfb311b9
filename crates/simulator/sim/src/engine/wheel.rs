//! The event queue: a timing wheel whose current slot is sorted, with a heap for the far future.
//!
//! Nearly every event lies at most one packet time and one link delay ahead, and a port has at most
//! one event pending, so a slot holds few entries. Scheduling appends to a slot; a slot is sorted
//! once, when it becomes current: by insertion, if it has more than a few entries after they are
//! distributed to parts of its time. Slots keep insertion order and the sort is stable, which gives
//! the order documented at `Event`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use heddle_units::Time;

use super::{Event, prefetch};

#[derive(Clone, Copy)]
struct Entry {
    at: Time,
    event: u32,
    /// Its place in the order of scheduling, modulo 2^32.
    order: u32,
}

/// An event with its place in the order of scheduling, modulo 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    pub(crate) at: Time,
    pub(crate) event: Event,
    pub(crate) order: u32,
}

/// A wheel's notes of the events that are scheduled, for a partition of a run: where their
/// places in the order of scheduling are still looked up.
#[derive(Default)]
pub(crate) struct Scheduled {
    /// Time of the latest of those that are not in `far`.
    pub(crate) latest: Time,
    /// Events beyond the horizon of the wheel: time and order.
    pub(crate) far: Vec<(Time, u32)>,
}

/// The event queue. An event scheduled in the past is handled at the current time.
pub(crate) struct Wheel {
    /// Entries of the current slot, by time; those before `cursor` have been handled.
    current: Vec<Entry>,
    cursor: usize,
    /// Number of the current slot since time 0.
    slot: u64,
    /// Index of the next slot that had entries when the current one began.
    next_slot: usize,
    /// log2 of a slot's length in picoseconds.
    shift: u32,
    slots: Box<[Vec<Entry>]>,
    /// A bit for each slot that has entries.
    occupied: Box<[u64]>,
    /// Events beyond the horizon of the wheel, by time and order of scheduling.
    overflow: BinaryHeap<Reverse<(Time, u64, u32)>>,
    /// Events scheduled so far.
    scheduled: u64,
    /// `None` unless the run is one of several partitions.
    noted: Option<Box<Scheduled>>,
}

impl Wheel {
    /// A wheel for events that are mostly `gap` apart and at most `horizon` ahead.
    pub(crate) fn new(gap: Time, horizon: Time) -> Wheel {
        let shift = gap.0.max(1).ilog2();
        let slots = (horizon.0 >> shift).clamp(MIN_SLOTS, MAX_SLOTS).next_power_of_two();
        let shift = shift.max((horizon.0 / slots).max(1).ilog2());
        Wheel {
            current: Vec::new(),
            cursor: 0,
            slot: 0,
            next_slot: 0,
            shift,
            slots: vec![Vec::new(); slots as usize].into_boxed_slice(),
            occupied: vec![0; (slots as usize).div_ceil(64)].into_boxed_slice(),
            overflow: BinaryHeap::new(),
            scheduled: 0,
            noted: None,
        }
    }

    /// Adds an event.
    #[inline]
    pub(crate) fn schedule(&mut self, at: Time, event: Event) {
        let slot = at.0 >> self.shift;
        let entry = self.entry(at, event);
        if slot <= self.slot {
            self.insert_current(entry, |_| false);
        } else if slot - self.slot < self.slots.len() as u64 {
            self.append(slot, entry);
        } else {
            self.overflow.push(Reverse((at, self.scheduled, entry.event)));
        }
        self.scheduled += 1;
        if self.noted.is_some() {
            self.note(entry);
        }
    }

    /// Takes the next event.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(Time, Event)> {
        if self.cursor == self.current.len() && !self.advance() {
            return None;
        }
        let entry = self.current[self.cursor];
        self.cursor += 1;
        Some((entry.at, Event::unpack(entry.event)))
    }

    #[inline]
    fn entry(&self, at: Time, event: Event) -> Entry {
        Entry { at, event: event.pack(), order: self.scheduled as u32 }
    }

    /// The event about `ahead` positions behind the next one. Approximate, because the next slot is
    /// not sorted yet.
    #[inline]
    pub(crate) fn peek(&self, ahead: usize) -> Option<Event> {
        let index = self.cursor + ahead;
        let entry = match self.current.get(index) {
            Some(entry) => Some(entry),
            None => self.slots[self.next_slot].get(index - self.current.len()),
        };
        entry.map(|entry| Event::unpack(entry.event))
    }

    #[inline]
    fn append(&mut self, slot: u64, entry: Entry) {
        let index = slot as usize & (self.slots.len() - 1);
        self.slots[index].push(entry);
        self.occupied[index / 64] |= 1 << (index % 64);
    }

    /// Inserts an entry into the current slot, after those of the same time that are not later.
    #[inline]
    fn insert_current(&mut self, entry: Entry, is_later: impl Fn(u32) -> bool) {
        let mut place = self.current.len();
        let goes_before =
            |other: &Entry| other.at > entry.at || (other.at == entry.at && is_later(other.order));
        while place > self.cursor && goes_before(&self.current[place - 1]) {
            place -= 1;
        }
        self.current.insert(place, entry);
    }

    /// Advances to the next slot with entries; returns false if there is none.
    fn advance(&mut self) -> bool {
        let near = self.next_occupied();
        let far = self.overflow.peek().map(|Reverse((at, ..))| at.0 >> self.shift);
        let Some(slot) = near.into_iter().chain(far).min() else { return false };
        self.slot = slot;
        self.refill_from_overflow();
        let index = slot as usize & (self.slots.len() - 1);
        self.cursor = 0;
        take_sorted(&mut self.slots[index], self.shift, &mut self.current);
        self.occupied[index / 64] &= !(1 << (index % 64));
        let following = self.next_occupied().unwrap_or(0);
        self.next_slot = following as usize & (self.slots.len() - 1);
        self.prefetch_next_slot();
        true
    }

    /// Prefetches the entries of the next slot; a cache line holds four.
    fn prefetch_next_slot(&self) {
        let entries = &self.slots[self.next_slot];
        for line in 0..(entries.len() as u32).div_ceil(4).min(8) {
            prefetch(entries, line * 4);
        }
    }

    /// Moves the events within the horizon from the heap to the slots.
    fn refill_from_overflow(&mut self) {
        let end = self.slot + self.slots.len() as u64;
        while let Some(&Reverse((at, order, event))) = self.overflow.peek() {
            if at.0 >> self.shift >= end {
                return;
            }
            self.overflow.pop();
            self.append(at.0 >> self.shift, Entry { at, event, order: order as u32 });
        }
    }

    /// The first slot after the current one that has entries.
    fn next_occupied(&self) -> Option<u64> {
        let (len, words) = (self.slots.len(), self.occupied.len());
        let start = (self.slot + 1) as usize & (len - 1);
        let first = self.occupied[start / 64] & (u64::MAX << (start % 64));
        let found = std::iter::once((start / 64, first))
            .chain((1..=words).map(|i| (start / 64 + i) % words).map(|w| (w, self.occupied[w])))
            .find(|(_, bits)| *bits != 0)?;
        let index = found.0 * 64 + found.1.trailing_zeros() as usize;
        Some(self.slot + 1 + (index.wrapping_sub(start) & (len - 1)) as u64)
    }
}

/// Needs of a partition of a run: its events are numbered, it stops before the end of a
/// window, and events of other partitions take their places among its own.
impl Wheel {
    /// Notes from now on what is scheduled, and what has been, too.
    pub(crate) fn take_notes(&mut self) {
        let far = self.overflow.iter().map(|Reverse((at, order, _))| (*at, *order as u32));
        self.noted = Some(Box::new(Scheduled { latest: Time::ZERO, far: far.collect() }));
        let near = self.slots.iter().flatten().chain(&self.current).map(|entry| entry.at).max();
        self.notes().latest = near.unwrap_or_default();
    }

    /// Events scheduled so far, modulo 2^32.
    pub(crate) fn scheduled(&self) -> u32 {
        self.scheduled as u32
    }

    /// The notes; empty without.
    pub(crate) fn notes(&mut self) -> &mut Scheduled {
        self.noted.get_or_insert_default()
    }

    #[inline(never)]
    fn note(&mut self, entry: Entry) {
        let is_far = (entry.at.0 >> self.shift) > self.slot
            && (entry.at.0 >> self.shift) - self.slot >= self.slots.len() as u64;
        let notes = self.notes();
        if is_far {
            notes.far.push((entry.at, entry.order));
        } else {
            notes.latest = notes.latest.max(entry.at);
        }
    }

    /// Takes the next event, if it is before `end`. Slots that begin later are left alone.
    pub(crate) fn pop_before(&mut self, end: Time) -> Option<Due> {
        while self.cursor == self.current.len() {
            let far = self.overflow.peek().map(|Reverse((at, ..))| at.0 >> self.shift);
            let slot = self.next_occupied().into_iter().chain(far).min()?;
            if slot << self.shift >= end.0 {
                return None;
            }
            self.advance();
        }
        let Entry { at, event, order } = self.current[self.cursor];
        if at >= end {
            return None;
        }
        self.cursor += 1;
        Some(Due { at, event: Event::unpack(event), order })
    }

    /// Time of the next event; [`Time::NEVER`] if there is none.
    pub(crate) fn next_at(&self) -> Time {
        if let Some(entry) = self.current.get(self.cursor) {
            return entry.at;
        }
        let len = self.slots.len();
        let near = self.next_occupied().map(|slot| &self.slots[slot as usize & (len - 1)]);
        let near = near.into_iter().flatten().map(|entry| entry.at);
        let far = self.overflow.peek().map(|Reverse((at, ..))| *at);
        near.chain(far).min().unwrap_or(Time::NEVER)
    }

    /// Adds an event before those of its time of which `is_later` holds, by their order.
    pub(crate) fn schedule_among(
        &mut self,
        at: Time,
        event: Event,
        is_later: impl Fn(u32) -> bool,
    ) {
        let slot = at.0 >> self.shift;
        let entry = self.entry(at, event);
        if slot <= self.slot {
            self.insert_current(entry, is_later);
        } else if slot - self.slot < self.slots.len() as u64 {
            self.append(slot, entry);
            let entries = &mut self.slots[slot as usize & (self.slots.len() - 1)];
            let later = |other: &Entry| other.at == at && is_later(other.order);
            if let Some(place) = entries.iter().position(later) {
                entries[place..].rotate_right(1);
            }
        } else {
            self.overflow.push(Reverse((at, self.scheduled, entry.event)));
        }
        self.scheduled += 1;
        self.note(entry);
    }
}

/// Minimum and maximum number of slots. More would exceed the cache of a core.
const MIN_SLOTS: u64 = 64;
const MAX_SLOTS: u64 = 1 << 14;

/// Moves the entries of a slot to `sorted`, by time and order of scheduling.
fn take_sorted(slot: &mut Vec<Entry>, shift: u32, sorted: &mut Vec<Entry>) {
    sorted.clear();
    if slot.len() <= SHORT {
        std::mem::swap(slot, sorted);
        return insertion_sort(sorted);
    }
    sorted.extend_from_slice(slot);
    if slot.len() <= LONG {
        distribute(slot, shift, sorted);
        insertion_sort(sorted);
    } else {
        sorted.sort_by_key(|entry| entry.at);
    }
    slot.clear();
}

/// Slots of so many entries are sorted by insertion alone, and up to so many after they are
/// distributed.
const SHORT: usize = 32;
const LONG: usize = 1024;

/// log2 of the parts of a slot to which entries are distributed.
const PARTS_SHIFT: u32 = 7;
const PARTS: usize = 1 << PARTS_SHIFT;

/// Copies the entries of a slot by the part of the slot in which their times lie: a stable counting
/// sort.
fn distribute(slot: &[Entry], shift: u32, to: &mut [Entry]) {
    let unit = shift.saturating_sub(PARTS_SHIFT);
    let part = |entry: &Entry| (entry.at.0 >> unit) as usize & (PARTS - 1);
    let mut place = [0u32; PARTS + 1];
    for entry in slot {
        place[part(entry) + 1] += 1;
    }
    for next in 1..PARTS {
        place[next] += place[next - 1];
    }
    for entry in slot {
        let place = &mut place[part(entry)];
        to[*place as usize] = *entry;
        *place += 1;
    }
}

/// Stable; takes little more than one pass if no entry is far from its place.
fn insertion_sort(entries: &mut [Entry]) {
    for i in 1..entries.len() {
        let entry = entries[i];
        let mut j = i;
        while j > 0 && entries[j - 1].at > entry.at {
            entries[j] = entries[j - 1];
            j -= 1;
        }
        entries[j] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn drain(wheel: &mut Wheel) -> Vec<(u64, Event)> {
        std::iter::from_fn(|| wheel.pop()).map(|(at, event)| (at.0, event)).collect()
    }

    #[test]
    fn simultaneous_events_happen_in_the_order_of_scheduling() {
        let mut wheel = Wheel::new(Time(1), Time(1000));
        for id in 0..5 {
            wheel.schedule(Time(100_000), Event::Arrival(id));
            wheel.schedule(Time(7), Event::Timeout(id));
        }
        let ids: Vec<Event> = drain(&mut wheel).into_iter().map(|(_, event)| event).collect();
        let expected: Vec<Event> =
            (0..5).map(Event::Timeout).chain((0..5).map(Event::Arrival)).collect();
        assert_eq!(ids, expected);
    }

    #[test]
    fn an_event_may_schedule_another_at_its_own_time() {
        let mut wheel = Wheel::new(Time(8), Time(800));
        wheel.schedule(Time(5), Event::Probe(1));
        wheel.schedule(Time(6), Event::Probe(3));
        assert_eq!(wheel.pop(), Some((Time(5), Event::Probe(1))));
        wheel.schedule(Time(5), Event::Probe(2));
        assert_eq!(drain(&mut wheel), [(5, Event::Probe(2)), (6, Event::Probe(3))]);
    }

    /// Delays that often coincide with another event or with the current time.
    fn ahead() -> impl Strategy<Value = u64> {
        prop_oneof![Just(0), (0u64..4).prop_map(|n| n * 1_000), 0u64..3_000_000]
    }

    proptest! {
        /// A slot of any size is sorted by time, and entries of one time stay in the order of
        /// scheduling.
        #[test]
        fn a_slot_is_sorted_stably(
            shift in 0u32..20,
            (times, repeat) in (prop::collection::vec(any::<u64>(), 0..40), 1usize..40),
        ) {
            let times = times.iter().cycle().take(times.len() * repeat);
            let in_slot = |time: u64| Time(7 << shift | time & ((1 << shift) - 1));
            let entries = times.zip(0..).map(|(&time, event)| Entry { at: in_slot(time), event, order: 0 });
            let mut slot: Vec<Entry> = entries.collect();
            let mut expected: Vec<(Time, u32)> = slot.iter().map(|e| (e.at, e.event)).collect();
            expected.sort();
            let mut sorted = vec![Entry { at: Time(1), event: 1, order: 0 }];
            take_sorted(&mut slot, shift, &mut sorted);
            prop_assert!(slot.is_empty());
            let got: Vec<(Time, u32)> = sorted.iter().map(|e| (e.at, e.event)).collect();
            prop_assert_eq!(got, expected);
        }

        /// The wheel agrees with a sorted list for any slot size and any delay.
        #[test]
        fn agrees_with_a_sorted_list(
            gap in 1u64..5_000,
            horizon in 1u64..2_000_000,
            steps in prop::collection::vec((ahead(), 0usize..3), 1..300),
        ) {
            let mut wheel = Wheel::new(Time(gap), Time(horizon));
            let mut list: Vec<(u64, usize)> = Vec::new();
            let mut now = 0;
            for (id, (ahead, pops)) in steps.iter().enumerate() {
                wheel.schedule(Time(now + ahead), Event::Arrival(id as u32));
                list.push((now + ahead, id));
                for _ in 0..*pops {
                    let next = (0..list.len()).min_by_key(|&i| list[i]);
                    let expected = next.map(|i| list.remove(i));
                    let got = wheel.pop();
                    prop_assert_eq!(got, expected.map(|(at, id)| (Time(at), Event::Arrival(id as u32))));
                    now = expected.map_or(now, |(at, _)| at);
                }
            }
        }
    }
}
