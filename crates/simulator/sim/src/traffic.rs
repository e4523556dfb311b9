//! The workload: start times, endpoints and connections of flows.

use std::collections::BTreeMap;

use heddle_scenario::{Connections, Flows, Long, Pattern, ReplayFlow, SizeDistribution, Workload};
use heddle_transport::Connection;
use heddle_units::{Bytes, Time};

use crate::hosts::{Hosts, Lifetime};
use crate::random::{Random, Stream};

/// Size of a flow that never ends.
pub(crate) const UNBOUNDED_BYTES: u64 = 1 << 60;

/// A flow to start now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NewFlow {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) size: Bytes,
    pub(crate) connections: Connections,
}

/// Generates flows, one arrival at a time.
pub(crate) enum Traffic {
    Poisson(Poisson),
    /// Flows with their start times, in descending order.
    List(Vec<(Time, NewFlow)>),
}

impl Traffic {
    /// The traffic of a workload over `hosts` hosts that starts at `start`.
    pub(crate) fn new(workload: &Workload, hosts: u32, start: Time, seed: u64) -> Traffic {
        let random = Random::new(seed, Stream::Traffic);
        match workload {
            Workload::Flows(flows) => Traffic::Poisson(Poisson::new(flows, hosts, start, random)),
            Workload::Long(long) => Traffic::list(long_flows(long, hosts, start, random)),
            Workload::Replay(flows) => Traffic::list(replayed(flows, start)),
        }
    }

    fn list(mut flows: Vec<(Time, NewFlow)>) -> Traffic {
        flows.sort_by_key(|(at, _)| *at);
        flows.reverse();
        Traffic::List(flows)
    }

    /// Time of the next arrival; [`Time::NEVER`] if there is none.
    pub(crate) fn next_at(&self) -> Time {
        match self {
            Traffic::Poisson(poisson) => poisson.next_at,
            Traffic::List(flows) => flows.last().map_or(Time::NEVER, |(at, _)| *at),
        }
    }

    /// Mean time in which so many flows start; of a list, the time of its last flow.
    pub(crate) fn time_of(&self, flows: u64) -> Time {
        match self {
            Traffic::Poisson(poisson) => {
                Time((poisson.mean_gap * flows as f64 / poisson.flows_per_arrival * 1e12) as u64)
            }
            Traffic::List(list) => list.first().map_or(Time::ZERO, |(at, _)| *at),
        }
    }

    /// Appends the flows of the due arrival to `flows`, and schedules the next arrival.
    pub(crate) fn arrive(&mut self, flows: &mut Vec<NewFlow>) {
        match self {
            Traffic::Poisson(poisson) => poisson.arrive(flows),
            Traffic::List(list) => flows.extend(list.pop().map(|(_, flow)| flow)),
        }
    }
}

/// Arrivals at exponential intervals.
pub(crate) struct Poisson {
    random: Random,
    next_at: Time,
    mean_gap: f64,
    flows_per_arrival: f64,
    sizes: SizeDistribution,
    pattern: SeededPattern,
    connections: Connections,
}

/// A traffic pattern with its random choices for the whole run.
enum SeededPattern {
    Sets {
        clients: Vec<u32>,
        servers: Vec<u32>,
    },
    /// Senders, and the receiver of each.
    Pairs(Vec<u32>, Vec<u32>),
    Incast {
        hosts: Vec<u32>,
        senders: usize,
    },
}

impl Poisson {
    fn new(flows: &Flows, hosts: u32, start: Time, mut random: Random) -> Poisson {
        let pattern = match &flows.pattern {
            Pattern::Sets { clients, servers } => {
                SeededPattern::Sets { clients: clients.clone(), servers: servers.clone() }
            }
            Pattern::Permutation => {
                SeededPattern::Pairs((0..hosts).collect(), random.derangement(hosts))
            }
            Pattern::Pairs { clients, servers } => {
                let mut servers = servers.clone();
                random.shuffle(&mut servers);
                SeededPattern::Pairs(clients.clone(), servers)
            }
            Pattern::Incast { senders } => {
                SeededPattern::Incast { hosts: (0..hosts).collect(), senders: *senders as usize }
            }
        };
        let flows_per_arrival = match pattern {
            SeededPattern::Incast { senders, .. } => senders as f64,
            _ => 1.0,
        };
        let bytes_per_second = flows.load * flows.capacity.0 as f64 / 8.0;
        let mean_gap = flows.sizes.mean() * flows_per_arrival / bytes_per_second;
        let sizes = flows.sizes.clone();
        let connections = flows.connections;
        let mut poisson = Poisson {
            random,
            next_at: start,
            mean_gap,
            flows_per_arrival,
            sizes,
            pattern,
            connections,
        };
        poisson.schedule_next();
        poisson
    }

