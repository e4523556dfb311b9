//! The switches' load balancing.

use std::collections::BTreeMap;

use heddle_units::{Bytes, Time};
use serde::Serialize;

use super::Cflb;

/// A load-balancing scheme and its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// Hash of the 5-tuple.
    Ecmp,
    /// ns-2's hash of addresses and flow identifier.
    EcmpNs2,
    /// CONGA': hash of the 5-tuple and the flowlet number across pods, CONGA inside a pod.
    CongaPrime(CongaPrime),
    /// CONGA on a leaf-spine fabric.
    Conga(Conga),
    /// A random next hop for each flowlet.
    #[serde(rename = "letitflow")]
    LetItFlow(Flowlets),
    /// Per packet, the shortest of a few queues.
    Drill(Drill),
    /// A path for as long as a flow has bytes in flight.
    Flowcut(Flowcut),
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
    /// A scheme in a shared library.
    External(External),
    /// No fabric: one big switch between the hosts, a bound for every scheme.
    Ideal,
}

impl Scheme {
    /// The scheme's name, as a scenario file writes it; of a library's scheme the name that it gives itself.
    pub fn name(&self) -> &str {
        match self {
            Scheme::External(external) => &external.name,
            Scheme::Ecmp => "ecmp",
            Scheme::EcmpNs2 => "ecmp-ns2",
            Scheme::CongaPrime(_) => "conga-prime",
            Scheme::Conga(_) => "conga",
            Scheme::LetItFlow(_) => "letitflow",
            Scheme::Drill(_) => "drill",
            Scheme::Flowcut(_) => "flowcut",
            Scheme::Spray => "spray",
            Scheme::Hula(_) => "hula",
            Scheme::MpHula(_) => "mp-hula",
            Scheme::Shuttle(_) => "shuttle",
            Scheme::Cflb(_) => "cflb",
            Scheme::Ideal => "ideal",
        }
    }
}

/// A scheme in a shared library, as whoever can load it has found it ([`Files::scheme`](crate::Files::scheme)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct External {
    /// The name that it gives itself.
    pub name: String,
    /// The library's path.
    pub library: String,
    /// Digest of the library's bytes, as text.
    pub digest: String,
    /// Its parameters: numbers, nanoseconds, bytes, bits per second.
    pub parameters: BTreeMap<String, u64>,
    /// Time between two probes of a ToR, if it has probes.
    pub probe_period: Option<Time>,
    /// True if packets have MP-HULA's shim between ToRs.
    pub uses_shim: bool,
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

/// Parameters of CONGA' (HULA section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CongaPrime {
    /// CONGA's, inside a pod; flowlets across pods have the same gap and table.
    #[serde(flatten)]
    pub conga: Conga,
    /// The switches that detect the flowlets of packets across pods.
    pub detection: Detection,
}

/// The switches that detect the flowlets of packets across pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Detection {
    /// Each switch.
    EverySwitch,
    /// The source ToR alone, whose hash all switches use.
    SourceTor,
}

/// DRILL(d, m) (Ghorbani et al., SIGCOMM 2017).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Drill {
    /// Ports drawn at random for each packet.
    pub samples: u8,
    /// Best ports remembered.
    pub memory: u8,
}

/// Flowcut's parameters (Bonato et al., arXiv 2506.21406).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Flowcut {
    /// Flows that a switch tracks.
    pub flow_slots: u32,
    /// A flow whose last packet was sent longer ago may take another path.
    pub lost_after: Time,
    /// Ratio of mean and least round-trip time above which a flow is drained; `None` without drains.
    pub drain_ratio: Option<u16>,
    /// Bytes that a flowcut has sent before it is drained.
    pub drain_after: Bytes,
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
    /// Full links that figures and costs tell apart, a power of two. 1: figures are utilisation alone, without queues.
    pub range: u16,
    /// Random draws, of which the one with the least loaded port counts.
    pub draws: u8,
    /// Rule by which a flowlet takes one of the hops.
    pub choice: ShuttleChoice,
    /// Hops of the subflows of one connection.
    pub subflows: ShuttleSubflows,
    /// Bytes by which the queue towards a hop must exceed that of another before a ToR moves a running flowlet of a subflow. 0: it stays.
    pub reroute_above: Bytes,
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
