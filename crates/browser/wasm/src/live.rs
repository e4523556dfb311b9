//! A run while it lasts: utilisation of links at each sample, and the flows that have finished
//! since.

use heddle_report::FabricMap;
use heddle_scenario::Scenario;
use heddle_sim::{FlowRecord, Frame, Recorder, Samples, TracePoint};
use heddle_units::{Rate, Time};

use crate::prepare::lanes;

/// The level of a full direction of a link; that of an idle one is 0.
pub const FULL: u8 = 250;

/// The level of a direction of a link that is down, or that the run has not.
pub const DOWN: u8 = 255;

/// The progress of a run at one sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<'a> {
    /// Time from the start of the run in seconds.
    pub at: f64,
    /// Utilisation since the sample before, for each direction of the drawing's links: 0 to
    /// [`FULL`], or [`DOWN`].
    pub levels: &'a [u8],
    /// Sizes in bytes and completion times in seconds, in turns, of the measured flows that have
    /// finished since the sample before.
    pub flows: &'a [f64],
    /// Packets that ports of the drawing dropped since the sample before.
    pub dropped: u32,
}

/// Receives the rows of a run, in order of time.
pub trait Listener {
    /// Ports were sampled.
    fn row(&mut self, row: Row<'_>);
}

/// Makes rows of what the engine records.
pub struct Live<'a, L> {
    listener: &'a mut L,
    /// Names of the ends of each lane.
    lanes: Vec<(String, String)>,
    /// The sampled port of each lane; known with the first sample.
    ports: Option<Vec<Option<usize>>>,
    /// Changes of lanes' states in order of time.
    changes: Vec<LaneChange>,
    levels: Vec<u8>,
    flows: Vec<f64>,
}

impl<'a, L: Listener> Live<'a, L> {
    /// A recorder for a scenario that is drawn as `map`.
    pub fn new(scenario: &Scenario, map: &FabricMap, listener: &'a mut L) -> Live<'a, L> {
        let lanes: Vec<(String, String)> =
            lanes(map).map(|(from, to)| (from.to_owned(), to.to_owned())).collect();
        Live {
            listener,
            ports: None,
            changes: changes(scenario, &lanes),
            levels: Vec::with_capacity(lanes.len()),
            flows: Vec::new(),
            lanes,
        }
    }

    /// Reports the flows that finished after the last sample.
    pub fn finish(mut self, at: Time) {
        if !self.flows.is_empty() {
            self.tell(at, 0);
        }
    }

    fn tell(&mut self, at: Time, dropped: u32) {
        let row = Row { at: at.as_secs_f64(), levels: &self.levels, flows: &self.flows, dropped };
        self.listener.row(row);
        self.flows.clear();
    }

    fn is_up(&self, lane: usize, at: Time) -> bool {
        let before = self.changes.iter().take_while(|change| change.at < at);
        before.filter(|change| change.lane == lane).last().is_none_or(|change| change.is_up)
    }
}

/// A lane comes up or goes down.
struct LaneChange {
    at: Time,
    lane: usize,
    is_up: bool,
}

/// The changes of the lanes, those of the start first.
fn changes(scenario: &Scenario, lanes: &[(String, String)]) -> Vec<LaneChange> {
    let graph = &scenario.fabric.graph;
    let name = |node: u32| graph.nodes[node as usize].name.as_str();
    // Parallel links have the same names; the drawing has them in the graph's order.
    let lanes_of = |a: &str, b: &str| {
        let both = |(from, to): &(String, String)| (from == a && to == b) || (from == b && to == a);
        lanes.iter().enumerate().filter(|(_, lane)| both(lane)).map(|(lane, _)| lane).collect()
    };
    let nth = |link: u32| {
        let ends = graph.links[link as usize].ends;
        graph.links[..link as usize].iter().filter(|other| other.ends == ends).count()
    };
    let mut changes = Vec::new();
    for (a, b) in &scenario.fabric.failed {
        let lanes: Vec<usize> = lanes_of(a, b);
        let down = |lane| LaneChange { at: Time::ZERO, lane, is_up: false };
        changes.extend(lanes.into_iter().map(down));
    }
    for event in &scenario.events {
        let Some(is_up) = event.change.is_up() else { continue };
        for &link in &event.links {
            let (a, b) = graph.links[link as usize].ends;
            let lanes: Vec<usize> = lanes_of(name(a), name(b));
            let of_link = lanes.chunks(2).nth(nth(link)).unwrap_or_default();
            let change = |&lane| LaneChange { at: event.at, lane, is_up };
            changes.extend(of_link.iter().map(change));
        }
    }
    changes
}

/// The sampled port of each lane: of parallel links each has its own.
fn ports_of(lanes: &[(String, String)], samples: &Samples) -> Vec<Option<usize>> {
    let mut taken = vec![false; samples.ports.len()];
    let port = |(from, to): &(String, String)| {
        let is_it = |(index, port): &(usize, &heddle_sim::PortName)| {
            !taken[*index] && port.from == *from && port.to == *to
        };
        let (index, _) = samples.ports.iter().enumerate().find(is_it)?;
        taken[index] = true;
        Some(index)
    };
    lanes.iter().map(port).collect()
}

/// Bytes as a level of what a port could have sent in `span`.
fn level(sent: u32, rate: Rate, span: Time) -> u8 {
    let most = rate.bytes_in(span).0.max(1) as f64;
    (f64::from(sent) / most * f64::from(FULL) + 0.5).min(f64::from(FULL)) as u8
}

impl<L: Listener> Recorder for Live<'_, L> {
    fn frame(&mut self, _capture: usize, _at: Time, _frame: &Frame) {}

    fn sender(&mut self, _trace: usize, _point: &TracePoint<'_>) {}

    fn sampled(&mut self, samples: &Samples) {
        let Some((&at, before)) = samples.times.split_last() else { return };
        let span = at.saturating_sub(before.last().copied().unwrap_or(Time::ZERO));
        let first = samples.sent.len() - samples.ports.len();
        let ports = self.ports.take().unwrap_or_else(|| ports_of(&self.lanes, samples));
        self.levels.clear();
        for (lane, port) in ports.iter().enumerate() {
            let level = match port {
                Some(port) if self.is_up(lane, at) => {
                    level(samples.sent[first + port], samples.ports[*port].rate, span)
                }
                _ => DOWN,
            };
            self.levels.push(level);
        }
        self.ports = Some(ports);
        self.tell(at, samples.dropped[first..].iter().sum());
    }

    fn finished(&mut self, flow: &FlowRecord) {
        self.flows.extend([flow.size.0 as f64, flow.fct.as_secs_f64()]);
    }
}

#[cfg(test)]
mod tests;
