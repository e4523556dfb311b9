//! A scenario after every default is filled in and every check has passed. It serialises, to be shown.

use heddle_transport::TcpConfig;
use heddle_transport::mptcp::MptcpConfig;
use heddle_units::{Bytes, Rate, Time};
use serde::Serialize;

use crate::transport_serde::{MptcpConfigDef, TcpConfigDef};

mod cflb;
mod fabric_file;

pub use cflb::{Cflb, CflbCipher, CflbConstants, CflbField, CflbNetwork, CflbRules, Placing};
pub use fabric_file::FabricFile;

/// One simulation, except for its seed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scenario {
    /// Title: the purpose of the scenario, in a line.
    pub title: String,
    /// Seeds; each is an independent run.
    pub seeds: Vec<u64>,
    /// The network.
    pub fabric: Fabric,
    /// The hosts' protocol, unless a workload has its own.
    pub transport: Transport,
    /// The switches' load balancing.
    pub scheme: Scheme,
    /// The traffic.
    pub workload: Workload,
    /// The measurement and its times.
    pub measure: Measure,
    /// Failures and recoveries, in order of time.
    pub events: Vec<Event>,
}

/// The hosts' protocol and its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Transport {
    /// TCP.
    Tcp(#[serde(with = "TcpConfigDef")] TcpConfig),
    /// Multipath TCP.
    Mptcp(#[serde(with = "MptcpConfigDef")] MptcpConfig),
}

impl Scenario {
    /// Protocols of the parts of the workload, in their order.
    pub fn transports(&self) -> Vec<Transport> {
        match &self.workload {
            Workload::Several(parts) => {
                parts.iter().map(|part| part.transport.unwrap_or(self.transport)).collect()
            }
            _ => vec![self.transport],
        }
    }

    /// The protocol of a workload, by its number.
    pub fn transport_of(&self, workload: u16) -> &Transport {
        match &self.workload {
            Workload::Several(parts) => {
                let part = parts.get(usize::from(workload));
                part.and_then(|part| part.transport.as_ref()).unwrap_or(&self.transport)
            }
            _ => &self.transport,
        }
    }
}

impl Transport {
    /// Subflows of a connection, at least 1.
    pub fn subflows(&self) -> u32 {
        match self {
            Transport::Tcp(_) => 1,
            Transport::Mptcp(mptcp) => u32::from(mptcp.subflows.max(1)),
        }
    }

    /// Parameters of a TCP connection, or of each subflow of an MPTCP connection.
    pub fn tcp(&self) -> &TcpConfig {
        match self {
            Transport::Tcp(tcp) => tcp,
            Transport::Mptcp(mptcp) => &mptcp.tcp,
        }
    }
}

/// A network of hosts, switches and links.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fabric {
    /// The graph: what is connected to what.
    pub graph: Graph,
    /// Links that are down from the start, so that routing knows (as pairs of node names).
    pub failed: Vec<(String, String)>,
    /// Time that the control plane takes to route around a link that fails (or to use it again) during a run.
    pub convergence: Time,
    /// Buffer of a switch port.
    pub port: PortLimits,
    /// Buffer of a host's own port.
    pub host_port: PortLimits,
}

/// A drop-tail buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PortLimits {
    /// Most bytes waiting, the packet in transmission included.
    pub bytes: Bytes,
    /// Most packets waiting, the packet in transmission not included.
    pub packets: Option<u32>,
    /// A packet that finds more bytes than this waiting is marked (ECN).
    pub mark_above: Option<Bytes>,
}

/// Nodes and links, before routing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Graph {
    /// Nodes; links name them by index. Hosts first, then ToRs, then the tiers above.
    pub nodes: Vec<Node>,
    /// Full-duplex links.
    pub links: Vec<Link>,
    /// Paths that packets may take.
    pub routing: Routing,
}

impl Graph {
    /// Interfaces of each host: the links of the first. At least 1.
    pub fn interfaces(&self) -> u32 {
        let of_first = self.links.iter().filter(|link| link.ends.0.min(link.ends.1) == 0);
        of_first.count().max(1) as u32
    }
}

/// Paths that packets may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Routing {
    /// The shortest of those that climb tiers, then descend, and never climb again.
    #[default]
    UpDown,
    /// The shortest of all: where servers relay (BCube), a path climbs as often as it must.
    Shortest,
}

