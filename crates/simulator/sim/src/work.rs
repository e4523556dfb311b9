//! Work of a run, before and while it goes on: the packet hops that its flows take, from their sizes
//! and the lengths of paths.
//!
//! A flow takes its data packets, their acknowledgements and a handshake over every link of its
//! path; retransmissions are learnt as the run goes on. How long a run lasts follows from the rate at
//! which flows arrive or, where the network paces them, at which they have finished so far. If flows
//! start at times of their own, and are not too many, it follows from a fluid model of the same flows
//! ([`fluid`]).

mod flow;
mod fluid;
mod losses;
mod parts;
mod tail;

use heddle_fabric::{Fabric, Routes};
use heddle_scenario::Scenario;
use heddle_units::Time;

use crate::traffic::NewFlow;
use flow::FlowCost;
use fluid::Fluid;
pub(crate) use parts::Part;

/// Expected work of a run.
pub(crate) struct Work {
    /// Start of the traffic.
    start: Time,
    costs: Vec<FlowCost>,
    parts: Vec<Part>,
    /// Packet hops of the flows that have started, by workload.
    started: Vec<f64>,
    /// Time from the start of the last measured flow to the end of all, without [`Work::fluid`].
    tail: Time,
    /// The start of the measuring window, if the warm-up has a fixed length.
    from: Time,
    /// The run by the model without packets.
    fluid: Option<Fluid>,
    /// Packet hops before the first flow: those of probes.
    before: u64,
    /// A round trip through the empty fabric, with the handshake's.
    pub(crate) round_trip: Time,
}

/// The progress of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State {
    pub(crate) now: Time,
    pub(crate) hops: u64,
    /// Flows that have started and finished.
    pub(crate) flows: (u64, u64),
    /// The time that the last flow waits for a lost packet.
    pub(crate) timeout: Time,
}

impl Work {
    pub(crate) fn new(scenario: &Scenario, fabric: &Fabric, routes: &Routes, seed: u64) -> Work {
        let start = scenario.measure.probe_warm_up;
        let costs = flow::costs(scenario, fabric, routes, seed);
        let parts: Vec<Part> = parts::of(scenario, &costs);
        Work {
            start,
            started: vec![0.0; parts.len()],
            tail: tail::time(&scenario.workload, &costs, &parts, &scenario.measure.until),
            before: 0,
            from: start + scenario.measure.warm_up,
            fluid: fluid::run(scenario, fabric, &costs, seed),
            round_trip: costs.iter().map(FlowCost::round_trip).max().unwrap_or_default(),
            costs,
            parts,
        }
    }

    /// Notes a flow that starts, when so many hops have been made.
    pub(crate) fn note(&mut self, flow: &NewFlow, hops: u64) {
        let workload = usize::from(flow.workload);
        if self.started.iter().all(|&hops| hops == 0.0) {
            self.before = hops;
        }
        if let (Some(sum), Some(cost)) = (self.started.get_mut(workload), self.costs.get(workload))
            && !flow.is_long()
        {
            *sum += cost.hops(flow.size);
        }
    }

    /// The expected end of a run of which `flows` flows are measured from a time on.
    pub(crate) fn end_of(&self, flows: u64, from: Time, state: State) -> Time {
        if let Some(end) = self.fluid_end(from, state.timeout) {
            return end.max(state.now);
        }
        let rate = match self.has_closed() && state.flows.1 > 0 {
            // Of flows under way half is over.
            true => {
                let gone = self.gone(state.now).as_secs_f64().max(1e-12);
                (state.flows.0 + state.flows.1) as f64 / 2.0 / gone
            }
            false => self.parts.iter().map(Part::flows_per_second).sum(),
        };
        let whole: u64 = self.parts.iter().map(Part::known_flows).sum();
        let last = self.parts.iter().filter_map(Part::last_start).max().unwrap_or_default();
        if rate == 0.0 {
            return last.max(state.now).saturating_add(state.timeout);
        }
        let others = flows.saturating_sub(whole) as f64;
        let last = from.saturating_add(seconds(others / rate)).max(last);
        last.saturating_add(self.tail).saturating_add(state.timeout)
    }

    /// The end by the model without packets. If packets are lost, the last flow waits for a timeout,
    /// and takes some time before and after it.
    pub(crate) fn fluid_end(&self, from: Time, timeout: Time) -> Option<Time> {
        let fluid = self.fluid.as_ref()?;
        let end = fluid.end.max(fluid.last_start.saturating_add(timeout + timeout / 4));
        Some(end.saturating_add(self.round_trip).saturating_add(from.saturating_sub(self.from)))
    }

