//! `[scheme]`.

use std::collections::BTreeMap;

use heddle_policy::{
    CongaConfig, CongaPrimeConfig, DrillConfig, FlowcutConfig, HulaConfig, LetItFlowConfig,
    MpHulaConfig, MpHulaRules, MptcpTablesConfig, ShuttleConfig, ShuttleRules,
};
use serde::{Deserialize, Deserializer, Serialize};

use super::Cflb;

/// A load-balancing scheme. Each knows its own keys only.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", schemars(tag = "kind", deny_unknown_fields, transform = crate::by_name::also_by_name))]
pub(crate) enum Scheme {
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
    Cflb(Cflb),
    /// A scheme in a shared library, outside of the simulator.
    External(External),
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

/// A scheme in a shared library.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct External {
    /// The shared library, written in C, Rust or any other language by the header
    /// `heddle_scheme.h`. A relative path is sought from the scenario's folder.
    pub(crate) library: String,
    /// Its parameters, whose names and defaults are the library's own. Default: none.
    #[serde(default)]
    pub(crate) parameters: BTreeMap<String, Parameter>,
}

/// A parameter of a library: a whole number from 0; true or false, which is 1 or 0; or a quantity
/// with its unit, which is a number of nanoseconds ("100us"), bytes ("64KB") or bits per second
/// ("10Gbps").
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(crate) enum Parameter {
    /// A whole number.
    Number(u64),
    /// True or false.
    Flag(bool),
    /// A quantity with its unit.
    Quantity(String),
}
