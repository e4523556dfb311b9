//! The switches' load balancing.

use std::collections::BTreeMap;

use heddle_policy::{
    CongaConfig, CongaPrimeConfig, DrillConfig, FlowcutConfig, HulaConfig, LetItFlowConfig,
    MpHulaConfig, ShuttleConfig,
};
use heddle_units::Time;
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
    CongaPrime(CongaPrimeConfig),
    /// CONGA on a leaf-spine fabric.
    Conga(CongaConfig),
    /// A random next hop for each flowlet.
    #[serde(rename = "letitflow")]
    LetItFlow(LetItFlowConfig),
    /// Per packet, the shortest of a few queues.
    Drill(DrillConfig),
    /// A path for as long as a flow has bytes in flight.
    Flowcut(FlowcutConfig),
    /// A random next hop for each packet.
    Spray,
    /// Probes and flowlets.
    Hula(HulaConfig),
    /// HULA with the best k next hops, which the subflows of an MPTCP connection share out.
    MpHula(MpHulaConfig),
    /// MP-HULA with a random choice by present congestion.
    Shuttle(ShuttleConfig),
    /// Paths named by ports: elephants are placed, the rest is hashed.
    Cflb(Cflb),
    /// A scheme in a shared library.
    External(External),
    /// No fabric: one big switch between the hosts, a bound for every scheme.
    Ideal,
}

impl Scheme {
    /// Names of the schemes that `heddle-switch` runs (bpf/switch).
    pub const IN_EBPF: [&str; 7] =
        ["ecmp", "letitflow", "conga", "hula", "mp-hula", "shuttle", "cflb"];
    /// Names of the schemes that have a P4 program (the folder p4).
    pub const IN_P4: [&str; 5] = ["ecmp", "hula", "mp-hula", "shuttle", "cflb"];

    /// The scheme's name, as a scenario file writes it; of a library's scheme the name that it
    /// gives itself.
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

/// A scheme in a shared library, as whoever can load it has found it
/// ([`Files::scheme`](crate::Files::scheme)).
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
