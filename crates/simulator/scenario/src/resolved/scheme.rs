//! The switches' load balancing.

use std::collections::BTreeMap;

use heddle_policy::{
    CongaConfig, CongaPrimeConfig, DrillConfig, FlowcutConfig, HulaConfig, LetItFlowConfig,
    MpHulaConfig, MpHulaRules, MptcpTablesConfig, ShuttleConfig, ShuttleRules,
};
use heddle_units::Time;
use serde::{Deserialize, Deserializer, Serialize};

use super::Cflb;

/// A load-balancing scheme. Each knows its own keys only.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", schemars(rename = "Scheme", tag = "kind", deny_unknown_fields, transform = crate::by_name::also_by_name))]
pub enum Scheme<C = Cflb, E = External> {
    /// Hash of the 5-tuple.
    Ecmp,
    /// ECMP with ns-2's flow hash, by which sums of bytes collide: for comparison with results of
    /// ns-2.
    EcmpNs2,
    /// CONGA': ECMP for each flowlet across pods, CONGA inside a pod (HULA section 6). Needs pods.
    CongaPrime(CongaPrimeConfig),
    /// CONGA (Alizadeh et al., SIGCOMM 2014). Needs a leaf-spine fabric.
    Conga(CongaConfig),
    /// A random next hop for each flowlet (Vanini et al., NSDI 2017).
    #[serde(rename = "letitflow")]
    LetItFlow(LetItFlowConfig),
    /// For each packet, the shortest of a few queues (Ghorbani et al., SIGCOMM 2017).
    Drill(DrillConfig),
    /// A flow keeps its path while it has bytes in flight (Bonato et al., arXiv 2506.21406).
    Flowcut(FlowcutConfig),
    /// A random next hop for each packet.
    Spray,
    /// HULA (Katta et al., SOSR 2016).
    Hula(HulaConfig),
    /// MP-HULA (Hernandez Benet et al., NetCompute 2018): HULA with the best k next hops, which the
    /// subflows of an MPTCP connection share out. For other traffic it is HULA.
    #[serde(deserialize_with = "mp_hula")]
    MpHula(MpHulaConfig),
    /// Shuttle (Heddle's own): MP-HULA with remote and local congestion kept apart.
    #[serde(deserialize_with = "shuttle")]
    Shuttle(ShuttleConfig),
    /// CFLB (Detal et al., Computer Networks 2013): elephants are placed on paths, which their
    /// ports name; the rest is hashed.
    Cflb(C),
    /// A scheme in a shared library, outside of the simulator.
    External(E),
    /// No fabric: one big switch between the hosts, a bound for every scheme.
    Ideal,
}

/// MP-HULA's parameters, with the place of each mistake: the tables of a flattened struct are read
/// one after another.
fn mp_hula<'de, D: Deserializer<'de>>(from: D) -> Result<MpHulaConfig, D::Error> {
    #[derive(Deserialize)]
    struct Layers(MptcpTablesConfig, MpHulaRules, HulaConfig);
    Layers::deserialize(from).map(|Layers(tables, rules, hula)| MpHulaConfig {
        tables,
        rules,
        hula,
    })
}

/// As [`mp_hula`].
fn shuttle<'de, D: Deserializer<'de>>(from: D) -> Result<ShuttleConfig, D::Error> {
    #[derive(Deserialize)]
    struct Layers(MptcpTablesConfig, ShuttleRules, HulaConfig);
    Layers::deserialize(from).map(|Layers(tables, rules, hula)| ShuttleConfig {
        tables,
        rules,
        hula,
    })
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