/// A host or a switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Node {
    /// Unique name, as in `host-3`, `tor-1`, `agg-2`, `core-1`.
    pub name: String,
    /// 0 for a host, 1 for a ToR, 2 and more above.
    pub tier: u8,
    /// The pod it is in, where the fabric has pods (hosts, ToRs and aggregation switches).
    pub pod: Option<u16>,
}

/// A full-duplex link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Link {
    /// The ends, as indices of [`Graph::nodes`].
    pub ends: (u32, u32),
    /// Each direction's rate.
    pub rate: Rate,
    /// Propagation time.
    pub delay: Time,
}

/// A load-balancing scheme and its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// Hash of the 5-tuple.
    Ecmp,
    /// CONGA': hash of the 5-tuple and the flowlet number across pods, CONGA inside a pod.
    CongaPrime(Conga),
    /// CONGA on a leaf-spine fabric.
    Conga(Conga),
    /// A random next hop for each flowlet.
    #[serde(rename = "letitflow")]
    LetItFlow(Flowlets),
    /// Per packet, the shortest of a few queues.
    Drill(Drill),
    /// A random next hop for each packet.
    Spray,
    /// Probes and flowlets.
    Hula(Hula),
    /// HULA with the best k next hops, which the subflows of an MPTCP connection share out.
    MpHula(MpHula),
    /// MP-HULA with a random choice by present congestion.
    Shuttle(Shuttle),
    /// Paths named by ports: elephants are placed, the rest is hashed.
    Cflb(Cflb),
    /// No fabric: one big switch between the hosts, a bound for every scheme.
    Ideal,
}

impl Scheme {
    /// The scheme's name, as a scenario file writes it.
    pub fn name(&self) -> &'static str {
        match self {
            Scheme::Ecmp => "ecmp",
            Scheme::CongaPrime(_) => "conga-prime",
            Scheme::Conga(_) => "conga",
            Scheme::LetItFlow(_) => "letitflow",
            Scheme::Drill(_) => "drill",
            Scheme::Spray => "spray",
            Scheme::Hula(_) => "hula",
            Scheme::MpHula(_) => "mp-hula",
            Scheme::Shuttle(_) => "shuttle",
            Scheme::Cflb(_) => "cflb",
            Scheme::Ideal => "ideal",
        }
    }
}

/// A flowlet table's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Flowlets {
    /// Silence longer than this ends a flowlet.
    pub gap: Time,
    /// Slots of a switch's table.
    pub slots: u32,
}

/// CONGA's parameters (Alizadeh et al., SIGCOMM 2014, section 3 and table 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Conga {
    /// Flowlets.
    pub flowlets: Flowlets,
    /// Time constant of the utilisation estimator.
    pub tau: Time,
    /// Bits of a congestion metric (Q).
    pub metric_bits: u8,
    /// A remote metric older than this counts as 0.
    pub metric_age: Time,
}

/// DRILL(d, m) (Ghorbani et al., SIGCOMM 2017).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Drill {
    /// Ports drawn at random for each packet.
    pub samples: u8,
    /// Best ports remembered.
    pub memory: u8,
}

/// HULA's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Hula {
    /// Flowlets.
    pub flowlets: Flowlets,
    /// T_p.
    pub probe_period: Time,
    /// T_fail.
    pub fail_after: Time,
    /// Time constant of the utilisation estimator.
    pub tau: Time,
    /// Bits of the utilisation field.
    pub util_bits: u8,
    /// The update rule.
    pub update: HulaUpdate,
    /// True if a switch avoids its own ports that are down.
    pub local_detection: bool,
}

/// Condition on which a probe replaces the best hop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HulaUpdate {
    /// Lower, stale, or from the best hop itself.
    #[default]
    Refresh,
    /// Lower or stale, as in the paper's listing.
    Listing,
}

/// MP-HULA's parameters (Hernandez Benet et al., NetCompute 2018).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MpHula {
    /// HULA's.
    #[serde(flatten)]
    pub hula: Hula,
    /// Next hops that a switch remembers for each ToR, at least 1.
    pub best_k: u8,
    /// Subflows that a ToR can associate with their connections.
    pub association_slots: u32,
    /// Silence after which a ToR forgets a subflow.
    pub association_idle: Time,
    /// Rows of a switch's table of the next hops that each connection's subflows use.
    pub mapping_rows: u32,
    /// Treatment of connections of several subflows: may they take the best hop?
    pub long_flows: LongFlows,
}

