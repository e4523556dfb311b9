//! `[scheme]`.

use std::collections::BTreeMap;

use heddle_units::{Bytes, Time};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use super::Cflb;

/// A load-balancing scheme. Each knows its own keys only.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "kind", deny_unknown_fields, transform = also_by_name)]
pub(crate) enum Scheme {
    /// Hash of the 5-tuple.
    Ecmp,
    /// ECMP with ns-2's flow hash, by which sums of bytes collide: for comparison with results of ns-2.
    EcmpNs2,
    /// CONGA': ECMP for each flowlet across pods, CONGA inside a pod (HULA section 6). Needs pods.
    CongaPrime(CongaPrime),
    /// CONGA (Alizadeh et al., SIGCOMM 2014). Needs a leaf-spine fabric.
    Conga(Conga),
    /// A random next hop for each flowlet (Vanini et al., NSDI 2017).
    #[serde(rename = "letitflow")]
    LetItFlow(LetItFlow),
    /// For each packet, the shortest of a few queues (Ghorbani et al., SIGCOMM 2017).
    Drill(Drill),
    /// A flow keeps its path while it has bytes in flight (Bonato et al., arXiv 2506.21406).
    Flowcut(Flowcut),
    /// A random next hop for each packet.
    Spray,
    /// HULA (Katta et al., SOSR 2016).
    Hula(Hula),
    /// MP-HULA (Hernandez Benet et al., NetCompute 2018): HULA with the best k next hops, which the subflows of an MPTCP
    /// connection share out. For other traffic it is HULA.
    MpHula(MpHula),
    /// Shuttle (Heddle's own): MP-HULA with remote and local congestion kept apart.
    Shuttle(Shuttle),
    /// CFLB (Detal et al., Computer Networks 2013): elephants are placed on paths, which their ports name; the rest is hashed.
    Cflb(Cflb),
    /// A scheme in a shared library, outside of the simulator.
    External(External),
    /// No fabric: one big switch between the hosts, a bound for every scheme.
    Ideal,
}

/// A table with a `kind` may be its name alone, unless it has a key without a default.
pub(super) fn also_by_name(schema: &mut Schema) {
    let Some(Value::Array(kinds)) = schema.get_mut("oneOf") else { return };
    let names = kinds.iter().filter_map(|kind| kind.pointer("/properties/kind/const").cloned());
    let names: Vec<Value> = names.filter(|name| name != "external").collect();
    kinds.push(json!({ "type": "string", "description": "With its defaults.", "enum": names }));
}

/// Slots of a flowlet table: 64 K (CONGA section 3.4).
const FLOWLET_SLOTS: u32 = 65_536;

/// Defaults are those of CONGA section 3.6, but for the flowlet gap, which is that of HULA's experiments.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CongaPrime {
    /// Silence longer than this ends a flowlet. Default: 100us (HULA section 6 uses one gap for all schemes).
    pub(crate) flowlet_gap: Time,
    /// Slots of a switch's flowlet table, rounded up to a power of two. Default: 65536 (CONGA section 3.4).
    pub(crate) flowlet_slots: u32,
    /// Time constant of the utilisation estimator. Default: 160us.
    /// A switch shifts instead of dividing: it runs with the next power of two in nanoseconds (400us as 524us).
    pub(crate) tau: Time,
    /// Bits of a congestion metric, Q: 1 to 3. Default: 3.
    pub(crate) metric_bits: u8,
    /// A remote metric older than this counts as 0. Default: 10ms (CONGA section 3.3).
    pub(crate) metric_age: Time,
    /// Switches that detect the flowlets of packets across pods. Default: "every-switch".
    pub(crate) detection: Detection,
}

impl Default for CongaPrime {
    fn default() -> CongaPrime {
        let Conga { flowlet_slots, tau, metric_bits, metric_age, .. } = Conga::default();
        let flowlet_gap = Time::micros(100);
        let detection = Detection::EverySwitch;
        CongaPrime { flowlet_gap, flowlet_slots, tau, metric_bits, metric_age, detection }
    }
}

/// Switches that detect the flowlets of packets across pods.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Detection {
    /// Each detects and counts them itself.
    EverySwitch,
    /// The source ToR alone: it hashes 5-tuple and flowlet number once, and the other switches use its hash (HULA section 6).
    SourceTor,
}

/// Defaults are those of CONGA section 3.6: Q = 3, tau = 160 us, a flowlet gap of 500 us.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Conga {
    /// Silence longer than this ends a flowlet. Default: 500us.
    pub(crate) flowlet_gap: Time,
    /// Slots of a switch's flowlet table, rounded up to a power of two. Default: 65536 (CONGA section 3.4).
    pub(crate) flowlet_slots: u32,
    /// Time constant of the utilisation estimator. Default: 160us.
    /// A switch shifts instead of dividing: it runs with the next power of two in nanoseconds (400us as 524us).
    pub(crate) tau: Time,
    /// Bits of a congestion metric, Q: 1 to 3. Default: 3.
    pub(crate) metric_bits: u8,
    /// A remote metric older than this counts as 0. Default: 10ms (CONGA section 3.3).
    pub(crate) metric_age: Time,
}

