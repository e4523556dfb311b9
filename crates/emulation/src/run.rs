//! A run: flows start, links fail and come back, samples are taken, each at its time.

use std::collections::BTreeMap;
use std::time::Duration;

use heddle_claims::stats::quantile;
use heddle_fabric::Routes;
use heddle_scenario::{Change, Connections, Event, Until};
use heddle_sim::{Arrival, Arrivals};
use heddle_units::{Bytes, Time};

use crate::host::{Flow, Order, Report};
use crate::hosts::Hosts;
use crate::links::{Links, cut, restore};
use crate::network::Network;
use crate::outcome::{Counted, Facts, Finished, LabOutcome, TcpCounters, outcome};
use crate::plane::DataPlane;
use crate::sampler::{PortTotals, Sampler};
use crate::{EmulationError, agents, clock};

/// Time between the hosts' readiness and the start of the run.
const LEAD: Duration = Duration::from_millis(500);

/// Flows are given to hosts this long before they are due.
const AHEAD: Time = Time::millis(500);

/// Longest wait for a report, so that nothing else is late by more.
const STEP: Duration = Duration::from_millis(2);

/// Longest time that a host takes for an answer.
const ANSWER: Duration = Duration::from_secs(60);

/// Follows a run, and can end it.
pub trait Monitor {
    /// The completed share of the run, 0 to 1. False ends the run.
    fn goes_on(&self, done: f64) -> bool;

    /// Something happened, in a sentence.
    fn event(&self, text: &str);
}

/// Runs the network's scenario with one seed.
///
/// # Errors
/// If the kernel or a host's process fails, or the monitor ends the run.
pub fn run(
    network: &Network,
    plane: &mut dyn DataPlane,
    seed: u64,
    monitor: &dyn Monitor,
) -> Result<LabOutcome, EmulationError> {
    let links = Links::new(&network.scenario);
    for link in links.down() {
        cut(network, link)?;
    }
    let routes = links.routes(network)?;
    plane.start(network, &routes)?;
    let _agents = agents::start(network)?;
    let hosts = Hosts::start(network)?;
    let tcp_before = TcpCounters::read(network, &hosts)?;
    let start = clock::now() + LEAD.as_nanos() as u64;
    let mut run = Run {
        network,
        plane,
        monitor,
        hosts,
        links,
        routes,
        sampler: Sampler::new(network)?,
        start,
        arrivals: Arrivals::new(&network.scenario, seed).peekable(),
        pools: BTreeMap::new(),
        flows: Vec::new(),
        finished: Vec::new(),
        measured_started: 0,
        measured_finished: 0,
        counts: vec![Vec::new(); network.hosts().len()],
        late: Vec::new(),
        facts: Facts::default(),
        cuts: Vec::new(),
        agenda: agenda(network),
    };
    clock::sleep_until(start);
    run.go()?;
    run.finish(tcp_before)
}

/// A flow that was given to a host.
struct Started {
    arrival: Arrival,
    is_measured: bool,
}

/// Something to be done at a time.
#[derive(Clone, Copy, Debug)]
enum Due {
    Event(usize),
    Converge,
    Sample,
    Measure,
}

struct Run<'a> {
    network: &'a Network,
    plane: &'a mut dyn DataPlane,
    monitor: &'a dyn Monitor,
    hosts: Hosts,
    links: Links,
    routes: Routes,
    sampler: Sampler,
    /// The monotonic clock at time 0.
    start: u64,
    arrivals: std::iter::Peekable<Arrivals>,
    /// The turn of each pair's persistent connections.
    pools: BTreeMap<(u32, u32), u32>,
    flows: Vec<Started>,
    finished: Vec<Finished>,
    measured_started: u64,
    measured_finished: u64,
    /// Each host's counts of bytes received: at the start of the measuring window, and at the end.
    counts: Vec<Vec<u64>>,
    late: Vec<f64>,
    facts: Facts,
    cuts: Vec<(u32, u64)>,
    /// In order of time; an entry's second part keeps those of one time apart.
    agenda: BTreeMap<(Time, u64), Due>,
}

fn agenda(network: &Network) -> BTreeMap<(Time, u64), Due> {
    let scenario = &network.scenario;
    let measure = scenario.measure;
    let mut agenda = BTreeMap::new();
    for (index, event) in scenario.events.iter().enumerate() {
        agenda.insert((event.at, index as u64), Due::Event(index));
    }
    agenda.insert((measure.probe_warm_up + measure.warm_up, u64::MAX), Due::Measure);
    if let Some(every) = measure.sample_every {
        agenda.insert((every, u64::MAX - 1), Due::Sample);
    }
    agenda
}