/// Shuttle's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Shuttle {
    /// HULA's; the update rule is not used.
    #[serde(flatten)]
    pub hula: Hula,
    /// Next hops that a switch remembers for each ToR, at least 1.
    pub best_k: u8,
    /// Subflows that a ToR can associate with their connections.
    pub association_slots: u32,
    /// Silence after which a ToR forgets a subflow.
    pub association_idle: Time,
    /// Rows of a switch's table of the next hops that each connection's subflows use.
    pub mapping_rows: u32,
    /// The own queue that counts as a full link; a switch rounds it up to a power of two.
    pub full_queue: Bytes,
    /// Random draws, of which the one with the least loaded port counts.
    pub draws: u8,
    /// Rule by which a flowlet takes one of the hops.
    pub choice: ShuttleChoice,
    /// Hops of the subflows of one connection.
    pub subflows: ShuttleSubflows,
}

/// Rule by which a flowlet takes one of the hops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShuttleChoice {
    /// At random, by weight.
    #[default]
    Weighted,
    /// The least cost.
    Least,
}

/// Hops of the subflows of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShuttleSubflows {
    /// Each subflow avoids the hops of the others.
    #[default]
    Apart,
    /// Each but the first does, as in MP-HULA.
    FirstFree,
    /// Each chooses alone.
    Alike,
}

/// Treatment of connections of several subflows: may they take the best hop?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LongFlows {
    /// Yes, as all others.
    #[default]
    Alike,
    /// They leave it to others, while they have another hop.
    YieldBest,
    /// As all others, and further subflows leave the hop that the first one takes.
    Apart,
}

/// The traffic.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// Flows that arrive by a Poisson process.
    Flows(Flows),
    /// Every host sends without end to one other.
    Long(Long),
    /// Flows listed one by one, in order of time.
    Replay(Vec<ReplayFlow>),
    /// Flows that wait for each other.
    Collective(Collective),
    /// Several of the other kinds at once.
    Several(Vec<NamedWorkload>),
}

/// An all-reduce in a ring: of n hosts, 2 (n - 1) steps, in each of which every host sends one of n parts of its vector to its successor.
/// A host's step begins when it has received the part of the step before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Collective {
    /// Bytes of each host's vector, at least as many as hosts.
    pub size: Bytes,
    /// The hosts in the order of the ring, at least 2.
    pub hosts: Vec<u32>,
}

impl Collective {
    /// Number of steps.
    pub fn steps(&self) -> u64 {
        2 * (self.hosts.len() as u64).saturating_sub(1)
    }

    /// Number of flows: one a host and step.
    pub fn flows(&self) -> u64 {
        self.steps() * self.hosts.len() as u64
    }

    /// Bytes of the part that the host of a rank sends in a step. Parts differ by a byte at most.
    pub fn part(&self, rank: u64, step: u64) -> Bytes {
        let count = (self.hosts.len() as u64).max(1);
        let part = (rank + count - step % count) % count;
        Bytes(self.size.0 / count + u64::from(part < self.size.0 % count))
    }
}

/// One of several workloads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NamedWorkload {
    /// Unique name.
    pub name: String,
    /// Protocol of its connections; `None` is [`Scenario::transport`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// The traffic; not [`Workload::Several`].
    pub workload: Workload,
}

impl Workload {
    /// Its parts, in the order of the file: itself, unless it is several.
    pub fn parts(&self) -> Vec<&Workload> {
        match self {
            Workload::Several(parts) => parts.iter().map(|part| &part.workload).collect(),
            one => vec![one],
        }
    }

    /// Its parts that arrive by a Poisson process.
    pub fn flows(&self) -> Vec<&Flows> {
        self.parts().into_iter().filter_map(Workload::poisson).collect()
    }

    fn poisson(&self) -> Option<&Flows> {
        match self {
            Workload::Flows(flows) => Some(flows),
            _ => None,
        }
    }

    /// Names of the parts; one empty name if there are not several.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Workload::Several(parts) => parts.iter().map(|part| part.name.as_str()).collect(),
            _ => vec![""],
        }
    }

    /// Connections that carry the flows of a part.
    pub fn connections(&self, part: u16) -> Connections {
        match self.parts().get(usize::from(part)) {
            Some(Workload::Flows(flows)) => flows.connections,
            Some(Workload::Collective(_)) => Connections::Persistent(1),
            _ => Connections::PerFlow,
        }
    }
}

