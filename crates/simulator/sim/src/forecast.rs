//! Forecast of a run, before it starts.

use heddle_fabric::{Fabric, PortInfo, one_big_switch};
use heddle_scenario::{Connections, Pattern, Scenario, Scheme, Until, Workload};
use heddle_units::Time;

use crate::hosts::CONNECTION_BYTES;
use crate::network::PORT_BYTES;
use crate::outcome::FlowRecord;
use crate::progress::SimError;
use crate::work::{State, Work};

/// An estimate of a run with one seed, from the sizes of flows, the lengths of paths and the rate of
/// arrivals: without retransmissions, and as if links carried what they are offered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// Flows that start.
    pub flows: f64,
    /// Packet hops, those of probes among them.
    pub packet_hops: f64,
    /// The same if the last measured flow waits for seven of its least timeouts; `None` if no packet is
    /// likely to be lost, or if the run ends at a time.
    pub with_timeouts: Option<Amount>,
    /// Length of the run in simulated seconds.
    pub seconds: f64,
    /// Bytes of memory.
    pub memory: f64,
    /// True if the time limit is over before all flows that are to be measured have started.
    pub is_cut: bool,
}

/// Work of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Amount {
    /// Flows that start.
    pub flows: f64,
    /// Packet hops, those of probes among them.
    pub packet_hops: f64,
}

/// Least timeouts that the last flow waits for: three in a row, each twice as long as the one before.
const TIMEOUTS: u64 = 1 + 2 + 4;

/// A program without a run.
const PROGRAM_BYTES: f64 = 8e6;

/// Memory of a connection beside its own structure: segments under way, missing ranges.
const CONNECTION_HEAP: f64 = 300.0;

/// Memory of summaries for a measured flow, beside its record.
const SUMMARY_BYTES: f64 = 125.0;

/// Memory of a sample for a port.
const SAMPLE_BYTES: f64 = 16.0;

/// Estimates a run.
///
/// # Errors
/// A graph that makes no fabric.
pub fn forecast(scenario: &Scenario, seed: u64) -> Result<Forecast, SimError> {
    let graph = match scenario.scheme {
        Scheme::Ideal => &one_big_switch(&scenario.fabric.graph),
        _ => &scenario.fabric.graph,
    };
    let fabric = Fabric::new(graph)?;
    let routes = fabric.routes(|_| true)?;
    let work = Work::new(scenario, &fabric, &routes, seed);
    let measure = &scenario.measure;
    let start = measure.probe_warm_up;
    let from = start + measure.warm_up;
    let state = State { now: start, hops: 0, flows: (0, 0), timeout: Time::ZERO };
    let end = match measure.until {
        Until::Time(span) => from + span,
        Until::Flows(flows) => work.end_of(flows, from, state),
    };
    let is_cut = end > measure.time_limit;
    let per_second = probes(scenario, &fabric);
    let until = |end: Time| Amount {
        flows: work.flows_until(end),
        packet_hops: work.hops_left(state, end) + per_second * end.as_secs_f64(),
    };
    let latest = end.saturating_add(Time(TIMEOUTS * least_timeout(scenario).0));
    let with_timeouts = match measure.until {
        Until::Flows(_) if work.loses() => Some(until(latest.min(measure.time_limit))),
        _ => None,
    };
    let end = end.min(measure.time_limit);
    let Amount { flows, packet_hops } = until(end);
    let under_way = connections(scenario, &fabric, &work, flows);
    let measured = match measure.until {
        Until::Flows(wanted) => flows.min(wanted as f64),
        Until::Time(_) => flows,
    };
    let routes = f64::from(fabric.switches()) * f64::from(fabric.tors) * 2.0;
    let memory = PROGRAM_BYTES
        + routes
        + (fabric.ports.len() * (PORT_BYTES + size_of::<PortInfo>())) as f64
        + under_way * (CONNECTION_BYTES as f64 + CONNECTION_HEAP)
        + measured * (size_of::<FlowRecord>() as f64 + SUMMARY_BYTES)
        + samples(scenario, &fabric, end) * SAMPLE_BYTES;
    Ok(Forecast { flows, packet_hops, with_timeouts, seconds: end.as_secs_f64(), memory, is_cut })
}

/// The longest of the workloads' least retransmission timeouts.
fn least_timeout(scenario: &Scenario) -> Time {
    let parts = 0..scenario.workload.parts().len() as u16;
    let of_part = |part| scenario.transport_of(part).tcp().min_rto;
    parts.map(of_part).max().unwrap_or_default()
}

/// Packet hops of probes in a second, if a ToR's probe crosses each link between switches once.
fn probes(scenario: &Scenario, fabric: &Fabric) -> f64 {
    let period = match &scenario.scheme {
        Scheme::Hula(hula) => Some(hula.probe_period),
        Scheme::MpHula(mp_hula) => Some(mp_hula.hula.probe_period),
        Scheme::Shuttle(shuttle) => Some(shuttle.hula.probe_period),
        Scheme::External(external) => external.probe_period,
        _ => None,
    };
    let links = between_switches(fabric) / 2;
    period.map_or(0.0, |period| {
        f64::from(fabric.tors) * links as f64 / period.as_secs_f64().max(1e-12)
    })
}

/// Ports between switches.
fn between_switches(fabric: &Fabric) -> usize {
    fabric.ports.iter().filter(|port| port.owner >= fabric.hosts && !port.to_host).count()
}

/// Connections at the same time.
fn connections(scenario: &Scenario, fabric: &Fabric, work: &Work, flows: f64) -> f64 {
    let hosts = f64::from(fabric.hosts);
    let of_part = |((part, n), rate): ((&Workload, u16), f64)| {
        let (pattern, connections) = match part {
            Workload::Flows(flows) => (&flows.pattern, flows.connections),
            Workload::Requests(requests) => (&requests.pattern, requests.connections),
            _ => return flows.min(hosts * hosts),
        };
        let pairs = match pattern {
            Pattern::Sets { clients, servers } => (clients.len() * servers.len()) as f64,
            Pattern::Pairs { clients, .. } => clients.len() as f64,
            Pattern::Permutation => hosts,
            Pattern::Incast { .. } => hosts * hosts,
        };
        let under_way = rate * work.flow_seconds(n);
        match connections {
            Connections::ClosedLoop(each) => pairs * f64::from(each),
            Connections::Persistent(each) => (pairs * f64::from(each)).min(flows),
            Connections::PerFlow | Connections::Pool => under_way.min(flows),
        }
    };
    let rates = work.parts().iter().map(crate::work::Part::flows_per_second);
    scenario.workload.parts().into_iter().zip(0..).zip(rates).map(of_part).sum()
}

/// Samples of ports.
fn samples(scenario: &Scenario, fabric: &Fabric, end: Time) -> f64 {
    let Some(every) = scenario.measure.sample_every else { return 0.0 };
    let ports = match &scenario.measure.sample {
        Some(links) => 2 * links.len(),
        None => between_switches(fabric),
    };
    ports as f64 * end.as_secs_f64() / every.as_secs_f64().max(1e-12)
}
