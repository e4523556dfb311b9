//! The network: hosts, switches and links.

use std::collections::{BTreeMap, BTreeSet};

use heddle_units::{Bytes, Rate, Time};
use serde::{Deserialize, Serialize};

use super::Share;

/// A network of hosts, switches and links.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fabric {
    /// The graph: what is connected to what.
    pub graph: Graph,
    /// Links that are down from the start, so that routing knows (as pairs of node names).
    pub failed: Vec<(String, String)>,
    /// Time that the control plane takes to route around a link that fails (or to use it again)
    /// during a run.
    pub convergence: Time,
    /// Buffer of a switch port.
    pub port: PortLimits,
    /// Buffer of a host's own port.
    pub host_port: PortLimits,
    /// The buffer that the ports of a switch share; `port.bytes` is its size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_buffer: Option<SharedBuffer>,
    /// Marking at switch ports by the average queue; `port.mark_above` is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub red: Option<Red>,
    /// The rate that limits of switch ports are given for, if they scale with a port's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale_buffers: Option<Rate>,
    /// Bytes at the beginning of each flow that switches send before others; `None` if ports have
    /// one queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority_bytes: Option<Bytes>,
    /// True if switches send control packets before data.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub control_first: bool,
    /// Data that does not fit into this many bytes at a switch port is cut to its header; `None` if
    /// full ports drop it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim_above: Option<Bytes>,
    /// Paths by an intermediate group; `None` if packets take the graph's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub non_minimal: Option<NonMinimal>,
}

impl Fabric {
    /// True if switches mark packets (ECN).
    pub fn marks(&self) -> bool {
        self.port.mark_above.is_some() || self.red.is_some()
    }

    /// Time in which a switch port sends a full buffer, at the rate of the fastest host unless buffers
    /// scale.
    pub fn drained(&self) -> Time {
        let rate = self.scale_buffers.unwrap_or_else(|| self.graph.fastest_host());
        rate.time_for(self.port.bytes)
    }

    /// Bytes that the switch port of a rate can hold.
    pub fn buffer_at(&self, rate: Rate) -> Bytes {
        self.scale_buffers.map_or(self.port.bytes, |_| rate.bytes_in(self.drained()))
    }
}

/// A buffer shared by dynamic thresholds (Choudhury and Hahne, IEEE/ACM Transactions on Networking
/// 1998).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SharedBuffer {
    /// Bytes of all ports of a switch together, the packets in transmission included.
    pub bytes: Bytes,
    /// A port accepts packets while it holds less than this factor of the free bytes.
    pub alpha: f64,
}

impl SharedBuffer {
    /// Bytes that each of `ports` holds if they overflow and the others are empty: alpha / (1 +
    /// alpha n) of the buffer.
    pub fn threshold(&self, ports: u32) -> Bytes {
        let share = self.alpha / (1.0 + self.alpha * f64::from(ports));
        Bytes((self.bytes.0 as f64 * share) as u64)
    }
}

/// Marking by random early detection (Floyd and Jacobson, IEEE/ACM Transactions on Networking
/// 1993).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Red {
    /// Average bytes waiting up to which no packet is marked.
    pub min: Bytes,
    /// Average bytes waiting above which every packet is marked.
    pub max: Bytes,
    /// Probability of a mark at `max`.
    pub probability: Share,
    /// Weight of a packet's queue in the average.
    pub weight: Share,
    /// From `max` to twice that the probability grows linearly to 1.
    pub gentle: bool,
    /// Packets are marked as their transmission starts, by what waits behind them in their queue.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub on_departure: bool,
    /// Ports to hosts mark, too.
    #[serde(skip_serializing_if = "Clone::clone")]
    pub to_hosts: bool,
}

/// Routing by an intermediate group: a pod of the graph (Kim et al., Technology-driven,
/// highly-scalable dragonfly topology, ISCA 2008, section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NonMinimal {
    /// The packets that take it.
    pub choice: PathChoice,
    /// The packets that have one intermediate group.
    pub draw: GroupDraw,
}

/// Packets that are routed by an intermediate group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathChoice {
    /// All to other groups (Valiant's algorithm).
    Valiant,
    /// Those for which the queue of the source router's port, times the path's links, is less than
    /// by the minimal path (UGAL-L).
    UgalL,
    /// The same by the queue of the path's first link between groups (UGAL-G).
    UgalG,
}

impl PathChoice {
    /// Name in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            PathChoice::Valiant => "valiant",
            PathChoice::UgalL => "ugal-l",
            PathChoice::UgalG => "ugal-g",
        }
    }
}

