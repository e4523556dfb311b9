//! Collective operations of training jobs as flows that wait for each other.

use heddle_units::{Bytes, Time};
use serde::Serialize;

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
    /// All-reduce over a binomial tree.
    TreeAllReduce,
    /// The first host's vector to all, over a binomial tree.
    TreeBroadcast,
    /// Every host sends a part of its vector to each other host.
    AllToAll,
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
            Operation::TreeAllReduce => 2 * (hosts - 1),
            Operation::TreeBroadcast => hosts - 1,
            Operation::RingReduceScatter | Operation::RingAllGather | Operation::AllToAll => {
                (hosts - 1) * hosts
            }
        }
    }

    /// Its flows.
    pub fn graph(&self) -> FlowGraph {
        let (mut flows, steps) = (Vec::new(), self.count() - 1);
        match self.operation {
            Operation::RingAllReduce => flows = self.ring(2 * steps),
            Operation::RingReduceScatter | Operation::RingAllGather => flows = self.ring(steps),
            Operation::TreeAllReduce => {
                let at_root = self.reduce(&mut flows);
                self.broadcast(at_root, &mut flows);
            }
            Operation::TreeBroadcast => self.broadcast(Vec::new(), &mut flows),
            Operation::AllToAll => flows = self.all_to_all(),
        }
        FlowGraph { flows }
    }

    fn count(&self) -> u64 {
        (self.hosts.len() as u64).max(1)
    }

    /// Bytes of one of n parts of a vector, by number modulo n. Parts differ by a byte at most.
    fn part(&self, number: u64) -> Bytes {
        let count = self.count();
        Bytes(self.size.0 / count + u64::from(number % count < self.size.0 % count))
    }

    fn flow(&self, (from, to): (u64, u64), size: Bytes, after: Vec<u32>) -> GraphFlow {
        let host = |rank: u64| self.hosts[(rank % self.count()) as usize];
        let (from, to) = (host(from), host(to));
        GraphFlow { id: String::new(), after, from, to, size, delay: Time::ZERO }
    }

    /// Steps in each of which every host sends one of n parts to its successor: in the first its own,
    /// then the one that it received in the step before (Patarasuk and Yuan, JPDC 2009): n - 1 of
    /// them to add up or to gather, twice as many for both.
    fn ring(&self, steps: u64) -> Vec<GraphFlow> {
        let count = self.count();
        let of_step = |step: u64, rank: u64| {
            let before = step.checked_sub(1).map(|step| step * count + (rank + count - 1) % count);
            let after = before.map(|flow| flow as u32).into_iter().collect();
            let part = self.part(rank + count - step % count);
            self.flow((rank, rank + 1), part, after)
        };
        (0..steps).flat_map(|step| (0..count).map(move |rank| of_step(step, rank))).collect()
    }

    /// n - 1 steps: in step k the host of rank i sends to that of rank i + k, once what it sent and
    /// what it was sent in the step before have arrived (the pairwise exchange of Thakur,
    /// Rabenseifner and Gropp, IJHPCA 2005).
    fn all_to_all(&self) -> Vec<GraphFlow> {
        let count = self.count();
        let of_step = |step: u64, rank: u64| {
            let sent = |step: u64, rank: u64| ((step - 1) * count + rank) as u32;
            let received = (rank + count + 1 - step) % count;
            let after = match step {
                1 => Vec::new(),
                _ => vec![sent(step - 1, rank), sent(step - 1, received)],
            };
            self.flow((rank, rank + step), self.part(rank + step), after)
        };
        (1..count).flat_map(|step| (0..count).map(move |rank| of_step(step, rank))).collect()
    }

    /// The distances 1, 2, 4, .. of a binomial tree: log2 n steps of n = 2^i hosts, of others no
    /// more than those of the next power of two (the same article).
    fn distances(&self) -> Vec<u64> {
        (0..u64::BITS).map(|bit| 1u64 << bit).take_while(|&far| far < self.count()).collect()
    }

    /// A reduction to rank 0 over a binomial tree, with the whole vector in each flow. Gives the
    /// flows that reach rank 0.
    fn reduce(&self, flows: &mut Vec<GraphFlow>) -> Vec<u32> {
        // Of each rank, the flows to it.
        let mut received: Vec<Vec<u32>> = vec![Vec::new(); self.count() as usize];
        for far in self.distances() {
            for from in (far..self.count()).step_by(2 * far as usize) {
                let after = received[from as usize].clone();
                received[(from - far) as usize].push(flows.len() as u32);
                flows.push(self.flow((from, from - far), self.size, after));
            }
        }
        received.swap_remove(0)
    }

    /// A broadcast from rank 0 over a binomial tree, once the flows `at_root` have arrived. A host
    /// sends to one other at a time.
    fn broadcast(&self, at_root: Vec<u32>, flows: &mut Vec<GraphFlow>) {
        // What a rank waits for before it sends on: what reached the root, then each flow that it
        // was sent or has sent.
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); self.count() as usize];
        before[0] = at_root;
        for &far in self.distances().iter().rev() {
            for from in (0..self.count().saturating_sub(far)).step_by(2 * far as usize) {
                let after = std::mem::take(&mut before[from as usize]);
                let number = flows.len() as u32;
                (before[from as usize], before[(from + far) as usize]) =
                    (vec![number], vec![number]);
                flows.push(self.flow((from, from + far), self.size, after));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(operation: Operation, hosts: u32, size: u64) -> (Collective, FlowGraph) {
        let collective =
            Collective { operation, size: Bytes(size), hosts: (10..10 + hosts).collect() };
        let graph = collective.graph();
        assert_eq!(graph.flows.len() as u64, collective.flows());
        assert_eq!(graph.order().len(), graph.flows.len(), "no flow waits for itself");
        (collective, graph)
    }

    /// Steps, if each flow takes one.
    fn steps(graph: &FlowGraph) -> u64 {
        graph.critical_path(|_| Time(1)).0
    }

    /// The closed forms of the articles. A tree has its steps for powers of two; of others some
    /// branches are shorter.
    #[test]
    fn operations_have_the_steps_of_their_closed_forms() {
        for hosts in 2..20 {
            let count = u64::from(hosts);
            let log = count.next_power_of_two().ilog2();
            assert_eq!(steps(&of(Operation::RingAllReduce, hosts, 1000).1), 2 * (count - 1));
            for operation in
                [Operation::AllToAll, Operation::RingReduceScatter, Operation::RingAllGather]
            {
                assert_eq!(steps(&of(operation, hosts, 1000).1), count - 1, "{operation:?}");
            }
            assert_eq!(steps(&of(Operation::TreeBroadcast, hosts, 1000).1), u64::from(log));
            let tree = steps(&of(Operation::TreeAllReduce, hosts, 1000).1);
            assert!(tree <= 2 * u64::from(log), "{hosts}: {tree}");
            assert!(tree == 2 * u64::from(log) || !hosts.is_power_of_two(), "{hosts}: {tree}");
        }
    }

    /// Each host but the root sends once up and receives once down; in the whole the vector crosses
    /// 2 (n - 1) links.
    #[test]
    fn a_tree_leads_to_the_root_and_back() {
        let (_, graph) = of(Operation::TreeAllReduce, 6, 100);
        let pairs: Vec<(u32, u32)> = graph.flows.iter().map(|f| (f.from - 10, f.to - 10)).collect();
        assert_eq!(pairs[..5], [(1, 0), (3, 2), (5, 4), (2, 0), (4, 0)]);
        assert_eq!(pairs[5..], [(0, 4), (0, 2), (0, 1), (2, 3), (4, 5)]);
        assert_eq!(graph.flows[3].after, [1], "what 3 sent");
        assert_eq!(graph.flows[5].after, [0, 3, 4], "all that reached the root");
        assert_eq!(graph.flows[8].after, [6], "what 2 was sent");
        assert!(graph.flows.iter().all(|flow| flow.size == Bytes(100)));
    }

    #[test]
    fn all_to_all_has_each_pair_once_and_moves_all_but_the_own_part() {
        let (_, graph) = of(Operation::AllToAll, 5, 103);
        let mut pairs: Vec<(u32, u32)> = graph.flows.iter().map(|f| (f.from, f.to)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        assert_eq!(pairs.len(), 20);
        assert!(pairs.iter().all(|(from, to)| from != to));
        for host in 10..15 {
            let sent = graph.flows.iter().filter(|f| f.from == host).map(|f| f.size.0);
            let kept = 20 + u64::from(host < 13);
            assert_eq!(sent.sum::<u64>(), 103 - kept);
        }
    }
}
