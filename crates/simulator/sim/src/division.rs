//! One run on several threads, with the result of one.
//!
//! The nodes are divided into parts, a thread each ([`crate::simulation`]). All parts handle the
//! events of one window at a time, which is as long as the shortest delay of a link between two
//! parts: what one sends to another arrives after the window. Between two windows the first thread
//! puts the events of all parts into the order of a run that is not divided ([`merge`]), and passes
//! on the packets that have left their parts. So ties are decided as in that run, and the digest
//! and all results are its own.

mod gate;
mod join;
mod layout;
mod merge;
mod seqs;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use heddle_fabric::Fabric;
use heddle_policy::{self as policy, Scheme as Policy};
use heddle_scenario::{Connections, Entropy, Scenario, Scheme, Transport, Until, Workload};
use heddle_units::Time;

use crate::network::Crossed;
use crate::outcome::Outcome;
use crate::progress::{Next, Progress, SimError};
use crate::simulate::simulate;
use crate::simulation::{Ended, Part, Simulation, Told, WATCH_EVERY};
use gate::{Gate, Pass};
use join::join;
use layout::Layout;
use merge::Merge;
use seqs::Seqs;

/// Runs a scenario with one seed on several threads. The result is that of
/// [`simulate`](crate::simulate), at any number of threads. `watch` is called on this thread.
///
/// # Errors
/// As [`simulate`](crate::simulate); [`SimError::Indivisible`] for more than one thread, if
/// [`indivisible`] has a reason.
pub fn simulate_on(
    threads: usize,
    scenario: &Scenario,
    seed: u64,
    watch: &mut dyn FnMut(Progress<'_>) -> Next,
) -> Result<Outcome, SimError> {
    if threads <= 1 {
        return simulate(scenario, seed, watch);
    }
    if let Some(reason) = indivisible(scenario) {
        return Err(SimError::Indivisible(reason));
    }
    let layout = Layout::by_pods(&Fabric::new(&scenario.fabric.graph)?, threads);
    match scenario.scheme {
        _ if layout.parts == 1 => simulate(scenario, seed, watch),
        Scheme::EcmpNs2 => divided::<policy::EcmpNs2>(&layout, scenario, seed, watch),
        _ => divided::<policy::Ecmp>(&layout, scenario, seed, watch),
    }
}

/// The reason for which a run cannot be divided among threads, as the end of "it cannot be divided:
/// ..."; `None` if it can.
pub fn indivisible(scenario: &Scenario) -> Option<&'static str> {
    let fabric = &scenario.fabric;
    let paths = scenario.transports().iter().map(|t| t.subflows()).max().unwrap_or(1);
    let tiers = fabric.graph.links.iter().filter(|link| {
        let [a, b] = [link.ends.0, link.ends.1].map(|node| fabric.graph.nodes[node as usize].tier);
        a > 0 && b > 0
    });
    let reasons = [
        (
            !matches!(scenario.scheme, Scheme::Ecmp | Scheme::EcmpNs2),
            "its scheme is neither ecmp nor ecmp-ns2",
        ),
        (
            !matches!(scenario.measure.until, Until::Time(_)),
            "it ends with its last measured flow, not after a `measure.duration`",
        ),
        (scenario.measure.warm_up_limit.is_some(), "a test ends its warm-up"),
        (
            scenario.measure.sample_every.is_some() && paths > 1,
            "it compares the paths of subflows at samples",
        ),
        (scenario.entropy != Entropy::Flow, "its hosts choose entropy values"),
        (!scenario.events.is_empty(), "links change during the run"),
        (fabric.red.is_some(), "its ports mark by RED"),
        (
            fabric.control_first || fabric.priority_bytes.is_some(),
            "its switches send some packets before others",
        ),
        (scenario.transports().iter().any(grants_credit), "its receivers grant credit"),
        (fabric.non_minimal.is_some(), "its paths go by intermediate groups"),
        (fabric.graph.interfaces() > 1, "its hosts have several links"),
        (
            tiers.clone().next().is_none() || tiers.clone().any(|link| link.delay == Time::ZERO),
            "a link between its switches has no delay",
        ),
        (
            scenario.workload.parts().into_iter().any(|part| !is_open(part)),
            "its flows start when others end, or each on a connection of its own",
        ),
    ];
    reasons.into_iter().find_map(|(is_so, reason)| is_so.then_some(reason))
}

/// True for a transport whose receivers grant credit to all senders in turn.
fn grants_credit(transport: &Transport) -> bool {
    matches!(transport, Transport::Uet(uet) if uet.control.grants_credit())
}

/// True for a workload whose flows start at times known beforehand, on connections that stay open.
fn is_open(workload: &Workload) -> bool {
    match workload {
        Workload::Flows(flows) => matches!(flows.connections, Connections::Persistent(_)),
        Workload::Long(_) => true,
        Workload::Replay(_)
        | Workload::Collective(_)
        | Workload::FlowGraph(_)
        | Workload::Requests(_)
        | Workload::Several(_) => false,
    }
}

/// Data that a part and the first thread exchange between windows.
#[derive(Default)]
struct Exchange {
    told: Told,
    /// Packets that enter the part, with the places of their arrivals' scheduling in the run.
    entering: Vec<(Crossed, Option<u64>)>,
    seqs: Seqs,
    /// Last arrival of a packet at any host before the window.
    last_data: Time,
}

