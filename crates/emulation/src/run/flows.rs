//! The flows of a run: those that the simulator would start with the same seed.

use std::collections::BTreeMap;

use heddle_scenario::{Connections, Until, Workload};
use heddle_sim::{Arrival, Arrivals, LongFlow, UnfinishedFlow};
use heddle_units::{Bytes, Time};

use crate::EmulationError;
use crate::host::{Flow, Order};
use crate::hosts::Hosts;
use crate::network::Network;
use crate::outcome::Finished;

/// Flows are given to hosts this long before they are due.
const AHEAD: Time = Time::millis(500);

/// The state of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Running,
    /// All of its bytes have arrived.
    Finished,
    /// Its connection broke.
    Broken,
}

/// A flow that was given to a host.
struct Started {
    arrival: Arrival,
    /// It starts in the measuring window, and has an end.
    is_measured: bool,
    state: State,
}

/// A host's count of received bytes.
#[derive(Clone, Debug, Default)]
struct Count {
    bytes: u64,
    /// Bytes of each flow that had not ended.
    open: BTreeMap<u64, u64>,
}

/// Flows, from their starts to their ends.
pub(super) struct Flows<'a> {
    network: &'a Network,
    /// The monotonic clock at time 0.
    start: u64,
    arrivals: std::iter::Peekable<Arrivals>,
    /// The turn of each pair's persistent connections.
    pools: BTreeMap<(u32, u32), u32>,
    started: Vec<Started>,
    finished: Vec<Finished>,
    measured_started: u64,
    measured_done: u64,
    /// Each host's counts: at the start of the measuring window, and at the end.
    counts: Vec<Vec<Count>>,
}

