//! The workload: start times, endpoints and connections of flows.

use std::collections::BTreeMap;

use heddle_scenario::{
    Connections, Flows, Long, NamedWorkload, Pattern, ReplayFlow, SizeDistribution, Workload,
};
use heddle_units::{Bytes, Time};

use crate::hosts::{Flow, Hosts, Lifetime};
use crate::outcome::RequestRecord;
use crate::random::{Random, Stream};

mod closed_connections;
mod graph;
mod requests;

use closed_connections::ClosedConnections;
use graph::DependentFlows;
use requests::ClosedLoop;

/// Size of a flow that never ends.
pub(crate) const UNBOUNDED_BYTES: u64 = 1 << 60;

/// A flow to start now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NewFlow {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) size: Bytes,
    pub(crate) connections: Connections,
    /// Its workload, as a number among those of the scenario.
    pub(crate) workload: u16,
    /// Its number in a workload that waits for flows, or that of its connection in a closed loop; 0
    /// in others.
    pub(crate) index: u32,
}

impl NewFlow {
    /// True for a flow without end.
    pub(crate) fn is_long(&self) -> bool {
        self.size.0 >= UNBOUNDED_BYTES
    }
}

/// Generates flows, one arrival at a time.
pub(crate) enum Traffic {
    Poisson(Poisson),
    /// Flows with their start times, in descending order.
    List(Vec<(Time, NewFlow)>),
    /// Flows that wait for each other.
    Graph(DependentFlows),
    /// Connections that start a flow after their last.
    Closed(ClosedConnections),
    /// Clients that wait for responses.
    Requests(ClosedLoop),
    /// Several workloads; of arrivals at one time, the first workload's is first.
    Several(Vec<Traffic>),
}

/// Seeds of further workloads are this far apart. The first has the seed of the run, so that others
/// do not change its flows.
const SEED_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Traffic {
    /// The traffic of a workload over `hosts` hosts that starts at `start`.
    pub(crate) fn new(workload: &Workload, hosts: u32, start: Time, seed: u64) -> Traffic {
        let random = Random::new(seed, Stream::Traffic);
        match workload {
            Workload::Flows(flows) => match flows.connections {
                Connections::ClosedLoop(each) => {
                    Traffic::Closed(ClosedConnections::new(flows, each, hosts, start, random))
                }
                _ => Traffic::Poisson(Poisson::new(flows, hosts, start, random)),
            },
            Workload::Long(long) => Traffic::list(long_flows(long, hosts, start, random)),
            Workload::Replay(flows) => Traffic::list(replayed(flows, start)),
            Workload::Collective(collective) => {
                Traffic::Graph(DependentFlows::new(collective.graph(), start))
            }
            Workload::FlowGraph(graph) => Traffic::Graph(DependentFlows::new(graph.clone(), start)),
            Workload::Requests(requests) => {
                Traffic::Requests(ClosedLoop::new(requests, start, random))
            }
            Workload::Several(parts) => {
                let one = |(part, n): (&NamedWorkload, u64)| {
                    let seed = seed.wrapping_add(SEED_STEP.wrapping_mul(n));
                    Traffic::new(&part.workload, hosts, start, seed)
                };
                Traffic::Several(parts.iter().zip(0..).map(one).collect())
            }
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
            Traffic::Graph(graph) => graph.next_at(),
            Traffic::Closed(closed) => closed.next_at(),
            Traffic::Requests(requests) => requests.next_at(),
            Traffic::Several(parts) => {
                parts.iter().map(Traffic::next_at).min().unwrap_or(Time::NEVER)
            }
        }
    }

    /// Appends the flows of the due arrival to `flows`, and schedules the next arrival.
    pub(crate) fn arrive(&mut self, flows: &mut Vec<NewFlow>) {
        match self {
            Traffic::Poisson(poisson) => poisson.arrive(flows),
            Traffic::List(list) => flows.extend(list.pop().map(|(_, flow)| flow)),
            Traffic::Graph(graph) => flows.extend(graph.arrive()),
            Traffic::Closed(closed) => flows.extend(closed.arrive()),
            Traffic::Requests(requests) => flows.extend(requests.arrive()),
            Traffic::Several(parts) => {
                let first = parts.iter_mut().zip(0..).min_by_key(|(part, n)| (part.next_at(), *n));
                let Some((part, workload)) = first else { return };
                let before = flows.len();
                part.arrive(flows);
                flows[before..].iter_mut().for_each(|flow| flow.workload = workload);
            }
        }
    }
}

