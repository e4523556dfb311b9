//! An all-reduce in a ring: a host sends when it has received.

use std::collections::{BTreeMap, VecDeque};

use heddle_scenario::{Collective, Connections};
use heddle_units::Time;

use super::NewFlow;

/// The state of a collective operation.
pub(crate) struct Ring {
    collective: Collective,
    /// Place of each host in the ring.
    ranks: BTreeMap<u32, u64>,
    /// Parts that each rank has received. They arrive in the order of the steps: a host has one connection to its successor.
    received: Vec<u64>,
    due: VecDeque<(Time, NewFlow)>,
}

impl Ring {
    /// A ring whose hosts all send their first part at `start`.
    pub(super) fn new(collective: &Collective, start: Time) -> Ring {
        let hosts = &collective.hosts;
        let mut ring = Ring {
            collective: collective.clone(),
            ranks: hosts.iter().copied().zip(0..).collect(),
            received: vec![0; hosts.len()],
            due: VecDeque::new(),
        };
        for rank in 0..hosts.len() as u64 {
            ring.send(start, rank, 0);
        }
        ring
    }

    fn send(&mut self, at: Time, rank: u64, step: u64) {
        let hosts = &self.collective.hosts;
        let host = |rank: u64| hosts[(rank % hosts.len() as u64) as usize];
        let flow = NewFlow {
            from: host(rank),
            to: host(rank + 1),
            size: self.collective.part(rank, step),
            connections: Connections::Persistent(1),
            workload: 0,
        };
        self.due.push_back((at, flow));
    }

    pub(super) fn next_at(&self) -> Time {
        self.due.front().map_or(Time::NEVER, |(at, _)| *at)
    }

    pub(super) fn arrive(&mut self) -> Option<NewFlow> {
        self.due.pop_front().map(|(_, flow)| flow)
    }

    /// A host has received a part, which it sends on in the next step.
    pub(super) fn finished(&mut self, now: Time, host: u32) {
        let Some(&rank) = self.ranks.get(&host) else { return };
        let received = &mut self.received[rank as usize];
        *received += 1;
        let step = *received;
        if step < self.collective.steps() {
            self.send(now, rank, step);
        }
    }
}
