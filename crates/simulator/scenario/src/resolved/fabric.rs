//! The network: hosts, switches and links.

use heddle_units::{Bytes, Rate, Time};
use serde::Serialize;

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
