//! A run without packets: each flow is a fluid that takes an equal share of the busiest link of its
//! hosts (processor sharing), without the round trips in which it takes none.
//!
//! Its flows are those of the run itself. Where a few large ones decide how long a run lasts and what
//! it sends, averages over the distribution of sizes say little.

use heddle_fabric::Fabric;
use heddle_scenario::{Connections, Scenario, Until, Workload};
use heddle_units::Time;

use super::flow::FlowCost;
use super::losses;
use crate::traffic::{NewFlow, Traffic};

/// Flows under way, summed over all arrivals and ends, after which the model gives up: a run with
/// more of them is long enough for averages, and the model would delay its start.
const MOST_STEPS: u64 = 10_000_000;

/// The end of a run but for the last flow's round trips, and what is sent until then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fluid {
    pub(super) end: Time,
    /// The start of the last measured flow.
    pub(super) last_start: Time,
    /// Flows that have started.
    pub(super) flows: u64,
    /// Packet hops that all of these take.
    pub(super) started: f64,
    /// Packet hops that they have made.
    pub(super) made: f64,
    /// True if windows of flows to one host are more than the ports towards it hold.
    pub(super) loses: bool,
}

impl Fluid {
    /// Packet hops that are missing at the end.
    pub(super) fn under_way(&self) -> f64 {
        self.started - self.made
    }
}

/// The run of a scenario; `None` if flows wait for others, if there are too many, or if the time
/// limit is over before the end.
pub(super) fn run(
    scenario: &Scenario,
    fabric: &Fabric,
    costs: &[FlowCost],
    seed: u64,
) -> Option<Fluid> {
    let parts = scenario.workload.parts();
    if !parts.iter().all(|part| is_open(part)) {
        return None;
    }
    let start = scenario.measure.probe_warm_up;
    let traffic = Traffic::new(&scenario.workload, fabric.hosts, start, seed);
    Model {
        costs,
        window: Window::new(scenario),
        links: Links::new(fabric, &parts, costs),
        room: losses::room(scenario, fabric),
        under_way: vec![0.0; fabric.hosts as usize],
        active: Vec::new(),
        now: start.as_secs_f64(),
        measured: 0,
        open: 0,
        sum: Fluid {
            end: start,
            last_start: start,
            flows: 0,
            started: 0.0,
            made: 0.0,
            loses: false,
        },
    }
    .run(traffic)
}

/// True for a workload whose flows start at times of their own, and end.
fn is_open(workload: &Workload) -> bool {
    match workload {
        Workload::Flows(flows) => !matches!(flows.connections, Connections::ClosedLoop(_)),
        Workload::Replay(_) => true,
        _ => false,
    }
}

/// The flows that are measured, in seconds.
struct Window {
    from: f64,
    flows: u64,
    /// The end that a time gives.
    until: f64,
}

impl Window {
    fn new(scenario: &Scenario) -> Window {
        let measure = &scenario.measure;
        let from = measure.probe_warm_up + measure.warm_up;
        let (flows, until) = match measure.until {
            Until::Flows(flows) => (flows, measure.time_limit),
            Until::Time(span) => (u64::MAX, (from + span).min(measure.time_limit)),
        };
        Window { from: from.as_secs_f64(), flows, until: until.as_secs_f64() }
    }
}

/// Flows on the links of hosts and, of a workload, on all links that its capacity stands for.
struct Links {
    senders: Vec<u32>,
    receivers: Vec<u32>,
    parts: Vec<u32>,
    /// Share of a host's links, and of a workload's capacity, that a flow alone takes.
    of_host: Vec<f64>,
    of_part: Vec<f64>,
}

impl Links {
    fn new(fabric: &Fabric, parts: &[&Workload], costs: &[FlowCost]) -> Links {
        let fastest = costs.iter().map(FlowCost::bytes_per_second).fold(1.0, f64::max);
        let of_host = |host: u32| {
            let outer = fabric.interfaces_of(host).filter(|&number| !fabric.is_inner(number));
            let rates = outer.map(|port| fabric.rate_of(&fabric.ports[port as usize]).0 as f64);
            1.0 / (rates.sum::<f64>() / 8.0 / fastest).round().max(1.0)
        };
        let of_part = |(part, cost): (&&Workload, &FlowCost)| match part {
            Workload::Flows(flows) => cost.bytes_per_second() * 8.0 / flows.capacity.0 as f64,
            _ => 0.0,
        };
        let hosts = fabric.hosts as usize;
        Links {
            senders: vec![0; hosts],
            receivers: vec![0; hosts],
            parts: vec![0; parts.len()],
            of_host: (0..fabric.hosts).map(of_host).collect(),
            of_part: parts.iter().zip(costs).map(of_part).collect(),
        }
    }

    fn add(&mut self, flow: &Active) {
        self.senders[flow.from] += 1;
        self.receivers[flow.to] += 1;
        self.parts[flow.part] += 1;
    }

    fn remove(&mut self, flow: &Active) {
        self.senders[flow.from] -= 1;
        self.receivers[flow.to] -= 1;
        self.parts[flow.part] -= 1;
    }

