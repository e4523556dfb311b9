//! Packet hops and time of a flow.

use heddle_fabric::{Fabric, Routes};
use heddle_policy::Tor;
use heddle_scenario::{Connections, Flows, Scenario, SizeDistribution, Transport, Workload};
use heddle_transport::Control;
use heddle_units::{Bytes, Time};

use super::losses::Window;
use crate::ideal_fct::BestPaths;
use crate::traffic::Traffic;

/// Pairs of hosts whose paths are looked at.
const PAIRS: usize = 128;

/// Flows take at least this many times what they would in an empty fabric: that of links at half
/// load. At a lower load slow start and losses delay them as much.
const SLOWDOWN: f64 = 2.0;

/// Flows take at most this many times as long: no run is long enough for the queues of a larger load.
const LARGEST_SLOWDOWN: f64 = 10.0;

/// The part of an equal share of a link that a flow gets beside others if it notices them by losses
/// alone: windows fall at each, and some losses are noticed by a timeout. Of 0.7 to 1 this is nearest
/// to runs of web searches under NewReno.
const KEPT: f64 = 0.9;

/// The cost of a workload's flows.
pub(crate) struct FlowCost {
    /// Mean number of links of a path between sender and receiver.
    links: f64,
    mss: u64,
    /// Segments for each acknowledgement.
    per_ack: u64,
    /// Packets that open a connection for a flow; 0 if connections persist.
    handshake: u64,
    /// Completion times in an empty fabric: of one byte, and of each more.
    shortest: Time,
    seconds_per_byte: f64,
    /// Times that flows take by those of an empty fabric.
    slowdown: f64,
    /// The part of an equal share of a link that a flow gets.
    share_kept: f64,
    window: Window,
    /// Mean size; 0 if the workload has no distribution of sizes.
    mean: f64,
}

impl FlowCost {
    /// Packet hops of a flow.
    pub(crate) fn hops(&self, size: Bytes) -> f64 {
        let data = size.0.div_ceil(self.mss).max(1);
        (data + data.div_ceil(self.per_ack) + self.handshake) as f64 * self.links
    }

    /// Time that a flow of so many bytes may take.
    pub(crate) fn time(&self, size: f64) -> f64 {
        self.slowdown * (self.shortest.as_secs_f64() + self.transmission(size))
    }

    /// The time in which so many bytes cross the slowest link of an empty fabric.
    pub(crate) fn transmission(&self, size: f64) -> f64 {
        size * self.seconds_per_byte
    }

    /// The part of an equal share of a link that a flow gets beside others.
    pub(crate) fn share_kept(&self) -> f64 {
        self.share_kept
    }

    /// Bytes that a flow may have in flight.
    pub(super) fn window(&self) -> Window {
        self.window
    }

    /// The time of the mean size.
    pub(crate) fn mean_time(&self) -> f64 {
        self.time(self.mean)
    }

    /// Time of the shortest flow in an empty fabric.
    pub(crate) fn round_trip(&self) -> Time {
        self.shortest
    }

    /// Bytes in a second of a flow without end that has its hosts' links alone.
    pub(crate) fn bytes_per_second(&self) -> f64 {
        1.0 / self.seconds_per_byte
    }
}

/// The cost of each workload's flows.
pub(crate) fn costs(
    scenario: &Scenario,
    fabric: &Fabric,
    routes: &Routes,
    seed: u64,
) -> Vec<FlowCost> {
    let parts = scenario.workload.parts();
    let numbered = parts.into_iter().zip(0..);
    numbered.map(|(part, n)| cost(scenario, (fabric, routes), (part, n), seed)).collect()
}