impl Default for Conga {
    fn default() -> Conga {
        Conga {
            flowlet_gap: Time::micros(500),
            flowlet_slots: FLOWLET_SLOTS,
            tau: Time::micros(160),
            metric_bits: 3,
            metric_age: Time::millis(10),
        }
    }
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LetItFlow {
    /// Silence longer than this ends a flowlet. Default: 500us (the paper's, and CONGA's).
    pub(crate) flowlet_gap: Time,
    /// Slots of a switch's flowlet table, rounded up to a power of two. Default: 65536 (CONGA section 3.4).
    pub(crate) flowlet_slots: u32,
}

impl Default for LetItFlow {
    fn default() -> LetItFlow {
        LetItFlow { flowlet_gap: Time::micros(500), flowlet_slots: FLOWLET_SLOTS }
    }
}

/// Defaults are DRILL(2, 1), the paper's choice.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Drill {
    /// Ports drawn at random for each packet, d. Default: 2.
    pub(crate) samples: u8,
    /// Best ports remembered, m. Default: 1.
    pub(crate) memory: u8,
}

impl Default for Drill {
    fn default() -> Drill {
        Drill { samples: 2, memory: 1 }
    }
}

/// Defaults of drains are those of the paper's artifact on fat-trees.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Flowcut {
    /// Flows that a switch tracks, rounded up to a power of two, at least 4. Default: 65536 (as many as flowlets; the paper sizes tables by flows in flight).
    pub(crate) flow_slots: u32,
    /// A flow whose last packet was sent longer ago may take another path, acknowledged or not. Default: 5ms (longer than the queues of a path, and
    /// shorter than a retransmission timeout; the paper gives none).
    pub(crate) lost_after: Time,
    /// A flow is drained if its flowcut's mean round-trip time is more than this many times the least of the flow; 0: never. Default: 4 (the artifact).
    pub(crate) drain_ratio: u16,
    /// Bytes that a flowcut has sent before it is drained. Default: "20KB" (the artifact).
    pub(crate) drain_after: Bytes,
}

impl Default for Flowcut {
    fn default() -> Flowcut {
        Flowcut {
            flow_slots: FLOWLET_SLOTS,
            lost_after: Time::millis(5),
            drain_ratio: 4,
            drain_after: Bytes::kb(20),
        }
    }
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Hula {
    /// Silence longer than this ends a flowlet. Default: 100us (HULA section 6).
    pub(crate) flowlet_gap: Time,
    /// Slots of a switch's flowlet table, rounded up to a power of two. Default: 65536 (CONGA section 3.4; HULA gives none).
    pub(crate) flowlet_slots: u32,
    /// T_p, time between two probes of a ToR. Default: 200us (HULA section 6).
    pub(crate) probe_period: Time,
    /// T_fail: a best hop that no probe has refreshed for longer gives way to any other. Default: 3 probe periods (HULA
    /// gives none; two lost probes are forgiven).
    pub(crate) fail_after: Option<Time>,
    /// Time constant of the utilisation estimator. Default: 2 probe periods (HULA section 4.2: at least twice the period).
    /// A switch shifts instead of dividing: it runs with the next power of two in nanoseconds (400us as 524us).
    pub(crate) tau: Option<Time>,
    /// Bits of the probe's utilisation field, 1 to 16. Default: 8 (HULA section 4.2).
    pub(crate) util_bits: u8,
    /// Condition on which a probe replaces the best hop. Default: "refresh".
    pub(crate) update: Update,
    /// True if a switch avoids its own ports that are down. Default: false (HULA learns of failures from missing probes).
    pub(crate) local_detection: bool,
}

impl Default for Hula {
    fn default() -> Hula {
        Hula {
            flowlet_gap: Time::micros(100),
            flowlet_slots: FLOWLET_SLOTS,
            probe_period: Time::micros(200),
            fail_after: None,
            tau: None,
            util_bits: 8,
            update: Update::Refresh,
            local_detection: false,
        }
    }
}

/// HULA's update rule.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Update {
    /// Lower, stale, or from the best hop itself (HULA section 5.3).
    Refresh,
    /// Lower or stale, as in the paper's listing.
    Listing,
}

/// MP-HULA: HULA's parameters and its own.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct MpHula {
    #[serde(flatten)]
    pub(crate) multipath: Multipath,
    #[serde(flatten)]
    pub(crate) hula: Hula,
}

impl<'de> Deserialize<'de> for MpHula {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<MpHula, D::Error> {
        #[derive(Deserialize)]
        struct Layers(Multipath, Hula);
        Layers::deserialize(from).map(|Layers(multipath, hula)| MpHula { multipath, hula })
    }
}

