//! The agenda of a run: each action with its time.

use std::collections::BTreeMap;

use heddle_scenario::Scenario;
use heddle_units::Time;

/// Something to be done at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// The scenario's event of this index happens.
    Event(usize),
    /// Routes follow an event.
    Converge,
    /// Links are sampled.
    Sample,
    /// The measuring window begins.
    Measure,
}

/// In order of time; an entry's second part keeps those of one time apart.
pub(super) struct Agenda(BTreeMap<(Time, u64), Due>);

/// Places among the entries of one time: behind all events.
const SAMPLE: u64 = u64::MAX - 1;
const MEASURE: u64 = u64::MAX;

impl Agenda {
    /// A scenario's events, its first sample, and its measuring window.
    pub(super) fn new(scenario: &Scenario) -> Agenda {
        let measure = &scenario.measure;
        let mut entries = BTreeMap::new();
        for (index, event) in scenario.events.iter().enumerate() {
            entries.insert((event.at, index as u64), Due::Event(index));
        }
        entries.insert((measure.probe_warm_up + measure.warm_up, MEASURE), Due::Measure);
        if let Some(every) = measure.sample_every {
            entries.insert((every, SAMPLE), Due::Sample);
        }
        Agenda(entries)
    }

    /// The time of the next entry; [`Time::NEVER`] if there is none.
    pub(super) fn next(&self) -> Time {
        self.0.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at)
    }

    pub(super) fn is_due(&self, now: Time) -> bool {
        self.next() <= now
    }

    /// The first entry that is due, with its time.
    pub(super) fn take(&mut self, now: Time) -> Option<(Time, Due)> {
        if !self.is_due(now) {
            return None;
        }
        self.0.pop_first().map(|((at, _), due)| (at, due))
    }

    /// Routes follow the event of an index at a time.
    pub(super) fn converge_after(&mut self, at: Time, event: usize) {
        self.0.insert((at, event as u64), Due::Converge);
    }

    /// The sample behind one that was due at `at`. Those that are late already are left out.
    pub(super) fn sample_after(&mut self, at: Time, every: Time, now: Time) {
        let late = (now.saturating_sub(at).0 / every.0) * every.0;
        self.0.insert((at + every + Time(late), SAMPLE), Due::Sample);
    }

    /// True before the measuring window.
    pub(super) fn is_warming_up(&self) -> bool {
        self.0.values().any(|due| *due == Due::Measure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_in_order_and_late_samples_are_left_out() {
        let ms = Time::millis;
        let mut agenda = Agenda(BTreeMap::from([((ms(10), SAMPLE), Due::Sample)]));
        agenda.converge_after(ms(10), 3);
        assert_eq!(agenda.take(ms(9)), None);
        assert_eq!(agenda.take(ms(10)), Some((ms(10), Due::Converge)));
        assert_eq!(agenda.take(ms(10)), Some((ms(10), Due::Sample)));
        agenda.sample_after(ms(10), ms(10), ms(37));
        assert_eq!(agenda.next(), ms(40), "those of 20 and 30 ms are late");
        assert!(!agenda.is_warming_up());
    }
}
