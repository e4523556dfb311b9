//! Collective operations of training jobs as flows that wait for each other.

mod exchange;
mod experts;
mod ring;
#[cfg(test)]
mod tests;
mod tree;

use heddle_units::{Bytes, Time};
use serde::Serialize;

pub use self::experts::Experts;
use self::ring::Ring;
use super::{FlowGraph, GraphFlow};

/// A collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// All-reduce in a ring.
    RingAllReduce,
    /// The first half of it: every host ends with the sum of one part.
    RingReduceScatter,
    /// The second half of it: every host ends with all parts, of which it had one.
    RingAllGather,
    /// All-reduce by recursive halving and doubling, of a power of two of hosts.
    HalvingDoublingAllReduce,
    /// All-reduce by rings within groups and between them.
    HierarchicalAllReduce {
        /// Hosts of a group, a divisor of their number other than 1 and itself.
        group: u32,
    },
    /// All-reduce over a binomial tree.
    TreeAllReduce,
    /// The first host's vector to all, over a binomial tree.
    TreeBroadcast,
    /// Every host sends a part of its vector to each other host.
    AllToAll,
    /// Every host sends its tokens to those of their experts, which send results back.
    ExpertAllToAll(Experts),
}

/// A collective operation of some hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Collective {
    /// The operation.
    pub operation: Operation,
    /// Bytes of each host's vector, at least as many as hosts.
    pub size: Bytes,
    /// The hosts in the order of their ranks, at least 2.
    pub hosts: Vec<u32>,
}

impl Collective {
    /// Number of flows.
    pub fn flows(&self) -> u64 {
        let hosts = self.count();
        match self.operation {
            Operation::RingAllReduce => 2 * (hosts - 1) * hosts,
            Operation::HalvingDoublingAllReduce => 2 * u64::from(hosts.ilog2()) * hosts,
            Operation::HierarchicalAllReduce { group } => {
                let group = u64::from(group);
                2 * (group - 1 + hosts / group - 1) * hosts
            }
            Operation::TreeAllReduce => 2 * (hosts - 1),
            Operation::TreeBroadcast => hosts - 1,
            Operation::RingReduceScatter | Operation::RingAllGather | Operation::AllToAll => {
                (hosts - 1) * hosts
            }
            Operation::ExpertAllToAll(experts) => {
                2 * experts.dispatched(hosts as u32, self.size).len() as u64
            }
        }
    }

    /// Its flows.
    pub fn graph(&self) -> FlowGraph {
        let (mut flows, steps) = (Vec::new(), self.count() - 1);
        let ring = || Ring::of(self.count(), self.size);
        match self.operation {
            Operation::RingAllReduce => {
                self.ring(&ring(), 2 * steps, &mut flows);
            }
            Operation::RingReduceScatter | Operation::RingAllGather => {
                self.ring(&ring(), steps, &mut flows);
            }
            Operation::HalvingDoublingAllReduce => self.halving_doubling(&mut flows),
            Operation::HierarchicalAllReduce { group } => {
                self.hierarchical(group.into(), &mut flows);
            }
            Operation::TreeAllReduce => {
                let at_root = self.reduce(&mut flows);
                self.broadcast(at_root, &mut flows);
            }
            Operation::TreeBroadcast => self.broadcast(Vec::new(), &mut flows),
            Operation::AllToAll => self.all_to_all(&mut flows),
            Operation::ExpertAllToAll(experts) => self.expert_all_to_all(experts, &mut flows),
        }
        FlowGraph { flows }
    }

    fn count(&self) -> u64 {
        (self.hosts.len() as u64).max(1)
    }

    fn flow(&self, (from, to): (u64, u64), size: Bytes, after: Vec<u32>) -> GraphFlow {
        let host = |rank: u64| self.hosts[(rank % self.count()) as usize];
        let (from, to) = (host(from), host(to));
        GraphFlow { id: String::new(), after, from, to, size, delay: Time::ZERO }
    }

    /// The distances 1, 2, 4, .. below n: log2 n of n = 2^i hosts, of others as many as of the next
    /// power of two.
    fn distances(&self) -> Vec<u64> {
        (0..u64::BITS).map(|bit| 1u64 << bit).take_while(|&far| far < self.count()).collect()
    }
}

/// Bytes of the first parts of a vector of `size` that is cut into `count`, which differ by a byte
/// at most.
fn first_parts(size: Bytes, count: u64, parts: u64) -> u64 {
    size.0 / count * parts + parts.min(size.0 % count)
}

/// Bytes of one of these parts, by its number modulo `count`.
fn part(size: Bytes, count: u64, number: u64) -> Bytes {
    let number = number % count;
    Bytes(first_parts(size, count, number + 1) - first_parts(size, count, number))
}