/// Packets that have one intermediate group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupDraw {
    /// Those of a flow.
    Flow,
    /// Each packet has its own.
    Packet,
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
    /// The rate of the fastest link at which a host sends to other servers.
    pub fn fastest_host(&self) -> Rate {
        self.rates(true).max().unwrap_or(Rate(1))
    }

    /// The rate of the slowest link at which a switch sends, but for those inside of servers.
    pub fn slowest_switch(&self) -> Rate {
        self.rates(false).min().unwrap_or(Rate(1))
    }

    /// Rates at which hosts send, or switches, outside of servers.
    fn rates(&self, of_hosts: bool) -> impl Iterator<Item = Rate> {
        let is_inner = self.inner_switches();
        let leads_out = move |link: &&Link| !is_inner[link.ends.0.max(link.ends.1) as usize];
        let is_one = move |node: u32| (self.nodes[node as usize].tier == 0) == of_hosts;
        self.links.iter().filter(leads_out).flat_map(move |link| {
            let ends = [link.ends.0, link.ends.1].into_iter().filter(move |end| is_one(*end));
            ends.map(|end| link.rate_from(end))
        })
    }

    /// Interfaces of each host: the links of the first. At least 1.
    pub fn interfaces(&self) -> u32 {
        let of_first = self.links.iter().filter(|link| link.ends.0.min(link.ends.1) == 0);
        of_first.count().max(1) as u32
    }

    /// For each node, true if it is a switch inside of a server, as an NVSwitch: it joins hosts and
    /// no switch, and each of these has links to other ToRs, too, that lead to other hosts.
    pub fn inner_switches(&self) -> Vec<bool> {
        let mut is_inner = vec![false; self.nodes.len()];
        if self.interfaces() == 1 {
            return is_inner;
        }
        let is_host = |node: u32| self.nodes[node as usize].tier == 0;
        let ends = |link: &Link| (link.ends.0.min(link.ends.1), link.ends.0.max(link.ends.1));
        let (of_hosts, others): (Vec<_>, Vec<_>) =
            self.links.iter().map(ends).partition(|(low, _)| is_host(*low));
        let mut joined: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for &(host, switch) in &of_hosts {
            joined.entry(switch).or_default().insert(host);
        }
        if others.is_empty() {
            let hosts = self.nodes.iter().take_while(|node| node.tier == 0).count();
            joined.retain(|_, of_switch| of_switch.len() < hosts);
        }
        for (low, high) in others {
            joined.remove(&low);
            joined.remove(&high);
        }
        let outside = of_hosts.iter().filter(|(_, switch)| !joined.contains_key(switch));
        let outside: BTreeSet<u32> = outside.map(|(host, _)| *host).collect();
        for (switch, of_switch) in &joined {
            is_inner[*switch as usize] = of_switch.is_subset(&outside);
        }
        is_inner
    }

    /// Cost of a link between switches where packets take the cheapest paths: 1, and under
    /// [`Routing::Minimal`] far more between pods.
    pub fn cost(&self, link: &Link) -> u32 {
        let pod = |node: u32| self.nodes[node as usize].pod;
        let is_between_pods = pod(link.ends.0) != pod(link.ends.1);
        if self.routing == Routing::Minimal && is_between_pods { BETWEEN_PODS } else { 1 }
    }
}

/// Cost of a link between pods: more than any path inside of a pod.
const BETWEEN_PODS: u32 = 1 << 16;

/// Links and links between pods of a path of some [cost](Graph::cost), and those between pods.
pub fn links_of_cost(cost: u32) -> (u32, u32) {
    let between_pods = cost / BETWEEN_PODS;
    (cost % BETWEEN_PODS + between_pods, between_pods)
}

/// Paths that packets may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Routing {
    /// The shortest of those that climb tiers, then descend, and never climb again.
    #[default]
    UpDown,
    /// The shortest of all: where servers relay (BCube), a path climbs as often as it must.
    Shortest,
    /// Those with the fewest links between pods, and of these the shortest: minimal routing in a
    /// dragonfly, whose groups are pods.
    Minimal,
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
    /// Rate of each direction, or of that from the first end to the second.
    pub rate: Rate,
    /// Rate from the second end to the first, where it is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverse_rate: Option<Rate>,
    /// Propagation time.
    pub delay: Time,
}

impl Link {
    /// A link of one rate in both directions.
    pub const fn new(ends: (u32, u32), rate: Rate, delay: Time) -> Link {
        Link { ends, rate, reverse_rate: None, delay }
    }

    /// Rate at which one of its ends sends.
    pub fn rate_from(&self, end: u32) -> Rate {
        if end == self.ends.1 { self.reverse_rate.unwrap_or(self.rate) } else { self.rate }
    }

    /// Sets the rate at which one of its ends sends.
    pub fn set_rate_from(&mut self, end: u32, rate: Rate) {
        let other = if end == self.ends.1 { self.ends.0 } else { self.ends.1 };
        let back = self.rate_from(other);
        let (forward, reverse) = if end == self.ends.1 { (back, rate) } else { (rate, back) };
        (self.rate, self.reverse_rate) = (forward, (reverse != forward).then_some(reverse));
    }
}