impl Traffic {
    /// True if flows can start because others have finished.
    pub(crate) fn is_reactive(&self) -> bool {
        match self {
            Traffic::Graph(_) | Traffic::Closed(_) | Traffic::Requests(_) => true,
            Traffic::Several(parts) => parts.iter().any(Traffic::is_reactive),
            Traffic::Poisson(_) | Traffic::List(_) => false,
        }
    }

    /// Notes the end of a flow, which may make others due at once.
    pub(crate) fn finished(&mut self, now: Time, flow: &Flow) {
        match self {
            Traffic::Graph(graph) => graph.finished(now, flow.index),
            Traffic::Closed(closed) => closed.finished(now, flow.index),
            Traffic::Requests(requests) => {
                requests.finished(now, (flow.from, flow.to), flow.index);
            }
            Traffic::Several(parts) => {
                if let Some(part) = parts.get_mut(usize::from(flow.workload)) {
                    part.finished(now, flow);
                }
            }
            Traffic::Poisson(_) | Traffic::List(_) => {}
        }
    }

    /// The requests that were answered, in the order of the workloads and of their ends.
    pub(crate) fn requests(&self) -> Vec<RequestRecord> {
        match self {
            Traffic::Requests(requests) => requests.records().to_vec(),
            Traffic::Several(parts) => {
                let of_part = |(workload, part): (u16, &Traffic)| {
                    part.requests().into_iter().map(move |r| RequestRecord { workload, ..r })
                };
                (0..).zip(parts).flat_map(of_part).collect()
            }
            Traffic::Poisson(_) | Traffic::List(_) | Traffic::Graph(_) | Traffic::Closed(_) => {
                Vec::new()
            }
        }
    }
}

/// Arrivals at exponential intervals.
pub(crate) struct Poisson {
    random: Random,
    next_at: Time,
    mean_gap: f64,
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
                SeededPattern::Pairs(clients.clone(), shuffled(servers, &mut random))
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
        let mut poisson = Poisson { random, next_at: start, mean_gap, sizes, pattern, connections };
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
        flows.push(NewFlow {
            from,
            to,
            size,
            connections: self.connections,
            workload: 0,
            index: 0,
        });
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

/// The servers of pairs in the order of their clients, drawn once.
fn shuffled(servers: &[u32], random: &mut Random) -> Vec<u32> {
    let mut servers = servers.to_vec();
    random.shuffle(&mut servers);
    servers
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
        (at, NewFlow { from, to, size, connections: Connections::PerFlow, workload: 0, index: 0 })
    };
    pairs.into_iter().map(flow).collect()
}

fn replayed(flows: &[ReplayFlow], start: Time) -> Vec<(Time, NewFlow)> {
    let flow = |f: &ReplayFlow| {
        let connections = Connections::PerFlow;
        let ReplayFlow { from, to, size, .. } = *f;
        (start + f.at, NewFlow { from, to, size, connections, workload: 0, index: 0 })
    };
    flows.iter().map(flow).collect()
}

/// Persistent connections between pairs of hosts, of each workload its own.
#[derive(Default)]
pub(crate) struct ConnectionPools(BTreeMap<(u16, u32, u32), Pool>);

#[derive(Default)]
struct Pool {
    connections: Vec<u32>,
    turn: usize,
}

impl ConnectionPools {
    /// Connection for a flow. Those of a fixed number are opened on first use and take turns; of a
    /// pool the first idle one is taken.
    pub(crate) fn connection(&mut self, flow: &NewFlow, hosts: &mut Hosts) -> u32 {
        let ends = (flow.from, flow.to);
        let pool = self.0.entry((flow.workload, flow.from, flow.to));
        match flow.connections {
            Connections::PerFlow => hosts.open(ends, flow.workload, Lifetime::OneFlow),
            Connections::Persistent(size) => {
                let pool = pool.or_default();
                if pool.connections.len() < size as usize {
                    pool.connections.push(hosts.open(ends, flow.workload, Lifetime::Persistent));
                }
                let connection = pool.connections[pool.turn % pool.connections.len()];
                pool.turn = (pool.turn + 1) % size.max(1) as usize;
                connection
            }
            Connections::ClosedLoop(size) => {
                let pool = pool.or_default();
                let open = || hosts.open(ends, flow.workload, Lifetime::Persistent);
                pool.connections.resize_with((size as usize).max(pool.connections.len()), open);
                pool.connections[(flow.index % size.max(1)) as usize]
            }
            Connections::Pool => {
                let pool = pool.or_default();
                let idle = pool.connections.iter().find(|&&id| hosts.is_idle(id)).copied();
                idle.unwrap_or_else(|| {
                    let id = hosts.open(ends, flow.workload, Lifetime::Persistent);
                    pool.connections.push(id);
                    id
                })
            }
        }
    }
}

#[cfg(test)]
mod tests;