/// A run in the parts of a layout.
fn divided<S: Policy<Config = ()>>(
    layout: &Layout,
    scenario: &Scenario,
    seed: u64,
    watch: &mut dyn FnMut(Progress<'_>) -> Next,
) -> Result<Outcome, SimError> {
    let count = layout.parts;
    let part = |id: u16| Part { id, count, owners: Arc::clone(&layout.owners) };
    let mut first = Simulation::<S>::new(scenario, (), seed)?.divided(part(0));
    let exchanges: Vec<Mutex<Exchange>> = (0..count).map(|_| Mutex::default()).collect();
    let gate = Gate::new(usize::from(count) - 1);
    let mut run =
        Run { layout, merge: Merge::new(count.into()), exchanges: &exchanges, gate: &gate };
    thread::scope(|scope| {
        let others = (1..count).map(|id| {
            let (part, pass, exchange) = (part(id), gate.pass(), &exchanges[usize::from(id)]);
            scope.spawn(move || {
                let simulation = Simulation::<S>::new(scenario, (), seed)?.divided(part);
                Ok(follow(simulation, pass, exchange))
            })
        });
        let others: Vec<_> = others.collect();
        let closer = gate.closer();
        let led = run.lead(&mut first, watch);
        drop(closer);
        let others = others.into_iter().map(|other| match other.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        let others: Vec<Ended> = others.collect::<Result<_, SimError>>()?;
        led?;
        let ended = std::iter::once(first.end_part()).chain(others).collect();
        Ok(join(ended, &run.merge))
    })
}

/// The part of a thread beside the first.
fn follow<S: Policy>(
    mut simulation: Simulation<'_, S>,
    mut pass: Pass<'_>,
    exchange: &Mutex<Exchange>,
) -> Ended {
    while let Some(end) = pass.wait() {
        window(&mut simulation, &mut locked(exchange), end);
        pass.done();
    }
    simulation.end_part()
}

/// Handles the events of a part before `end`.
fn window<S: Policy>(simulation: &mut Simulation<'_, S>, exchange: &mut Exchange, end: Time) {
    let Exchange { told, entering, seqs, last_data } = exchange;
    simulation.hear(*last_data);
    for (crossed, seq) in entering.drain(..) {
        let at = crossed.hot.arrival;
        simulation.enter(&crossed, |order| Some(seqs.of(at, order)) > seq);
    }
    simulation.run_before(end);
    simulation.tell(told);
}

fn locked(exchange: &Mutex<Exchange>) -> MutexGuard<'_, Exchange> {
    exchange.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The first thread's part of a run.
struct Run<'a> {
    layout: &'a Layout,
    merge: Merge,
    exchanges: &'a [Mutex<Exchange>],
    gate: &'a Gate,
}

impl Run<'_> {
    /// Runs to the end, unless `watch` stops it.
    fn lead<S: Policy>(
        &mut self,
        first: &mut Simulation<'_, S>,
        watch: &mut dyn FnMut(Progress<'_>) -> Next,
    ) -> Result<(), SimError> {
        let (end, mut next_at) = (first.end(), first.next_at());
        let mut all: Vec<_> = self.exchanges.iter().map(locked).collect();
        self.merge.begin(&mut all, first.scheduled());
        drop(all);
        let mut reported = 0;
        while next_at <= end {
            let until = next_at.saturating_add(self.layout.window).min(end + Time(1));
            self.gate.open(until);
            window(first, &mut locked(&self.exchanges[0]), until);
            if !self.gate.wait() {
                // The thread that is gone has the error.
                return Ok(());
            }
            let mut all: Vec<_> = self.exchanges.iter().map(locked).collect();
            self.merge.window(&mut all);
            if all.iter().any(|exchange| exchange.told.stalled) {
                return Err(SimError::Indivisible("no packet arrives any more"));
            }
            let heard = all.iter().map(|exchange| exchange.told.last_data).max();
            all.iter_mut().for_each(|exchange| {
                let Exchange { told, seqs, last_data, .. } = &mut **exchange;
                seqs.close(&mut told.scheduled, until);
                *last_data = heard.unwrap_or_default();
            });
            next_at = self.pass_on(&mut all);
            let packet_hops = all.iter().map(|exchange| exchange.told.hops).sum();
            drop(all);
            first.check_samples()?;
            if self.merge.events / WATCH_EVERY > reported {
                reported = self.merge.events / WATCH_EVERY;
                let (now, events, done) = (first.now(), self.merge.events, first.done());
                if watch(Progress { now, packet_hops, events, done, run: None }) == Next::Stop {
                    return Err(SimError::Interrupted);
                }
            }
        }
        first.check_samples()?;
        let packet_hops = self.exchanges.iter().map(|exchange| locked(exchange).told.hops).sum();
        let (now, events, done) = (end, self.merge.events, 1.0);
        match watch(Progress { now, packet_hops, events, done, run: None }) {
            Next::Continue => Ok(()),
            Next::Stop => Err(SimError::Interrupted),
        }
    }

    /// Passes the packets that have left their parts on to others; returns the time of the next
    /// event of all.
    fn pass_on(&self, all: &mut [MutexGuard<'_, Exchange>]) -> Time {
        let mut next_at = all.iter().map(|e| e.told.next_at).min().unwrap_or(Time::NEVER);
        for from in 0..all.len() {
            let mut left = std::mem::take(&mut all[from].told.crossed);
            for crossed in left.drain(..) {
                let arrival = crossed.hot.arrival;
                let seq = crossed.order.map(|order| all[from].seqs.of(arrival, order));
                let to = &mut all[usize::from(self.layout.part_behind[crossed.port as usize])];
                if let Some(seq) = seq {
                    to.seqs.push(seq);
                    next_at = next_at.min(arrival);
                }
                to.entering.push((crossed, seq));
            }
            all[from].told.crossed = left;
        }
        next_at
    }
}
