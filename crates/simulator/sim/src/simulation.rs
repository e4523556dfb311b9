//! One run, from the first event to the last.

mod done;
mod faults;
mod finish;
mod handshakes;
mod partition;
mod segments;
mod start;
#[cfg(test)]
mod tests;

use heddle_fabric::{Fabric, Routes, one_big_switch};
use heddle_policy::Scheme;
use heddle_scenario::{self as scenario, Scenario, Until};
use heddle_transport::Connection;
use heddle_units::Time;

use crate::engine::Event;
use crate::hosts::{Flow, HostContext, Hosts};
use crate::ideal_fct::BestPaths;
use crate::look_ahead::{LookAhead, PrefetchView};
use crate::network::{Network, PacketKind};
use crate::outcome::{FlowRecord, Totals, WarmUp};
use crate::path_use::PathUseTracker;
use crate::progress::{Next, Progress, SimError};
use crate::random::{Random, Stream};
use crate::recording::{Observer, Recorder, Recording};
use crate::sampling::{MOST_SAMPLES, Sampler};
use crate::switching::{GroupRouting, Switching};
use crate::traffic::{ConnectionPools, NewFlow, Traffic};
use crate::warm_up::OpenWarmUp;
use crate::work::Work;
use done::LastEnd;
use partition::Partition;
pub(crate) use partition::{Ended, Link, Logged, Mark, Part, Told};
use start::{
    entropy, flow_hash, group_routing, groups, interfaces, is_failed, start_network, steering,
};

/// [`HostContext`] borrowed from a simulation.
macro_rules! context {
    ($simulation:ident) => {
        HostContext {
            now: $simulation.now,
            network: &mut $simulation.network,
            fabric: &$simulation.fabric,
            routes: &$simulation.switching.routes,
        }
    };
}

/// State of a run.
pub(crate) struct Simulation<'a, S: Scheme> {
    scenario: &'a Scenario,
    fabric: Fabric,
    network: Network,
    /// For each link, true if routing uses it.
    routed: Vec<bool>,
    /// The same where no scheme's probes stand in for routing, as hosts know it.
    routed_to_hosts: Vec<bool>,
    /// The routes of the start, once others have replaced them.
    first_routes: Option<Routes>,
    best_paths: BestPaths,
    switching: Switching<S>,
    hosts: Hosts,
    traffic: Traffic,
    pools: ConnectionPools,
    sampler: Sampler,
    path_use: Option<PathUseTracker>,
    flows: Vec<FlowRecord>,
    /// Scratch space for flows that start or finish in one step.
    starting: Vec<NewFlow>,
    finishing: Vec<Flow>,
    totals: Totals,
    measured_started: u64,
    /// Flows that have finished, measured or not.
    finished: u64,
    /// A warm-up that a test ends; `None` of a fixed length.
    warm_up: Option<OpenWarmUp>,
    /// Start of the measuring window; [`Time::NEVER`] while a test may still end the warm-up.
    measuring_from: Time,
    /// The run lasts no longer.
    end: Time,
    delivered_before: u64,
    digest: u64,
    look_ahead: LookAhead,
    /// Expected work, for reports of progress.
    work: Work,
    last_end: LastEnd,
    /// Records details; most runs have none.
    observer: Option<Box<Observer<'a>>>,
    /// Part of a divided run; `None` if it is whole.
    partition: Option<Box<Partition>>,
    /// Last arrival of a packet at a host.
    last_data: Time,
    now: Time,
}