/// Parameters that MP-HULA adds to HULA's.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Multipath {
    /// Next hops that a switch remembers for each ToR, k; 1 is HULA. Default: 2 (as many as a switch of the paper's fabric has).
    pub(crate) best_k: u8,
    /// Subflows that a ToR can associate with their connections, rounded up to a power of two. Default: 65536
    /// (as many as flowlets; the paper's section 2.6 reckons with 600 K).
    pub(crate) association_slots: u32,
    /// Silence after which a ToR forgets a subflow that was never closed. Default: 1s (more than any retransmission timeout
    /// in a data centre; the paper gives none).
    pub(crate) association_idle: Time,
    /// Rows of a switch's table of the next hops that each connection's subflows use, rounded up to a power of two.
    /// Default: 65536 (as many as flowlets; the paper gives none).
    pub(crate) mapping_rows: u32,
    /// Treatment of connections of several subflows, the long ones: may they take the best hop? Default: "alike".
    pub(crate) long_flows: LongFlows,
}

impl Default for Multipath {
    fn default() -> Multipath {
        Multipath {
            best_k: 2,
            association_slots: 65_536,
            association_idle: Time::secs(1),
            mapping_rows: 65_536,
            long_flows: LongFlows::Alike,
        }
    }
}

/// Treatment of connections of several subflows: may they take the best hop?
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LongFlows {
    /// Yes, as all others.
    Alike,
    /// They leave it to others, while they have another hop.
    YieldBest,
    /// As all others, and further subflows leave the hop that the first one takes.
    Apart,
}

/// Shuttle: HULA's parameters and its own.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Shuttle {
    #[serde(flatten)]
    pub(crate) weighing: Weighing,
    /// Without `update`, and with another default of `tau`: 100us, half of a probe period.
    #[serde(flatten)]
    pub(crate) hula: Hula,
}

impl<'de> Deserialize<'de> for Shuttle {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Shuttle, D::Error> {
        #[derive(Deserialize)]
        struct Layers(Weighing, Hula);
        Layers::deserialize(from).map(|Layers(weighing, hula)| Shuttle { weighing, hula })
    }
}

/// Parameters that Shuttle adds to HULA's.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Weighing {
    /// Next hops that a switch remembers for each ToR, k. Default: 2, as MP-HULA.
    pub(crate) best_k: u8,
    /// Subflows that a ToR can associate with their connections, rounded up to a power of two. Default: 65536, as MP-HULA.
    pub(crate) association_slots: u32,
    /// Silence after which a ToR forgets a subflow that was never closed. Default: 1s, as MP-HULA.
    pub(crate) association_idle: Time,
    /// Rows of a switch's table of the next hops that each connection's subflows use, rounded up to a power of two. Default: 65536, as MP-HULA.
    pub(crate) mapping_rows: u32,
    /// The own queue that counts as a full link, rounded up to a power of two. Default: "65.536KB" (about 45 full packets, the buffer's sixth).
    pub(crate) full_queue: Bytes,
    /// Full links that figures in probes and costs of hops tell apart: 1, 2, 4 or 8. 1: figures are the links' utilisation alone, as HULA's; else
    /// their queues count too. Default: 2.
    pub(crate) range: u16,
    /// Random draws, of which the one with the least loaded port counts: 1 or 2. Default: 1.
    pub(crate) draws: u8,
    /// Rule by which a flowlet takes one of the hops. Default: "weighted".
    pub(crate) choice: ShuttleChoice,
    /// Hops of the subflows of one connection. Default: "apart".
    pub(crate) subflows: ShuttleSubflows,
    /// A ToR moves a running flowlet of an MPTCP subflow to a hop whose queue is shorter by more than this, which reorders packets. Default: "0B", it
    /// stays.
    pub(crate) reroute_above: Bytes,
}

impl Default for Weighing {
    fn default() -> Weighing {
        let Multipath { best_k, association_slots, association_idle, mapping_rows, .. } =
            Multipath::default();
        Weighing {
            best_k,
            association_slots,
            association_idle,
            mapping_rows,
            full_queue: Bytes(65_536),
            range: 2,
            draws: 1,
            choice: ShuttleChoice::Weighted,
            subflows: ShuttleSubflows::Apart,
            reroute_above: Bytes(0),
        }
    }
}

/// Rule by which a flowlet takes one of the hops.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ShuttleChoice {
    /// At random, by weight.
    Weighted,
    /// The least cost.
    Least,
}

/// Hops of the subflows of one connection.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ShuttleSubflows {
    /// Each subflow avoids the hops of the others.
    Apart,
    /// Each but the first does, as in MP-HULA.
    FirstFree,
    /// Each chooses alone.
    Alike,
}

/// A scheme in a shared library.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct External {
    /// The shared library, written in C, Rust or any other language by the header `heddle_scheme.h`. A relative path is sought from the
    /// scenario's folder.
    pub(crate) library: String,
    /// Its parameters, whose names and defaults are the library's own. Default: none.
    #[serde(default)]
    pub(crate) parameters: BTreeMap<String, Parameter>,
}

/// A parameter of a library: a whole number from 0; true or false, which is 1 or 0; or a quantity with its unit, which is a number of
/// nanoseconds ("100us"), bytes ("64KB") or bits per second ("10Gbps").
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Parameter {
    /// A whole number.
    Number(u64),
    /// True or false.
    Flag(bool),
    /// A quantity with its unit.
    Quantity(String),
}
