//! Which links the subflows of each connection use, and whether they use the same ones.
//!
//! A subflow uses the links between switches that its last packets to the server crossed, one at each step of the way ([`Steps`]). It is
//! active while it crosses any between two samples.

mod steps;

use heddle_fabric::Fabric;
use heddle_scenario::Scenario;
use heddle_units::Time;

use crate::network::{PacketKind, Packets};
use crate::outcome::PathUse;
use steps::Steps;

/// Follows packets, and compares their ways when a sample is taken.
pub(crate) struct PathWatch {
    /// Subflows of a connection.
    paths: usize,
    steps: Steps,
    connections: Vec<Connection>,
    last_sample: Time,
    counts: PathUse,
}

#[derive(Clone, Default)]
struct Connection {
    generation: u32,
    subflows: Vec<Subflow>,
}

#[derive(Clone, Default, PartialEq, Eq)]
struct Subflow {
    last: Time,
    /// The port last used at each step.
    way: Vec<Option<u32>>,
}

impl PathWatch {
    /// Watches a run that takes samples, if its connections have several paths.
    pub(crate) fn new(scenario: &Scenario, fabric: &Fabric, paths: usize) -> Option<PathWatch> {
        let is_wanted = scenario.measure.sample_every.is_some() && paths > 1;
        is_wanted.then(|| PathWatch {
            paths,
            steps: Steps::new(fabric),
            connections: Vec::new(),
            last_sample: Time::ZERO,
            counts: PathUse::default(),
        })
    }

    /// A packet has crossed the link behind `port`. Cold, because most runs watch nothing.
    #[cold]
    pub(crate) fn note(&mut self, now: Time, port: u32, packets: &Packets, packet: u32) {
        let (hot, body) = (&packets.hot[packet as usize], &packets.body[packet as usize]);
        if hot.kind != PacketKind::Forward {
            return;
        }
        let Some(step) = self.steps.of(port, packet) else { return };
        let slot = hot.connection as usize;
        if slot >= self.connections.len() {
            self.connections.resize(slot + 1, Connection::default());
        }
        let connection = &mut self.connections[slot];
        if connection.generation < body.generation {
            let subflows = vec![Subflow::default(); self.paths];
            *connection = Connection { generation: body.generation, subflows };
        }
        if connection.generation == body.generation {
            connection.subflows[usize::from(body.path)].cross(now, step, port);
        }
    }

    /// Compares the ways of each connection's active subflows.
    pub(crate) fn sample(&mut self, now: Time) {
        let since = self.last_sample;
        for connection in &self.connections {
            let active = connection.subflows.iter().filter(|subflow| subflow.last > since);
            let ways: Vec<&[Option<u32>]> = active.map(|subflow| &*subflow.way).collect();
            if ways.len() > 1 {
                self.counts.add(&ways);
            }
        }
        self.last_sample = now;
    }

    /// From now on, samples are in the measuring window.
    pub(crate) fn start_measuring(&mut self) {
        self.counts = PathUse::default();
    }

    pub(crate) fn finish(self) -> PathUse {
        self.counts
    }
}

impl Subflow {
    fn cross(&mut self, now: Time, step: usize, port: u32) {
        if self.way.len() <= step {
            self.way.resize(step + 1, None);
        }
        self.way[step] = Some(port);
        self.last = now;
    }
}

impl PathUse {
    /// Adds a connection whose active subflows go these ways.
    fn add(&mut self, ways: &[&[Option<u32>]]) {
        let mut distinct = ways.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let steps = ways.iter().map(|way| way.len()).max().unwrap_or(0);
        self.samples += 1;
        self.shared += u64::from((0..steps).any(|step| meet(ways, step)));
        self.shared_first_hop += u64::from(meet(ways, 0));
        self.paths_sum += distinct.len() as u64;
        self.subflows_sum += ways.len() as u64;
    }
}

/// Whether two of `ways` take one port at a step.
fn meet(ways: &[&[Option<u32>]], step: usize) -> bool {
    let mut ports: Vec<u32> =
        ways.iter().filter_map(|way| way.get(step).copied().flatten()).collect();
    ports.sort_unstable();
    ports.windows(2).any(|pair| pair[0] == pair[1])
}

#[cfg(test)]
mod tests;