impl<'a, S: Scheme> Simulation<'a, S> {
    /// A run before its first event.
    pub(crate) fn new(
        scenario: &'a Scenario,
        config: S::Config,
        seed: u64,
    ) -> Result<Self, SimError> {
        let graph = match scenario.scheme {
            scenario::Scheme::Ideal => &one_big_switch(&scenario.fabric.graph),
            _ => &scenario.fabric.graph,
        };
        let fabric = Fabric::new(graph)?;
        let meter = S::NEEDS_UTILISATION.then(|| S::dre_shift(&config));
        let network = start_network(scenario, &fabric, meter, seed);
        let links = 0..fabric.graph.links.len() as u32;
        let routed: Vec<bool> = links.map(|link| !is_failed(scenario, &fabric, link)).collect();
        let group_routing = group_routing(scenario, &fabric, seed)?;
        let is_up = |link: u32| routed[link as usize];
        let routes = GroupRouting::routes(group_routing.as_deref(), &fabric, is_up)?;
        fabric.check_reachable(&routes)?;
        let start = scenario.measure.probe_warm_up;
        let groups = groups(scenario);
        let work = Work::new(scenario, &fabric, &routes, seed);
        let interfaces = interfaces(&fabric, &routes, is_up);
        let extra_bytes = scenario.transport.tcp().extra_bytes();
        let mut simulation = Simulation {
            switching: Switching::new(&fabric, (routes, group_routing), config, seed)
                .with_extra_bytes(extra_bytes),
            traffic: Traffic::new(&scenario.workload, fabric.hosts, start, seed),
            pools: ConnectionPools::default(),
            sampler: Sampler::new(&fabric, scenario.measure.sample.as_deref()),
            path_use: PathUseTracker::new(scenario, &fabric, Connection::paths(&groups)),
            hosts: Hosts::new(
                groups,
                seed,
                steering(scenario, &fabric, seed)?,
                entropy(scenario, seed),
                flow_hash(&scenario.scheme),
            )
            .with_priority_bytes(scenario.fabric.priority_bytes.map(|bytes| bytes.0))
            .with_interfaces(interfaces)
            .with_extra_bytes(extra_bytes),
            flows: Vec::new(),
            starting: Vec::new(),
            finishing: Vec::new(),
            totals: Totals::default(),
            measured_started: 0,
            finished: 0,
            warm_up: OpenWarmUp::new(&scenario.measure),
            measuring_from: Time::NEVER,
            end: scenario.measure.time_limit,
            delivered_before: 0,
            digest: 0,
            work,
            last_end: LastEnd::default(),
            look_ahead: LookAhead::new(&fabric),
            now: Time::ZERO,
            last_data: Time::ZERO,
            observer: None,
            partition: None,
            first_routes: None,
            best_paths: BestPaths::of(scenario),
            scenario,
            fabric,
            network,
            routed_to_hosts: routed.clone(),
            routed,
        };
        if simulation.warm_up.is_none() {
            let measure = &scenario.measure;
            simulation.measure_from(measure.probe_warm_up + measure.warm_up);
        }
        simulation.schedule_first(seed);
        Ok(simulation)
    }