    fn schedule_next(&mut self) {
        let gap = self.random.exponential(self.mean_gap);
        self.next_at += Time((gap * 1e12) as u64);
    }

    fn arrive(&mut self, flows: &mut Vec<NewFlow>) {
        match &mut self.pattern {
            SeededPattern::Sets { clients, servers } => {
                let from = clients[self.random.below(clients.len() as u64) as usize];
                let to = other_than(from, servers, &mut self.random);
                self.push(from, to, flows);
            }
            SeededPattern::Pairs(from, to) => {
                let pair = self.random.below(from.len() as u64) as usize;
                let (from, to) = (from[pair], to[pair]);
                self.push(from, to, flows);
            }
            SeededPattern::Incast { hosts, senders } => {
                let count = *senders;
                let chosen = draw_first(hosts, count + 1, &mut self.random);
                for &from in &chosen[1..] {
                    self.push(from, chosen[0], flows);
                }
            }
        }
        self.schedule_next();
    }

    fn push(&mut self, from: u32, to: u32, flows: &mut Vec<NewFlow>) {
        let size = Bytes(self.sizes.quantile(self.random.unit()).max(1.0) as u64);
        flows.push(NewFlow { from, to, size, connections: self.connections });
    }
}

/// A member of `set` other than `host`.
fn other_than(host: u32, set: &[u32], random: &mut Random) -> u32 {
    loop {
        let drawn = set[random.below(set.len() as u64) as usize];
        if drawn != host || set.iter().all(|&member| member == host) {
            return drawn;
        }
    }
}

/// `count` different members of `set`, at random.
fn draw_first(set: &mut [u32], count: usize, random: &mut Random) -> Vec<u32> {
    for i in 0..count {
        set.swap(i, i + random.below((set.len() - i) as u64) as usize);
    }
    set[..count].to_vec()
}

fn long_flows(long: &Long, hosts: u32, start: Time, mut random: Random) -> Vec<(Time, NewFlow)> {
    let pairs = long.pairs.clone().unwrap_or_else(|| {
        random.derangement(hosts).into_iter().enumerate().map(|(i, to)| (i as u32, to)).collect()
    });
    let flow = |(from, to)| {
        let at = start + Time(random.below(long.start_within.0.max(1)));
        let size = Bytes(UNBOUNDED_BYTES);
        (at, NewFlow { from, to, size, connections: Connections::PerFlow })
    };
    pairs.into_iter().map(flow).collect()
}

fn replayed(flows: &[ReplayFlow], start: Time) -> Vec<(Time, NewFlow)> {
    let flow = |f: &ReplayFlow| {
        let connections = Connections::PerFlow;
        (start + f.at, NewFlow { from: f.from, to: f.to, size: f.size, connections })
    };
    flows.iter().map(flow).collect()
}

/// Mapping of a workload's flows to connections.
pub(crate) fn connection_mode(workload: &Workload) -> Connections {
    match workload {
        Workload::Flows(flows) => flows.connections,
        Workload::Long(_) | Workload::Replay(_) => Connections::PerFlow,
    }
}

/// Persistent connections between pairs of hosts, opened on first use and used round robin.
#[derive(Default)]
pub(crate) struct ConnectionPools(BTreeMap<(u32, u32), Pool>);

#[derive(Default)]
struct Pool {
    connections: Vec<u32>,
    turn: usize,
}

impl ConnectionPools {
    /// Connection for a flow.
    pub(crate) fn connection<C: Connection>(
        &mut self,
        flow: &NewFlow,
        hosts: &mut Hosts<C>,
    ) -> u32 {
        let Connections::Persistent(size) = flow.connections else {
            return hosts.open(flow.from, flow.to, Lifetime::OneFlow);
        };
        let pool = self.0.entry((flow.from, flow.to)).or_default();
        if pool.connections.len() < size as usize {
            pool.connections.push(hosts.open(flow.from, flow.to, Lifetime::Persistent));
        }
        let connection = pool.connections[pool.turn % pool.connections.len()];
        pool.turn = (pool.turn + 1) % size.max(1) as usize;
        connection
    }
}

#[cfg(test)]
mod tests;