/// Flows that arrive by a Poisson process.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Flows {
    /// Flow sizes.
    pub sizes: SizeDistribution,
    /// Offered bytes per second over [`Flows::capacity`].
    pub load: f64,
    /// Rate that a load of 1 stands for.
    pub capacity: Rate,
    /// Traffic pattern: senders and receivers.
    pub pattern: Pattern,
    /// Connections that carry the flows.
    pub connections: Connections,
}

/// Sizes of flows, in bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SizeDistribution {
    /// A name for reports.
    pub name: String,
    /// (bytes, cumulative probability), both rising; interpolated linearly. One point is a fixed size.
    pub points: Vec<(f64, f64)>,
}

/// Traffic pattern: senders and receivers. Hosts are indices among the hosts, from 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// A client and a server are drawn for each flow, a client never its own server.
    Sets {
        /// Hosts that send.
        clients: Vec<u32>,
        /// Hosts that receive.
        servers: Vec<u32>,
    },
    /// Each host sends to one other, each receives from one other (drawn from the seed).
    Permutation,
    /// Each client sends to one server, each server receives from one client (drawn from the seed). Equal numbers of both.
    Pairs {
        /// Hosts that send.
        clients: Vec<u32>,
        /// Hosts that receive.
        servers: Vec<u32>,
    },
    /// Requests arrive for a random receiver; `senders` other hosts answer at once with a flow each.
    Incast {
        /// Senders of one request.
        senders: u32,
    },
}

/// Connections that carry the flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Connections {
    /// A pool of this many connections between each client and server; a flow takes the next and waits for those before it.
    Persistent(u32),
    /// A connection for each flow, with a handshake.
    PerFlow,
    /// Persistent connections between each client and server; a flow takes one that is idle, and opens another if none is.
    Pool,
}

/// Long flows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Long {
    /// Sender and receiver of each flow; `None` is a permutation of all hosts drawn from the seed.
    pub pairs: Option<Vec<(u32, u32)>>,
    /// Starts are spread evenly at random over this time.
    pub start_within: Time,
}

/// One flow of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ReplayFlow {
    /// Start time.
    pub at: Time,
    /// Sending host.
    pub from: u32,
    /// Receiving host.
    pub to: u32,
    /// Bytes.
    pub size: Bytes,
}

/// The measurement and its times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Measure {
    /// Probes alone run this long before the first flow.
    pub probe_warm_up: Time,
    /// Flows that start in this time after that are not measured.
    pub warm_up: Time,
    /// End of the measurement.
    pub until: Until,
    /// No run lasts longer than this in simulated time.
    pub time_limit: Time,
    /// Time between two samples of queues and links; `None` samples nothing.
    pub sample_every: Option<Time>,
}

/// End of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Until {
    /// This many flows have started since the warm-up; the run ends when all of them have finished (later ones keep the load
    /// up meanwhile).
    Flows(u64),
    /// This much time since the warm-up; the run ends then.
    Time(Time),
}

/// Something that happens to the fabric.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Event {
    /// Time from the start of the run.
    pub at: Time,
    /// The change.
    pub change: Change,
    /// Links concerned, as indices of [`Graph::links`].
    pub links: Vec<u32>,
}

/// A change of a link's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// It goes down; packets on it are lost.
    Fail,
    /// It comes back up.
    Recover,
    /// It goes on with impairments; routing does not notice.
    Degrade(Impairment),
    /// Its impairments end.
    Repair,
}

impl Change {
    /// True if the link is up afterwards, false if down; `None` if that does not change.
    pub fn is_up(self) -> Option<bool> {
        match self {
            Change::Fail => Some(false),
            Change::Recover => Some(true),
            Change::Degrade(_) | Change::Repair => None,
        }
    }
}

/// Impairments of a link. `None` leaves what was before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Impairment {
    /// Its rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Its propagation delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Time>,
    /// Probability with which it loses a packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<Share>,
    /// Share of flows of which it loses every packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blackhole: Option<Share>,
}

/// A share of all, 0 to 1, in steps of 2^-32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share(u64);

impl Share {
    const ALL: f64 = (1u64 << 32) as f64;

    /// The share; `None` of a number that is not from 0 to 1.
    pub fn new(share: f64) -> Option<Share> {
        (0.0..=1.0).contains(&share).then_some(Share((share * Share::ALL + 0.5) as u64))
    }

    /// True for this share of all numbers.
    pub fn holds(self, number: u32) -> bool {
        u64::from(number) < self.0
    }

    /// As a number from 0 to 1.
    pub fn get(self) -> f64 {
        self.0 as f64 / Share::ALL
    }
}

impl Serialize for Share {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(self.get())
    }
}