    /// The use of the busiest link of a flow: above 1 if it is divided.
    fn busiest(&self, flow: &Active) -> f64 {
        let sender = f64::from(self.senders[flow.from]) * self.of_host[flow.from];
        let receiver = f64::from(self.receivers[flow.to]) * self.of_host[flow.to];
        let part = f64::from(self.parts[flow.part]) * self.of_part[flow.part];
        sender.max(receiver).max(part)
    }
}

/// A flow under way.
struct Active {
    from: usize,
    to: usize,
    part: usize,
    is_measured: bool,
    bytes: f64,
    hops: f64,
    /// Seconds that it takes alone, and those that are left.
    alone: f64,
    left: f64,
    rate: f64,
}

/// The flow that ends next.
#[derive(Clone, Copy)]
struct First {
    index: usize,
    after: f64,
}

struct Model<'a> {
    costs: &'a [FlowCost],
    window: Window,
    links: Links,
    /// For each host, the bytes that may wait for its link, and, while they are summed up, those
    /// that are under way to it.
    room: Vec<f64>,
    under_way: Vec<f64>,
    active: Vec<Active>,
    now: f64,
    /// Measured flows that have started, and those of them under way.
    measured: u64,
    open: u64,
    sum: Fluid,
}

impl Model<'_> {
    fn run(mut self, mut traffic: Traffic) -> Option<Fluid> {
        let mut new = Vec::new();
        let mut steps = MOST_STEPS;
        while !self.is_over(traffic.next_at()) {
            steps = steps.checked_sub(1 + self.active.len() as u64)?;
            let arrival = traffic.next_at().as_secs_f64();
            let next = arrival.min(self.window.until);
            let first = self.set_rates().filter(|first| self.now + first.after <= next);
            if let Some(First { index, after }) = first {
                self.advance(after);
                self.finish(index);
                continue;
            }
            self.advance((next - self.now).max(0.0));
            if arrival > self.window.until {
                return (self.window.flows == u64::MAX).then(|| self.sum());
            }
            traffic.arrive(&mut new);
            new.drain(..).try_for_each(|flow| self.start(&flow))?;
            self.sum.loses = self.sum.loses || self.overflows();
        }
        Some(self.sum())
    }

    fn is_over(&self, next_at: Time) -> bool {
        let has_all = self.measured >= self.window.flows && self.open == 0;
        has_all || (next_at == Time::NEVER && self.active.is_empty())
    }

    /// Sets the rate of each flow; returns the one that ends first.
    fn set_rates(&mut self) -> Option<First> {
        let mut first: Option<First> = None;
        for (index, flow) in self.active.iter_mut().enumerate() {
            let busiest = self.links.busiest(flow);
            let shared = self.costs[flow.part].share_kept() / busiest;
            flow.rate = if busiest > 1.0 { shared } else { 1.0 };
            let after = flow.left / flow.rate;
            if first.is_none_or(|first| after < first.after) {
                first = Some(First { index, after });
            }
        }
        first
    }

    fn advance(&mut self, seconds: f64) {
        self.active.iter_mut().for_each(|flow| flow.left -= flow.rate * seconds);
        self.now += seconds;
    }

    /// Starts a flow; `None` if it belongs to no workload.
    fn start(&mut self, new: &NewFlow) -> Option<()> {
        let cost = self.costs.get(usize::from(new.workload))?;
        let is_measured = self.now >= self.window.from && self.measured < self.window.flows;
        self.measured += u64::from(is_measured);
        self.open += u64::from(is_measured);
        if is_measured {
            self.sum.last_start = super::seconds(self.now);
        }
        let alone = cost.transmission(new.size.0 as f64);
        let flow = Active {
            from: new.from as usize,
            to: new.to as usize,
            part: usize::from(new.workload),
            is_measured,
            bytes: new.size.0 as f64,
            hops: cost.hops(new.size),
            alone,
            left: alone,
            rate: 1.0,
        };
        self.sum.flows += 1;
        self.sum.started += flow.hops;
        self.links.add(&flow);
        self.active.push(flow);
        Some(())
    }

    /// True if flows to some host may have more under way than the ports towards it hold.
    fn overflows(&mut self) -> bool {
        let mut overflows = false;
        for flow in &self.active {
            let left = flow.bytes * flow.left / flow.alone.max(1e-15);
            let under_way = &mut self.under_way[flow.to];
            *under_way += self.costs[flow.part].window().bytes(flow.bytes - left, left);
            // A flow alone has no queue but its own host's.
            let is_shared = self.links.receivers[flow.to] > 1;
            overflows |= is_shared && *under_way > self.room[flow.to];
        }
        self.active.iter().for_each(|flow| self.under_way[flow.to] = 0.0);
        overflows
    }

    fn finish(&mut self, index: usize) {
        let flow = self.active.swap_remove(index);
        self.links.remove(&flow);
        self.open -= u64::from(flow.is_measured);
        self.sum.made += flow.hops;
    }

    fn sum(&self) -> Fluid {
        let made = |flow: &Active| flow.hops * (1.0 - flow.left / flow.alone.max(1e-15));
        let partly: f64 = self.active.iter().map(made).sum();
        Fluid { end: super::seconds(self.now), made: self.sum.made + partly, ..self.sum }
    }
}