impl<'a> Flows<'a> {
    pub(super) fn new(network: &'a Network, seed: u64, start: u64) -> Flows<'a> {
        Flows {
            network,
            start,
            arrivals: Arrivals::new(&network.scenario, seed).peekable(),
            pools: BTreeMap::new(),
            started: Vec::new(),
            finished: Vec::new(),
            measured_started: 0,
            measured_done: 0,
            counts: vec![Vec::new(); network.hosts().len()],
        }
    }

    /// The start of the measuring window.
    pub(super) fn measured_from(&self) -> Time {
        self.network.scenario.measure.probe_warm_up + self.network.scenario.measure.warm_up
    }

    /// Gives hosts the flows that are due soon.
    pub(super) fn start(&mut self, now: Time, hosts: &mut Hosts) -> Result<(), EmulationError> {
        while let Some(arrival) = self.arrivals.next_if(|arrival| arrival.at <= now + AHEAD) {
            let flow = Flow {
                id: self.started.len() as u64,
                at: self.start + arrival.at.as_nanos(),
                to: self.network.addresses.first(arrival.to),
                size: arrival.size.map(|size| size.0),
                connection: self.connection(&arrival),
            };
            let wants_more = match self.network.scenario.measure.until {
                Until::Flows(flows) => self.measured_started < flows,
                Until::Time(_) => true,
            };
            let has_end = arrival.size.is_some();
            let is_measured = has_end && arrival.at >= self.measured_from() && wants_more;
            self.measured_started += u64::from(is_measured);
            self.started.push(Started { arrival, is_measured, state: State::Running });
            hosts.order(arrival.from, &Order::Send(flow))?;
        }
        Ok(())
    }

    /// The persistent connection of a flow: those of a pair take turns.
    fn connection(&mut self, arrival: &Arrival) -> Option<u32> {
        let Connections::Persistent(size) = arrival.connections else { return None };
        let turn = self.pools.entry((arrival.from, arrival.to)).or_default();
        let connection = *turn % size.max(1);
        *turn += 1;
        Some(connection)
    }

    /// True if as many flows as wanted have started, and all of them have ended.
    pub(super) fn are_done(&self) -> bool {
        let Until::Flows(wanted) = self.network.scenario.measure.until else { return false };
        // A peek would need a mutable reference; an ended list has started all of its flows.
        let are_all = matches!(&self.network.scenario.workload, Workload::Replay(list) if self.started.len() >= list.len());
        let all_started = self.measured_started >= wanted || are_all;
        all_started && self.measured_done >= self.measured_started
    }

    /// True of a flow that counts, which those of the warm-up and those that start while the last
    /// measured ones end do not.
    pub(super) fn is_measured(&self, id: u64) -> bool {
        self.started.get(id as usize).is_some_and(|flow| flow.is_measured)
    }

    /// The share of `wanted` flows that have ended.
    pub(super) fn finished_share(&self, wanted: u64) -> f64 {
        self.measured_done as f64 / wanted.max(1) as f64
    }

    /// The last byte of a flow has arrived, at a time of the monotonic clock.
    pub(super) fn received(&mut self, id: u64, at: u64) {
        let start = self.start;
        let Some(Started { arrival, .. }) = self.end(id, State::Finished) else { return };
        let started = start + arrival.at.as_nanos();
        let finished = Finished {
            id: id as u32 + 1,
            start: arrival.at,
            from: arrival.from,
            to: arrival.to,
            size: arrival.size.unwrap_or(Bytes(0)),
            fct: Time::nanos(at.saturating_sub(started)),
        };
        self.finished.push(finished);
    }

    /// The connection of a flow broke. The run does not wait for it; it counts as unfinished.
    pub(super) fn broke(&mut self, id: u64) {
        self.end(id, State::Broken);
    }

    /// Notes the end of a measured flow.
    fn end(&mut self, id: u64, state: State) -> Option<&Started> {
        let flow = self.started.get_mut(id as usize)?;
        if !flow.is_measured || flow.state != State::Running {
            return None;
        }
        flow.state = state;
        self.measured_done += 1;
        Some(flow)
    }

    /// Notes a host's count.
    pub(super) fn counted(&mut self, host: u32, bytes: u64, open: Vec<(u64, u64)>) {
        let count = Count { bytes, open: open.into_iter().collect() };
        self.counts[host as usize].push(count);
    }

    /// True once every host has been counted twice.
    pub(super) fn are_counted(&self) -> bool {
        self.counts.iter().all(|counts| counts.len() >= 2)
    }

    /// Bytes that all hosts had received at the start of the measuring window, and at the end.
    pub(super) fn delivered(&self) -> (u64, u64) {
        let sum = |which: usize| self.counts.iter().map(|counts| counts[which].bytes).sum();
        (sum(0), sum(1))
    }

    /// Flows that had started by a time.
    pub(super) fn started_until(&self, end: Time) -> u64 {
        self.started.iter().filter(|flow| flow.arrival.at <= end).count() as u64
    }

    pub(super) fn finished(&self) -> &[Finished] {
        &self.finished
    }

    /// Measured flows whose last byte has not arrived.
    pub(super) fn unfinished(&self) -> Vec<UnfinishedFlow> {
        let is_open =
            |(_, flow): &(u64, &Started)| flow.is_measured && flow.state != State::Finished;
        let unfinished = |(id, flow): (u64, &Started)| UnfinishedFlow {
            id: id as u32 + 1,
            index: 0,
            workload: 0,
            start: flow.arrival.at,
            from: flow.arrival.from,
            to: flow.arrival.to,
            size: flow.arrival.size.unwrap_or(Bytes(0)),
            delivered: Bytes(self.received_of(id, flow.arrival.to, 1)),
        };
        (0..).zip(&self.started).filter(is_open).map(unfinished).collect()
    }

    /// Flows without end, in a measuring window that ends at a time.
    pub(super) fn long(&self, end: Time) -> Vec<LongFlow> {
        let from = self.measured_from();
        let long = |(id, flow): (u64, &Started)| {
            let Arrival { at, from: sender, to, size: None, .. } = flow.arrival else {
                return None;
            };
            let delivered = self.received_of(id, to, 1) - self.received_of(id, to, 0);
            let rates = [sender, to].map(|host| self.host_rate(host));
            Some(LongFlow {
                id: id as u32 + 1,
                workload: 0,
                start: at,
                from: sender,
                to,
                delivered: Bytes(delivered),
                time: end.saturating_sub(at.max(from)),
                host_rate: rates[0].min(rates[1]),
            })
        };
        (0..).zip(&self.started).filter_map(long).collect()
    }

    /// Bytes of an open flow in the receiver's first or second count.
    fn received_of(&self, id: u64, to: u32, which: usize) -> u64 {
        self.counts[to as usize]
            .get(which)
            .and_then(|count| count.open.get(&id))
            .copied()
            .unwrap_or(0)
    }

    fn host_rate(&self, host: u32) -> heddle_units::Rate {
        let device = self.network.devices(host).next();
        device.map_or(heddle_units::Rate(0), |device| self.network.fabric.rate_of(device.info))
    }
}
