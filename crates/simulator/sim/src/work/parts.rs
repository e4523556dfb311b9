//! Work of each part of a workload.

use heddle_scenario::{
    Connections, FlowGraph, Flows, Long, Pattern, ReplayFlow, Requests, Scenario, SizeDistribution,
    Until, Workload,
};
use heddle_units::{Bytes, Time};

use super::flow::FlowCost;

/// Points at which the packets of a distribution of sizes are averaged.
const SIZES: u32 = 256;

/// Work of a workload.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    /// Flows that arrive at a rate of their own: flows and packet hops in a second.
    Open { flows: f64, hops: f64 },
    /// Flows that the network paces: flows and packet hops in a second of an idle network.
    Paced { flows: f64, hops: f64 },
    /// Flows that are all known: their number, their packet hops, and the start of the last; `None`
    /// if they wait for each other.
    Whole { flows: u64, hops: f64, last: Option<Time> },
}

impl Part {
    pub(crate) fn flows_per_second(&self) -> f64 {
        match *self {
            Part::Open { flows, .. } | Part::Paced { flows, .. } => flows,
            Part::Whole { .. } => 0.0,
        }
    }

    /// Packet hops in a second of flows that go on arriving.
    pub(crate) fn hops_per_second(&self) -> f64 {
        match *self {
            Part::Open { hops, .. } | Part::Paced { hops, .. } => hops,
            Part::Whole { .. } => 0.0,
        }
    }

    pub(crate) fn known_flows(&self) -> u64 {
        match *self {
            Part::Whole { flows, .. } => flows,
            Part::Open { .. } | Part::Paced { .. } => 0,
        }
    }

    pub(crate) fn last_start(&self) -> Option<Time> {
        match *self {
            Part::Whole { last, .. } => last,
            Part::Open { .. } | Part::Paced { .. } => None,
        }
    }

    pub(crate) fn is_paced(&self) -> bool {
        matches!(self, Part::Paced { .. })
    }

    /// Packet hops of the flows that start in so many seconds, if those of earlier ones are
    /// `started`.
    pub(crate) fn hops_to_start(&self, started: f64, seconds: f64) -> f64 {
        match *self {
            Part::Open { hops, .. } | Part::Paced { hops, .. } => hops * seconds,
            Part::Whole { hops, .. } => (hops - started).max(0.0),
        }
    }
}

/// The parts of a scenario's workload.
pub(super) fn of(scenario: &Scenario, costs: &[FlowCost]) -> Vec<Part> {
    let parts = scenario.workload.parts();
    parts.into_iter().zip(costs).map(|(part, cost)| one(scenario, part, cost)).collect()
}

fn one(scenario: &Scenario, workload: &Workload, cost: &FlowCost) -> Part {
    let hosts = scenario.fabric.graph.nodes.iter().take_while(|node| node.tier == 0).count();
    match workload {
        Workload::Flows(flows) => open(flows, hosts as f64, cost),
        Workload::Long(long) => endless(long, hosts as f64, cost),
        Workload::Replay(list) => listed(scenario, list, cost),
        Workload::Collective(collective) => graph(&collective.graph(), cost),
        Workload::FlowGraph(flows) => graph(flows, cost),
        Workload::Requests(requests) => closed(requests, cost),
        // A part is never several.
        Workload::Several(_) => Part::Whole { flows: 0, hops: 0.0, last: None },
    }
}

fn open(flows: &Flows, hosts: f64, cost: &FlowCost) -> Part {
    let mean = flows.sizes.mean();
    let offered = flows.load * flows.capacity.0 as f64 / 8.0 / mean;
    let each = mean_hops(&flows.sizes, cost);
    match flows.connections {
        Connections::ClosedLoop(count) => {
            let connections = f64::from(count) * pairs(&flows.pattern, hosts);
            let pause = connections / offered;
            let rate = connections / (pause + cost.time(mean));
            Part::Paced { flows: rate, hops: rate * each }
        }
        _ => Part::Open { flows: offered, hops: offered * each },
    }
}

/// Pairs of hosts with connections in a closed loop.
fn pairs(pattern: &Pattern, hosts: f64) -> f64 {
    match pattern {
        Pattern::Sets { clients, servers } => (clients.len() * servers.len()) as f64,
        Pattern::Pairs { clients, .. } => clients.len() as f64,
        Pattern::Permutation | Pattern::Incast { .. } => hosts,
    }
}

fn endless(long: &Long, hosts: f64, cost: &FlowCost) -> Part {
    let flows = long.pairs.as_ref().map_or(hosts, |pairs| pairs.len() as f64);
    // Flows of one sender share its link.
    let bytes = flows.min(hosts) * cost.bytes_per_second();
    let large = Bytes(1 << 30);
    Part::Paced { flows: 0.0, hops: cost.hops(large) * bytes / large.0 as f64 }
}

fn closed(requests: &Requests, cost: &FlowCost) -> Part {
    let clients = match &requests.pattern {
        Pattern::Sets { clients, .. } | Pattern::Pairs { clients, .. } => clients.len(),
        Pattern::Permutation | Pattern::Incast { .. } => 0,
    };
    let (request, response) = (requests.request_size, &requests.sizes);
    let turn = requests.think.as_secs_f64()
        + cost.time(request.0 as f64)
        + cost.time(response.mean() * f64::from(requests.fan_out));
    let slots = clients as f64 * f64::from(requests.outstanding);
    let pairs = slots * f64::from(requests.fan_out) / turn;
    let hops = pairs * (cost.hops(request) + mean_hops(response, cost));
    Part::Paced { flows: 2.0 * pairs, hops }
}

fn graph(graph: &FlowGraph, cost: &FlowCost) -> Part {
    let flows = graph.flows.iter().filter(|flow| !flow.is_computation());
    let hops = flows.map(|flow| cost.hops(flow.size)).sum();
    Part::Whole { flows: graph.flow_count(), hops, last: None }
}

/// The flows of a list that start before the run ends.
fn listed(scenario: &Scenario, list: &[ReplayFlow], cost: &FlowCost) -> Part {
    let measure = &scenario.measure;
    let start = measure.probe_warm_up;
    let last = match measure.until {
        Until::Time(span) => measure.warm_up + span,
        Until::Flows(flows) => {
            let mut measured = list.iter().filter(|flow| flow.at >= measure.warm_up);
            measured.nth(flows.saturating_sub(1) as usize).map_or(Time::NEVER, |flow| flow.at)
        }
    };
    let (mut flows, mut hops, mut at) = (0, 0.0, start);
    for flow in list.iter().filter(|flow| flow.at <= last) {
        (flows, hops) = (flows + 1, hops + cost.hops(flow.size));
        at = at.max(start + flow.at);
    }
    Part::Whole { flows, hops, last: Some(at) }
}

/// Mean packet hops of a flow: those of whole segments, and what the last one adds.
fn mean_hops(sizes: &SizeDistribution, cost: &FlowCost) -> f64 {
    let large = Bytes(1 << 30);
    let per_byte = cost.hops(large) / large.0 as f64;
    let rest: f64 = (0..SIZES)
        .map(|step| {
            let size = sizes.quantile((f64::from(step) + 0.5) / f64::from(SIZES)).max(1.0);
            cost.hops(Bytes(size as u64)) - size * per_byte
        })
        .sum();
    sizes.mean() * per_byte + rest / f64::from(SIZES)
}
