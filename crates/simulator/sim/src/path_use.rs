//! Sharing of links by the subflows of each connection.
//!
//! The links of a subflow are those between switches that its last packets to the server crossed,
//! one for each hop index ([`HopIndex`]). It is active if it crossed any since the last sample.

mod hop_index;

use std::mem;

use heddle_fabric::Fabric;
use heddle_scenario::Scenario;
use heddle_units::Time;

use crate::network::{PacketKind, Packets};
use crate::outcome::PathUse;
use hop_index::HopIndex;

/// Records the hops of packets, and compares the paths of subflows at each sample.
pub(crate) struct PathUseTracker {
    /// Number of subflows of a connection.
    paths: usize,
    hops: HopIndex,
    connections: Vec<Connection>,
    /// Indexes of the connections that a packet crossed a link for since the last sample.
    active: Vec<usize>,
    last_sample: Time,
    counts: PathUse,
}

#[derive(Clone, Default)]
struct Connection {
    generation: u32,
    is_active: bool,
    subflows: Vec<Subflow>,
}

#[derive(Clone, Default, PartialEq, Eq)]
struct Subflow {
    last: Time,
    /// Port last used at each hop index.
    path: Vec<Option<u32>>,
}

impl PathUseTracker {
    /// A tracker for a run that takes samples and whose connections have several paths; `None` for
    /// other runs.
    pub(crate) fn new(
        scenario: &Scenario,
        fabric: &Fabric,
        paths: usize,
    ) -> Option<PathUseTracker> {
        let is_wanted = scenario.measure.sample_every.is_some() && paths > 1;
        is_wanted.then(|| PathUseTracker {
            paths,
            hops: HopIndex::new(fabric),
            connections: Vec::new(),
            active: Vec::new(),
            last_sample: Time::ZERO,
            counts: PathUse::default(),
        })
    }

    /// Records that a packet has crossed the link of `port`. Cold, because most runs have no
    /// tracker.
    #[cold]
    pub(crate) fn record_hop(&mut self, now: Time, port: u32, packets: &Packets, packet: u32) {
        let (hot, body) = (&packets.hot[packet as usize], &packets.body[packet as usize]);
        if hot.kind != PacketKind::Forward {
            return;
        }
        let Some(hop) = self.hops.index(port, packet) else { return };
        let slot = hot.connection as usize;
        if slot >= self.connections.len() {
            self.connections.resize(slot + 1, Connection::default());
        }
        let connection = &mut self.connections[slot];
        if connection.generation < body.generation {
            let subflows = vec![Subflow::default(); self.paths];
            (connection.generation, connection.subflows) = (body.generation, subflows);
        }
        if connection.generation == body.generation {
            if !mem::replace(&mut connection.is_active, true) {
                self.active.push(slot);
            }
            connection.subflows[usize::from(body.path)].cross(now, hop, port);
        }
    }

    /// Compares the paths of each connection's active subflows.
    pub(crate) fn sample(&mut self, now: Time) {
        let since = self.last_sample;
        for slot in self.active.drain(..) {
            let connection = &mut self.connections[slot];
            connection.is_active = false;
            let active = connection.subflows.iter().filter(|subflow| subflow.last > since);
            let paths: Vec<&[Option<u32>]> = active.map(|subflow| &*subflow.path).collect();
            if paths.len() > 1 {
                self.counts.add(&paths);
            }
        }
        self.last_sample = now;
    }

    /// Starts the measuring window.
    pub(crate) fn start_measuring(&mut self) {
        self.counts = PathUse::default();
    }

    /// The counts of the measuring window.
    pub(crate) fn counts(&self) -> PathUse {
        self.counts
    }
}

impl Subflow {
    fn cross(&mut self, now: Time, hop: usize, port: u32) {
        if self.path.len() <= hop {
            self.path.resize(hop + 1, None);
        }
        self.path[hop] = Some(port);
        self.last = now;
    }
}

impl PathUse {
    /// Adds a connection whose active subflows use `paths`.
    fn add(&mut self, paths: &[&[Option<u32>]]) {
        let mut distinct = paths.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let hops = paths.iter().map(|path| path.len()).max().unwrap_or(0);
        self.samples += 1;
        self.shared += u64::from((0..hops).any(|hop| share_link(paths, hop)));
        self.shared_first_hop += u64::from(share_link(paths, 0));
        self.paths_sum += distinct.len() as u64;
        self.subflows_sum += paths.len() as u64;
    }
}

/// True if two of `paths` use the same port at `hop`.
fn share_link(paths: &[&[Option<u32>]], hop: usize) -> bool {
    let mut ports: Vec<u32> =
        paths.iter().filter_map(|path| path.get(hop).copied().flatten()).collect();
    ports.sort_unstable();
    ports.windows(2).any(|pair| pair[0] == pair[1])
}

#[cfg(test)]
mod tests;
