//! A run: flows start, links fail and come back, samples are taken, each at its time.

mod agenda;
mod finish;
mod flows;

use std::time::Duration;

use heddle_fabric::Routes;
use heddle_scenario::{Change, Event, Transport, Until};
use heddle_units::Time;

use crate::host::{Order, Report};
use crate::hosts::Hosts;
use crate::links::{Links, cut, restore};
use crate::network::Network;
use crate::observer::{self, Observer};
use crate::outcome::{Facts, LabOutcome, TcpCounters};
use crate::plane::DataPlane;
use crate::processors::Ticks;
use crate::sampler::Sampler;
use crate::{EmulationError, agents, clock};
use agenda::{Agenda, Due};
use flows::Flows;

/// Time between the hosts' readiness and the start of the run.
const LEAD: Duration = Duration::from_millis(500);

/// Longest wait for a report, so that nothing else is late by more.
const STEP: Duration = Duration::from_millis(2);

/// Least time between two looks of the monitor.
const WATCH: Time = Time::millis(100);

/// Follows a run, and can end it.
pub trait Monitor {
    /// The completed share of the run, 0 to 1. False ends the run.
    fn goes_on(&self, done: f64) -> bool;

    /// Something happened, in a sentence.
    fn event(&self, text: &str);

    /// Something that spoils the run's figures, in a sentence.
    fn warning(&self, text: &str);
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
    let ticks_before = Ticks::read()?;
    let start = clock::now() + LEAD.as_nanos() as u64;
    let mut run = Run {
        network,
        plane,
        monitor,
        hosts,
        links,
        routes,
        sampler: Sampler::new(network)?,
        observer: observer(network)?,
        start,
        flows: Flows::new(network, seed, start),
        agenda: Agenda::new(&network.scenario),
        facts: Facts::default(),
        late: Vec::new(),
        cuts: Vec::new(),
    };
    clock::sleep_until(start);
    run.go()?;
    run.facts.processors_busy = Ticks::read()?.busy_since(ticks_before);
    run.finish(tcp_before)
}

/// Paths are observed where connections without end have several subflows: of those between two
/// hosts there is one.
fn observer(network: &Network) -> Result<Option<Observer>, EmulationError> {
    let scenario = &network.scenario;
    let is_long = matches!(scenario.workload, heddle_scenario::Workload::Long(_));
    let has_subflows = matches!(&scenario.transport, Transport::Mptcp(mptcp) if mptcp.subflows > 1);
    let is_sampled = scenario.measure.sample_every.is_some();
    let is_observed = is_long && has_subflows && is_sampled;
    is_observed.then(|| Observer::start(network, observer::Links::Fabric)).transpose()
}

struct Run<'a> {
    network: &'a Network,
    plane: &'a mut dyn DataPlane,
    monitor: &'a dyn Monitor,
    hosts: Hosts,
    links: Links,
    routes: Routes,
    sampler: Sampler,
    observer: Option<Observer>,
    /// The monotonic clock at time 0.
    start: u64,
    flows: Flows<'a>,
    agenda: Agenda,
    facts: Facts,
    /// Seconds by which hosts started flows late.
    late: Vec<f64>,
    /// Links that failed, and the monotonic clock then.
    cuts: Vec<(u32, u64)>,
}

impl Run<'_> {
    fn now(&self) -> Time {
        Time::nanos(clock::now().saturating_sub(self.start))
    }

    fn go(&mut self) -> Result<(), EmulationError> {
        let mut last_step = Time::ZERO;
        while !self.is_done() {
            self.flows.start(self.now(), &mut self.hosts)?;
            self.do_what_is_due()?;
            while let Some((host, report)) = self.hosts.next(self.wait())? {
                self.take(host, report);
                if self.agenda.is_due(self.now()) {
                    break;
                }
            }
            let now = self.now();
            if now.saturating_sub(last_step) > WATCH {
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
        let measure = &self.network.scenario.measure;
        let done = match measure.until {
            Until::Time(time) => now >= self.flows.measured_from() + time,
            Until::Flows(_) => self.flows.are_done(),
        };
        done || now >= measure.time_limit
    }

    fn done_share(&self, now: Time) -> f64 {
        match self.network.scenario.measure.until {
            Until::Time(time) => {
                now.as_secs_f64() / (self.flows.measured_from() + time).as_secs_f64()
            }
            Until::Flows(flows) => self.flows.finished_share(flows),
        }
    }

    /// Time to wait for a report.
    fn wait(&self) -> Duration {
        let wait = self.agenda.next().saturating_sub(self.now()).as_nanos();
        Duration::from_nanos(wait).min(STEP)
    }

    fn do_what_is_due(&mut self) -> Result<(), EmulationError> {
        while let Some((at, due)) = self.agenda.take(self.now()) {
            match due {
                Due::Event(index) => {
                    let event = self.network.scenario.events[index].clone();
                    self.change(&event)?;
                    self.agenda
                        .converge_after(at + self.network.scenario.fabric.convergence, index);
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
                    self.agenda.sample_after(at, every, now);
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
                // The checks of limits refuse these.
                Change::Degrade(_) | Change::Repair => {}
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
            Report::Received { id, at, intact } => {
                self.facts.corrupt += u64::from(!intact);
                self.flows.received(id, at);
            }
            Report::Sent { id, late, subflows } => {
                self.late.push(late as f64 / 1e9);
                let used = subflows.iter().filter(|(_, acked)| *acked > 1).count();
                if used > 0 && self.flows.is_measured(id) {
                    *self.facts.subflows.entry(used).or_default() += 1;
                }
            }
            Report::Broken { id, error } => {
                self.facts.broken += 1;
                self.facts.first_error.get_or_insert(error);
                self.flows.broke(id);
            }
            Report::Counted { bytes, flows, .. } => self.flows.counted(host, bytes, flows),
            Report::Ready => {}
        }
    }
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