    /// Packet hops from now to an expected end.
    pub(crate) fn hops_left(&self, state: State, end: Time) -> f64 {
        let State { now, hops, .. } = state;
        let ahead = end.saturating_sub(now.max(self.start)).as_secs_f64();
        let begun = self.started.iter().any(|&hops| hops > 0.0) || self.has_begun_long(now);
        let by_flows = if begun { hops.saturating_sub(self.before) as f64 } else { 0.0 };
        let gone = self.gone(now).as_secs_f64();
        if begun && gone > 0.0 && self.parts.iter().any(Part::is_paced) {
            return by_flows / gone * ahead;
        }
        let probes = match begun {
            true => self.before as f64 / self.start.as_secs_f64().max(1e-12),
            false => hops as f64 / now.as_secs_f64().max(1e-12),
        };
        let probes_left = probes * end.saturating_sub(now).as_secs_f64();
        // Probes after the traffic's start are no work of flows.
        let by_flows = (by_flows - probes * gone).max(0.0);
        let planned: f64 = self.started.iter().sum();
        // What is more than planned are retransmissions and detours.
        let excess = if planned > 0.0 { (by_flows / planned).max(1.0) } else { 1.0 };
        let to_start = excess * self.hops_to_start(state.now, end);
        // In a steady state as much is under way at the end as now.
        let is_steady = self.parts.iter().any(|part| part.flows_per_second() > 0.0);
        let under_way = (excess * planned - by_flows).max(0.0);
        let under_way = match &self.fluid {
            Some(fluid) => under_way - fluid.under_way(),
            None if is_steady => 0.0,
            None => under_way,
        };
        (to_start + under_way).max(0.0) + probes_left
    }

    /// Packet hops of the flows that start from now to an expected end.
    fn hops_to_start(&self, now: Time, end: Time) -> f64 {
        let seconds = |from: Time, to: Time| to.saturating_sub(from).as_secs_f64();
        let ahead = seconds(now.max(self.start), end);
        let Some(fluid) = &self.fluid else {
            let to_start = |(part, started): (&Part, &f64)| part.hops_to_start(*started, ahead);
            return self.parts.iter().zip(&self.started).map(to_start).sum();
        };
        let known = (fluid.started - self.started.iter().sum::<f64>()).max(0.0);
        let (whole, rest) = (seconds(now.max(self.start), fluid.end), seconds(fluid.end, end));
        let per_second: f64 = self.parts.iter().map(Part::hops_per_second).sum();
        known * (ahead / whole.max(1e-12)).min(1.0) + per_second * rest.min(ahead)
    }

    /// Flows that start until an expected end of the run.
    pub(crate) fn flows_until(&self, end: Time) -> f64 {
        if let Some(fluid) = &self.fluid {
            let per_second: f64 = self.parts.iter().map(Part::flows_per_second).sum();
            let after = end.saturating_sub(fluid.end).as_secs_f64();
            return fluid.flows as f64 + per_second * after;
        }
        let seconds = end.saturating_sub(self.start).as_secs_f64();
        let of_part = |part: &Part| part.known_flows() as f64 + part.flows_per_second() * seconds;
        self.parts.iter().map(of_part).sum()
    }

    /// True if packets are likely to be lost. Without [`Work::fluid`], if nothing else limits windows
    /// of flows that arrive at a rate of their own.
    pub(crate) fn loses(&self) -> bool {
        match &self.fluid {
            Some(fluid) => fluid.loses,
            None => {
                let are_open = self.parts.iter().all(|part| matches!(part, Part::Open { .. }));
                are_open && self.costs.iter().any(|cost| cost.window().grows())
            }
        }
    }

    /// Time since the start of the traffic.
    fn gone(&self, now: Time) -> Time {
        now.saturating_sub(self.start)
    }

    fn has_closed(&self) -> bool {
        self.parts.iter().any(|part| part.is_paced() && part.flows_per_second() > 0.0)
    }

    fn has_begun_long(&self, now: Time) -> bool {
        now > self.start && self.parts.iter().any(Part::is_paced)
    }

    /// Time in seconds that a flow of a workload with so many bytes takes.
    pub(crate) fn flow_time(&self, workload: u16, bytes: f64) -> f64 {
        self.costs.get(usize::from(workload)).map_or(0.0, |cost| cost.time(bytes))
    }

    /// Mean time in seconds that flows of a workload take.
    pub(crate) fn flow_seconds(&self, workload: u16) -> f64 {
        self.costs.get(usize::from(workload)).map_or(0.0, FlowCost::mean_time)
    }

    /// The parts of the workload.
    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }
}

/// A time of so many seconds.
fn seconds(seconds: f64) -> Time {
    Time((seconds * 1e12) as u64)
}
