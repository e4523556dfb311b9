//! A closed loop for each connection: it starts its next flow when its last one has ended and a
//! pause is over.
//!
//! Pauses are exponential. Their mean is the time between two flows of a connection at the
//! scenario's load, so that flows that took no time would offer that load; real ones offer less. It
//! is the traffic of a Poisson process for each connection of which what arrives at a busy one is
//! lost: the rest of an exponential time is as long as the whole.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use heddle_scenario::{Flows, Pattern};
use heddle_units::{Bytes, Time};

use super::{NewFlow, shuffled};
use crate::random::Random;

/// The connections of all pairs.
pub(crate) struct ClosedConnections {
    flows: Flows,
    random: Random,
    /// Connections of a pair.
    each: u32,
    /// Sender and receiver of each pair.
    pairs: Vec<(u32, u32)>,
    /// Mean pause of a connection, in seconds.
    mean_pause: f64,
    /// Starts, and the connections that they are of: numbers of a pair's are in sequence.
    due: BinaryHeap<Reverse<(Time, u32)>>,
}

impl ClosedConnections {
    /// `each` connections of every pair, which pause for the first time at `start`.
    pub(super) fn new(
        flows: &Flows,
        each: u32,
        hosts: u32,
        start: Time,
        mut random: Random,
    ) -> ClosedConnections {
        let pairs = pairs(&flows.pattern, hosts, &mut random);
        let connections = each * pairs.len() as u32;
        let bytes_per_second = flows.load * flows.capacity.0 as f64 / 8.0;
        let mut closed = ClosedConnections {
            mean_pause: flows.sizes.mean() * f64::from(connections) / bytes_per_second,
            flows: flows.clone(),
            random,
            each,
            pairs,
            due: BinaryHeap::new(),
        };
        (0..connections).for_each(|connection| closed.pause(start, connection));
        closed
    }

    fn pause(&mut self, now: Time, connection: u32) {
        let pause = Time((self.random.exponential(self.mean_pause) * 1e12) as u64);
        self.due.push(Reverse((now + pause, connection)));
    }

    pub(super) fn next_at(&self) -> Time {
        self.due.peek().map_or(Time::NEVER, |Reverse((at, _))| *at)
    }

    pub(super) fn arrive(&mut self) -> Option<NewFlow> {
        let Reverse((_, index)) = self.due.pop()?;
        let (from, to) = *self.pairs.get((index / self.each.max(1)) as usize)?;
        let size = Bytes(self.flows.sizes.quantile(self.random.unit()).max(1.0) as u64);
        let connections = self.flows.connections;
        Some(NewFlow { from, to, size, connections, workload: 0, index })
    }

    /// A flow of a connection has ended.
    pub(super) fn finished(&mut self, now: Time, connection: u32) {
        self.pause(now, connection);
    }
}

/// The pairs of a pattern; of sets every client with every server.
fn pairs(pattern: &Pattern, hosts: u32, random: &mut Random) -> Vec<(u32, u32)> {
    match pattern {
        Pattern::Sets { clients, servers } => {
            let to_each_server = |&from: &u32| servers.iter().map(move |&to| (from, to));
            clients.iter().flat_map(to_each_server).filter(|(from, to)| from != to).collect()
        }
        Pattern::Pairs { clients, servers } => {
            clients.iter().copied().zip(shuffled(servers, random)).collect()
        }
        Pattern::Permutation => (0..hosts).zip(random.derangement(hosts)).collect(),
        Pattern::Incast { .. } => Vec::new(),
    }
}