impl Run<'_> {
    fn now(&self) -> Time {
        Time::nanos(clock::now().saturating_sub(self.start))
    }

    fn measure_from(&self) -> Time {
        self.network.scenario.measure.probe_warm_up + self.network.scenario.measure.warm_up
    }

    fn go(&mut self) -> Result<(), EmulationError> {
        let mut last_step = Time::ZERO;
        while !self.is_done() {
            self.start_flows()?;
            self.do_what_is_due()?;
            while let Some((host, report)) = self.hosts.next(self.wait())? {
                self.take(host, report);
                if self.is_something_due() {
                    break;
                }
            }
            let now = self.now();
            if now.saturating_sub(last_step) > Time::millis(100) {
                last_step = now;
                if !self.monitor.goes_on(self.done_share(now)) {
                    return Err(EmulationError::Interrupted);
                }
            }
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        let now = self.now();
        let measure = self.network.scenario.measure;
        let done = match measure.until {
            Until::Time(time) => now >= self.measure_from() + time,
            Until::Flows(flows) => {
                let all_started = self.measured_started >= flows || self.flows_ended();
                all_started && self.measured_finished >= self.measured_started
            }
        };
        done || now >= measure.time_limit
    }

    /// True if no flow will come any more.
    fn flows_ended(&self) -> bool {
        // A peek would need a mutable reference; an ended list has started all of its flows.
        matches!(&self.network.scenario.workload, heddle_scenario::Workload::Replay(list) if self.flows.len() >= list.len())
    }

    fn done_share(&self, now: Time) -> f64 {
        match self.network.scenario.measure.until {
            Until::Time(time) => now.as_secs_f64() / (self.measure_from() + time).as_secs_f64(),
            Until::Flows(flows) => self.measured_finished as f64 / flows.max(1) as f64,
        }
    }

    /// Gives hosts the flows that are due soon.
    fn start_flows(&mut self) -> Result<(), EmulationError> {
        let until = self.now() + AHEAD;
        while let Some(arrival) = self.arrivals.next_if(|arrival| arrival.at <= until) {
            let id = self.flows.len() as u64;
            let flow = Flow {
                id,
                at: self.start + arrival.at.as_nanos(),
                to: self.network.addresses.first(arrival.to),
                size: arrival.size.map(|size| size.0),
                connection: self.connection(&arrival),
            };
            let wants_more = match self.network.scenario.measure.until {
                Until::Flows(flows) => self.measured_started < flows,
                Until::Time(_) => true,
            };
            let is_measured = arrival.at >= self.measure_from() && wants_more;
            self.measured_started += u64::from(is_measured);
            self.flows.push(Started { arrival, is_measured });
            self.hosts.order(arrival.from, &Order::Send(flow))?;
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

    fn is_something_due(&self) -> bool {
        self.agenda.first_key_value().is_some_and(|((at, _), _)| *at <= self.now())
    }

    /// Time to wait for a report.
    fn wait(&self) -> Duration {
        let next = self.agenda.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
        let wait = next.saturating_sub(self.now()).as_nanos();
        Duration::from_nanos(wait).min(STEP)
    }

    fn do_what_is_due(&mut self) -> Result<(), EmulationError> {
        while self.is_something_due() {
            let Some(((at, _), due)) = self.agenda.pop_first() else { break };
            match due {
                Due::Event(index) => {
                    let event = self.network.scenario.events[index].clone();
                    self.change(&event)?;
                    let converged = at + self.network.scenario.fabric.convergence;
                    self.agenda.insert((converged, index as u64), Due::Converge);
                }
                Due::Converge => {
                    self.routes = self.links.routes(self.network)?;
                    let down: Vec<u32> = self.links.down().collect();
                    self.plane.reroute(self.network, &self.routes, &down)?;
                    self.monitor.event("routes follow");
                }
                Due::Sample => {
                    let now = self.now();
                    self.sampler.sample(now)?;
                    let every = self.network.scenario.measure.sample_every.unwrap_or(Time::NEVER);
                    // Samples that are late already are left out.
                    let late = (now.saturating_sub(at).0 / every.0) * every.0;
                    self.agenda.insert((at + every + Time(late), u64::MAX - 1), Due::Sample);
                }
                Due::Measure => {
                    self.sampler.start_measuring();
                    self.hosts.order_all(&Order::Count)?;
                }
            }
        }
        Ok(())
    }

    fn change(&mut self, event: &Event) -> Result<(), EmulationError> {
        for &link in &event.links {
            let [a, b] = self
                .network
                .link_devices(link)
                .map(|d| self.network.fabric.node(d.node).name.clone());
            match event.change {
                Change::Fail => {
                    self.links.up[link as usize] = false;
                    cut(self.network, link)?;
                    self.cuts.push((link, clock::now()));
                    self.monitor.event(&format!("the link {a} {b} fails"));
                }
                Change::Recover => {
                    self.links.up[link as usize] = true;
                    restore(self.network, link)?;
                    self.monitor.event(&format!("the link {a} {b} is back"));
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, host: u32, report: Report) {
        match report {
            Report::Received { id, at, intact } => self.received(id, at, intact),
            Report::Sent { late, subflows, .. } => {
                self.late.push(late as f64 / 1e9);
                let used = subflows.iter().filter(|(_, acked)| *acked > 1).count();
                if used > 0 {
                    *self.facts.subflows.entry(used).or_default() += 1;
                }
            }
            Report::Broken { id, error } => {
                self.facts.broken += 1;
                self.facts.first_error.get_or_insert(error);
                // It counts as ended, so that the run does not wait for it, and as unfinished.
                let is_measured = self.flows.get(id as usize).is_some_and(|flow| flow.is_measured);
                self.measured_finished += u64::from(is_measured);
            }
            Report::Counted { bytes, .. } => self.counts[host as usize].push(bytes),
            Report::Ready => {}
        }
    }

    fn received(&mut self, id: u64, at: u64, intact: bool) {
        self.facts.corrupt += u64::from(!intact);
        let Some(Started { arrival, is_measured: true }) = self.flows.get(id as usize) else {
            return;
        };
        self.measured_finished += 1;
        let started = self.start + arrival.at.as_nanos();
        self.finished.push(Finished {
            start: arrival.at,
            from: arrival.from,
            to: arrival.to,
            size: arrival.size.unwrap_or(Bytes(0)),
            fct: Time::nanos(at.saturating_sub(started)),
        });
    }

    fn finish(mut self, before: TcpCounters) -> Result<LabOutcome, EmulationError> {
        let end = self.now();
        let (before_window, delivered) = self.count()?;
        let window = end.saturating_sub(self.measure_from());
        let tcp = TcpCounters::read(self.network, &self.hosts)?.since(before);
        let plane = self.plane.counters(self.network)?;
        let (samples, ports): (_, PortTotals) = self.sampler.finish()?;
        self.facts.late_median = quantile(&sorted(&self.late), 0.5).unwrap_or(0.0);
        self.facts.late_p99 = quantile(&sorted(&self.late), 0.99).unwrap_or(0.0);
        let started = self.flows.iter().filter(|flow| flow.arrival.at <= end);
        let counted = Counted {
            started: started.count() as u64,
            unfinished: self.measured_started.saturating_sub(self.finished.len() as u64),
            end,
            window,
            delivered,
            delivered_in_window: delivered - before_window,
        };
        let samples = (samples, ports);
        let outcome =
            outcome(self.network, &self.routes, &self.finished, counted, tcp, samples, plane);
        Ok(LabOutcome { outcome, facts: self.facts, start: self.start, cuts: self.cuts })
    }
}

impl Run<'_> {
    /// Bytes that all hosts had received at the start of the measuring window, and have received by now.
    fn count(&mut self) -> Result<(u64, u64), EmulationError> {
        if self.agenda.values().any(|due| matches!(due, Due::Measure)) {
            self.hosts.order_all(&Order::Count)?;
        }
        self.hosts.order_all(&Order::Count)?;
        while self.counts.iter().any(|counts| counts.len() < 2) {
            match self.hosts.next(ANSWER)? {
                Some((host, report)) => self.take(host, report),
                None => {
                    return Err(EmulationError::Host {
                        host: "a host".into(),
                        what: "does not answer".into(),
                    });
                }
            }
        }
        let sum = |which: usize| self.counts.iter().map(|counts| counts[which]).sum();
        Ok((sum(0), sum(1)))
    }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values
}

/// Makes a network's switches forward, without flows.
///
/// # Errors
/// If the kernel or a program refuses.
pub fn forward(network: &Network, plane: &mut dyn DataPlane) -> Result<(), EmulationError> {
    let links = Links::new(&network.scenario);
    for link in links.down() {
        cut(network, link)?;
    }
    plane.start(network, &links.routes(network)?)
}
