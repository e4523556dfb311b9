//! The part of a run that is done, by the work that it takes.

use heddle_policy::Scheme;
use heddle_scenario::Until;
use heddle_units::Time;

use super::Simulation;
use crate::hosts::UsualTimes;
use crate::work::State;

/// The end of a run of which all measured flows have started: looked for again when the work has
/// grown by this part.
const LOOK_AGAIN: f64 = 0.02;

/// An estimate of the end, and the work at which the next is made.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastEnd {
    at: Time,
    until_hops: u64,
}

impl<S: Scheme> Simulation<'_, S> {
    /// Completed share of the work: packet hops by those that are expected.
    pub(crate) fn done(&mut self) -> f64 {
        let hops = self.hops();
        let flows = (self.totals.flows_started, self.finished);
        let state = State { now: self.now, hops, flows, timeout: self.timeout() };
        let end = self.expected_end(state).min(self.end).max(self.now);
        let left = self.work.hops_left(state, end);
        if hops == 0 { 0.0 } else { hops as f64 / (hops as f64 + left) }
    }

    fn expected_end(&mut self, state: State) -> Time {
        match self.scenario.measure.until {
            Until::Time(span) => self.expected_start() + span,
            Until::Flows(flows) if self.measured_started >= flows => self.end_of_last(state),
            Until::Flows(flows) => self.work.end_of(flows, self.expected_start(), state),
        }
    }

    /// The end of a run of which all measured flows have started. Flows share links with fewer others
    /// in the end: their paces so far are no reason to expect more than the model without packets
    /// does, until that has been wrong.
    fn end_of_last(&mut self, state: State) -> Time {
        let by_pace = self.last_end();
        match self.work.fluid_end(self.expected_start(), state.timeout) {
            Some(end) if self.now < end => by_pace.min(end),
            _ => by_pace,
        }
    }

    /// The time that the last flow waits for a lost packet, if some have been dropped.
    fn timeout(&self) -> Time {
        if self.network.port_stats.iter().all(|stats| stats.buffer_drops == 0) {
            return Time::ZERO;
        }
        self.scenario.transports().iter().map(|t| t.tcp().min_rto).max().unwrap_or_default()
    }

    /// The start of the measuring window, or the earliest that it can have.
    fn expected_start(&self) -> Time {
        let measure = &self.scenario.measure;
        let earliest = measure.probe_warm_up + measure.warm_up;
        if self.measuring_from == Time::NEVER {
            earliest.max(self.now)
        } else {
            self.measuring_from
        }
    }

    /// The time at which the last of the measured flows under way may end.
    fn last_end(&mut self) -> Time {
        let hops = self.hops();
        if hops >= self.last_end.until_hops {
            let until_hops = hops + (hops as f64 * LOOK_AGAIN) as u64;
            let of_flow = |workload: u16, bytes: f64| self.work.flow_time(workload, bytes);
            let usual = UsualTimes { round_trip: self.work.round_trip, of_flow: &of_flow };
            let at = self.hosts.last_end(self.now, &usual);
            self.last_end = LastEnd { at, until_hops };
        }
        self.last_end.at
    }
}