fn cost(
    scenario: &Scenario,
    (fabric, routes): (&Fabric, &Routes),
    (part, number): (&Workload, u16),
    seed: u64,
) -> FlowCost {
    let transport = scenario.transport_of(number);
    let tcp = transport.tcp();
    let connections = scenario.workload.connections(number);
    let pairs = pairs(part, fabric.hosts, seed);
    let links: usize = pairs.iter().map(|&pair| links(fabric, routes, pair)).sum();
    let sizes = [Bytes(1), Bytes(1 + (1 << 24))];
    let longest = pairs.iter().max_by_key(|&&pair| self::links(fabric, routes, pair));
    let mut paths = BestPaths::of(scenario);
    let mut time = |size| match longest {
        Some(&ends) => paths.ideal_fct(fabric, routes, transport, connections, ends, size),
        None => Time::ZERO,
    };
    let [shortest, long] = sizes.map(&mut time);
    let seconds_per_byte = long.saturating_sub(shortest).as_secs_f64() / f64::from(1 << 24);
    FlowCost {
        links: links as f64 / pairs.len().max(1) as f64,
        mss: u64::from(tcp.mss).max(1),
        per_ack: transport.packets_per_ack().into(),
        handshake: handshake(transport, connections),
        shortest,
        slowdown: slowdown(part),
        share_kept: share_kept(transport),
        window: Window::of(scenario, transport),
        mean: sizes_of(part).map_or(0.0, SizeDistribution::mean),
        seconds_per_byte: seconds_per_byte.max(1e-15),
    }
}

/// Times that flows take by those of an empty fabric, if they share their links equally (processor
/// sharing).
fn slowdown(workload: &Workload) -> f64 {
    match workload {
        Workload::Flows(Flows { load, connections, .. })
            if !matches!(connections, Connections::ClosedLoop(_)) =>
        {
            (1.0 / (1.0 - load.min(0.99))).clamp(SLOWDOWN, LARGEST_SLOWDOWN)
        }
        _ => SLOWDOWN,
    }
}

/// The part of an equal share of a link that a flow gets beside others.
fn share_kept(transport: &Transport) -> f64 {
    match transport {
        Transport::Uet(_) => 1.0,
        _ if transport.tcp().control == Control::Dctcp => 1.0,
        _ => KEPT,
    }
}

/// The sizes of a workload's flows, if they are drawn.
pub(super) fn sizes_of(workload: &Workload) -> Option<&SizeDistribution> {
    match workload {
        Workload::Flows(flows) => Some(&flows.sizes),
        Workload::Requests(requests) => Some(&requests.sizes),
        _ => None,
    }
}

/// A SYN and its answer for each subflow.
fn handshake(transport: &Transport, connections: Connections) -> u64 {
    match connections {
        Connections::PerFlow if transport.has_handshake() => 2 * u64::from(transport.subflows()),
        _ => 0,
    }
}

/// Some of the pairs of hosts between which a workload has flows.
fn pairs(workload: &Workload, hosts: u32, seed: u64) -> Vec<(u32, u32)> {
    let graph = match workload {
        Workload::Collective(collective) => collective.graph(),
        Workload::FlowGraph(graph) => graph.clone(),
        Workload::Replay(list) => return spread(list, |flow| (flow.from, flow.to)),
        _ => {
            let mut traffic = Traffic::new(workload, hosts, Time::ZERO, seed);
            let mut flows = Vec::new();
            while flows.len() < PAIRS && traffic.next_at() < Time::NEVER {
                traffic.arrive(&mut flows);
            }
            return spread(&flows, |flow| (flow.from, flow.to));
        }
    };
    let flows: Vec<_> = graph.flows.iter().filter(|flow| !flow.is_computation()).collect();
    spread(&flows, |flow| (flow.from, flow.to))
}

/// At most [`PAIRS`] items, from all parts of a list.
fn spread<T>(list: &[T], pair: impl Fn(&T) -> (u32, u32)) -> Vec<(u32, u32)> {
    list.iter().step_by(list.len().div_ceil(PAIRS).max(1)).map(pair).collect()
}

/// Links of a shortest path between two hosts.
fn links(fabric: &Fabric, routes: &Routes, (from, to): (u32, u32)) -> usize {
    let number = fabric.interfaces_between(from, to).next().unwrap_or(0);
    let tor = |host: u32| fabric.interface_tor[(host * fabric.interfaces + number) as usize];
    let (mut switch, to) = (u32::from(tor(from).0), tor(to));
    let mut links = 2;
    while switch != u32::from(to.0) {
        let Some(hop) = first_hop(routes, switch, to) else { break };
        switch =
            fabric.ports[(fabric.first_port_of_switch(switch) + hop) as usize].to - fabric.hosts;
        links += 1;
    }
    links
}

fn first_hop(routes: &Routes, switch: u32, to: Tor) -> Option<u32> {
    routes.next_hops(switch, to).first().map(|hop| u32::from(hop.0))
}