    /// The same run with a recorder of its details.
    pub(crate) fn recorded(
        mut self,
        recording: Option<(&Recording, &'a mut dyn Recorder)>,
    ) -> Self {
        let observer = |(recording, recorder)| {
            Box::new(Observer::new(self.scenario, &self.fabric, recording, recorder))
        };
        self.observer = recording.map(observer);
        self
    }

    /// Schedules the initial events.
    fn schedule_first(&mut self, seed: u64) {
        let measure = &self.scenario.measure;
        let first_observation = |open: &OpenWarmUp| measure.probe_warm_up + open.every;
        let measure_from = self.warm_up.as_ref().map_or(self.measuring_from, first_observation);
        let events = &mut self.network.events;
        if let Some(period) = self.switching.probe_period() {
            let mut layout = Random::new(seed.wrapping_add(1), Stream::Layout);
            for tor in 0..self.fabric.tors {
                events.schedule(Time(layout.below(period.0)), Event::Probe(tor));
            }
        }
        events.schedule(self.traffic.next_at(), Event::Spawn);
        events.schedule(measure_from, Event::Measure);
        if let Some(every) = measure.sample_every {
            events.schedule(every, Event::Sample);
        }
        if self.scenario.scheme != scenario::Scheme::Ideal {
            for (index, event) in self.scenario.events.iter().enumerate() {
                events.schedule(event.at, Event::Fault(index as u32));
            }
        }
    }

    /// Sets the start of the measuring window, which may set the run's end.
    fn measure_from(&mut self, from: Time) {
        let measure = &self.scenario.measure;
        self.measuring_from = from;
        if let Until::Time(span) = measure.until {
            self.end = (from + span).min(measure.time_limit);
        }
    }

    /// Runs to the end, unless `watch` stops it.
    pub(crate) fn run(
        &mut self,
        watch: &mut dyn FnMut(Progress<'_>) -> Next,
    ) -> Result<(), SimError> {
        while self.step() {
            if self.totals.events.is_multiple_of(WATCH_EVERY) {
                let done = self.done();
                self.report(done, watch)?;
            }
        }
        self.check_samples()?;
        self.sample_rest();
        self.report(1.0, watch)
    }

    /// # Errors
    /// More samples than a run keeps.
    pub(crate) fn check_samples(&self) -> Result<(), SimError> {
        match self.sampler.is_full() {
            true => Err(SimError::Samples(MOST_SAMPLES)),
            false => Ok(()),
        }
    }

    /// Handles the next event; returns false at the end of the run.
    #[inline]
    fn step(&mut self) -> bool {
        let Some((at, event)) = self.network.events.pop() else { return false };
        if at > self.end {
            self.now = self.end;
            return false;
        }
        self.now = at;
        self.look_ahead();
        self.totals.events += 1;
        self.digest = digest_with(self.digest, at, event.pack());
        self.handle(event);
        if self.observer.is_some() {
            self.record_senders();
        }
        !self.is_complete()
    }

    fn report(
        &self,
        done: f64,
        watch: &mut dyn FnMut(Progress<'_>) -> Next,
    ) -> Result<(), SimError> {
        let (packet_hops, events) = (self.network.hops, self.totals.events);
        let progress = Progress { now: self.now, packet_hops, events, done, run: Some(self) };
        match watch(progress) {
            Next::Continue => Ok(()),
            Next::Stop => Err(SimError::Interrupted),
        }
    }

    #[inline]
    fn look_ahead(&mut self) {
        let (fabric, network, hosts) = (&self.fabric, &self.network, &self.hosts);
        self.look_ahead.step(&PrefetchView { fabric, switching: &self.switching, network, hosts });
    }

    /// True if all measured flows have finished.
    #[inline]
    fn is_complete(&self) -> bool {
        self.totals.stalled
            || self.sampler.is_full()
            || matches!(self.scenario.measure.until, Until::Flows(flows) if self.flows.len() as u64 >= flows)
    }

    /// True if no packet has arrived at any host for [`STALL`] and the longest retransmission
    /// timeout, so that every sender has tried again, although a retransmission timer runs, and
    /// neither a flow that is still to start nor a change of links can help.
    fn is_stalled(&self) -> bool {
        let last_change = self.scenario.events.last().map_or(Time::ZERO, |event| event.at);
        let quiet_since = self.last_data.max(last_change + self.scenario.fabric.convergence);
        let longest = self.scenario.transports().iter().map(|t| t.tcp().max_rto).max();
        let patience = STALL + longest.unwrap_or_default();
        self.now > quiet_since + patience && self.traffic.next_at() == Time::NEVER
    }

    #[inline]
    fn handle(&mut self, event: Event) {
        match event {
            Event::Arrival(port) => self.arrival(port),
            Event::Timeout(id) => {
                self.totals.stalled |= self.is_stalled();
                self.hosts.timeout(&mut context!(self), id);
            }
            Event::DelayedAck(id) => self.hosts.delayed_ack(&mut context!(self), id),
            Event::Spawn => self.spawn(),
            Event::Probe(tor) => self.originate(tor),
            Event::Sample => self.sample(),
            Event::Fault(index) => self.fault(index),
            Event::Converged(index) => self.converge(index),
            Event::Measure => self.warm_up_or_measure(),
            Event::Link(interface) => self.hosts.link_free(&mut context!(self), interface),
            Event::Departure(id) => self.hosts.departure(&mut context!(self), id),
            Event::Credit(interface) => self.hosts.credit_due(&mut context!(self), interface),
        }
    }

    #[inline]
    fn arrival(&mut self, port: u32) {
        let Some(packet) = self.network.arrive(self.now, port) else { return };
        if self.observer.is_some() {
            self.record_arrival(port, packet);
        }
        let to = self.network.ports[port as usize].to;
        if self.partition.is_some() && self.leaves(port, packet) {
            return;
        }
        if to < self.fabric.hosts {
            self.last_data = self.now;
            self.hosts.receive(&mut context!(self), packet, &mut self.finishing);
            if !self.finishing.is_empty() {
                self.record_finished();
            }
        } else if self.network.packets.hot[packet as usize].kind == PacketKind::Probe {
            self.switching.probe(&self.fabric, &mut self.network, self.now, port, packet);
        } else {
            let switch = to - self.fabric.hosts;
            if S::READS_HANDSHAKES && self.network.packets.hot[packet as usize].is_handshake {
                self.inspect_handshake(switch, packet);
            }
            if S::READS_SEGMENTS {
                self.inspect_segment(switch, packet);
            }
            if let Some(tracker) = &mut self.path_use {
                tracker.record_hop(self.now, port, &self.network.packets, packet);
            }
            self.switching.forward(&self.fabric, &mut self.network, self.now, switch, packet);
        }
    }

    #[cold]
    fn record_arrival(&mut self, port: u32, packet: u32) {
        let (fabric, packets) = (&self.fabric, &self.network.packets);
        if let Some(observer) = &mut self.observer {
            observer.arrival(self.now, (fabric, port), (packets, packet), &self.hosts);
        }
    }

    #[cold]
    fn record_senders(&mut self) {
        if let Some(observer) = &mut self.observer {
            observer.senders(self.now, self.totals.flows_started, &self.hosts);
        }
    }

    fn spawn(&mut self) {
        // Flows that waited for others have an event of their own, which brings forward what
        // another event was for.
        if self.traffic.next_at() > self.now {
            return;
        }
        let mut starting = std::mem::take(&mut self.starting);
        self.traffic.arrive(&mut starting);
        for new in starting.drain(..) {
            let measured = !new.is_long() && self.now >= self.measuring_from && self.wants_more();
            self.measured_started += u64::from(measured);
            self.totals.flows_started += 1;
            self.work.note(&new, self.hops());
            let NewFlow { from, to, size, workload, index, .. } = new;
            let id = self.totals.flows_started as u32;
            let flow = Flow { start: self.now, from, to, size, measured, workload, id, index };
            let connection = self.pools.connection(&new, &mut self.hosts);
            let sides = self.sides(from, to);
            self.hosts.start(&mut context!(self), connection, flow, sides);
            self.mark_start();
        }
        self.starting = starting;
        self.network.events.schedule(self.traffic.next_at(), Event::Spawn);
    }

    fn wants_more(&self) -> bool {
        match self.scenario.measure.until {
            Until::Flows(flows) => self.measured_started < flows,
            Until::Time(_) => true,
        }
    }

    fn record_finished(&mut self) {
        self.finished += self.finishing.len() as u64;
        if self.traffic.is_reactive() {
            let before = self.traffic.next_at();
            self.finishing.iter().for_each(|flow| self.traffic.finished(self.now, flow));
            let next = self.traffic.next_at();
            if next <= self.now || next < before {
                self.network.events.schedule(next.max(self.now), Event::Spawn);
            }
        }
        let routes = self.first_routes.as_ref().unwrap_or(&self.switching.routes);
        for flow in self.finishing.drain(..).filter(|flow| flow.measured) {
            let ideal_fct = self.best_paths.ideal_fct(
                &self.fabric,
                routes,
                self.scenario.transport_of(flow.workload),
                self.scenario.workload.connections(flow.workload),
                (flow.from, flow.to),
                flow.size,
            );
            let Flow { start, from, to, size, workload, id, index, .. } = flow;
            let fct = self.now - start;
            let record = FlowRecord { id, index, workload, start, from, to, size, fct, ideal_fct };
            if let Some(observer) = &mut self.observer {
                observer.finished(&record);
            }
            self.flows.push(record);
        }
    }

    fn originate(&mut self, tor: u32) {
        self.switching.originate(&self.fabric, &mut self.network, self.now, tor);
        if let Some(period) = self.switching.probe_period() {
            self.network.events.schedule(self.now + period, Event::Probe(tor));
        }
    }

    /// Starts the measuring window, unless the flows under way are still to settle.
    fn warm_up_or_measure(&mut self) {
        let under_way = self.totals.flows_started - self.finished;
        if let Some(open) = &mut self.warm_up {
            let Some(passed) = open.observe(self.now, under_way) else {
                self.network.events.schedule(self.now + open.every, Event::Measure);
                return;
            };
            let length = self.now - self.scenario.measure.probe_warm_up;
            self.totals.open_warm_up = Some(WarmUp { length, passed });
            self.measure_from(self.now);
        }
        self.start_measuring();
    }

    fn start_measuring(&mut self) {
        self.delivered_before = self.hosts.counters().delivered;
        self.hosts.start_measuring();
        self.sampler.start_measuring();
        if let Some(tracker) = &mut self.path_use {
            tracker.start_measuring();
        }
    }

    /// Samples what a run that ends between two samples did since the last one.
    fn sample_rest(&mut self) {
        let is_sampled = self.scenario.measure.sample_every.is_some();
        let is_new = is_sampled && self.sampler.sample_rest(&self.network, self.now);
        if let Some(observer) = self.observer.as_mut().filter(|_| is_new) {
            observer.sampled(self.sampler.samples());
        }
    }

    fn sample(&mut self) {
        self.sampler.sample(&self.network, self.now);
        if let Some(observer) = &mut self.observer {
            observer.sampled(self.sampler.samples());
        }
        if let Some(tracker) = &mut self.path_use {
            tracker.sample(self.now);
        }
        if let Some(every) = self.scenario.measure.sample_every {
            self.network.events.schedule(self.now + every, Event::Sample);
        }
    }
}

/// Silence after which a run in which hosts retransmit in vain is stopped: longer than any back-off
/// that a fabric's failure causes.
pub const STALL: Time = Time::secs(10);

/// The digest of a run and one more event, as [`Event::pack`] has it.
#[inline]
pub(crate) fn digest_with(digest: u64, at: Time, event: u32) -> u64 {
    (digest.rotate_left(5) ^ at.0 ^ u64::from(event) << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Events between two calls of the progress function.
pub(crate) const WATCH_EVERY: u64 = 1 << 18;
