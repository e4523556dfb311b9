//! A scenario file as it is written: every key, its default, and the default's source.
//!
//! The doc comments here become the descriptions of the JSON Schema. Nothing is checked but types
//! and units.

mod cflb;
mod event;
mod fabric;
mod fabric_file;
mod graph_file;
mod measure;
mod scheme;
mod transport;
mod workload;

pub(crate) use cflb::{Cflb, CflbConstants, CflbField, CflbNetwork, Sender, Steering};
pub(crate) use event::{Direction, Event};
pub(crate) use fabric::{
    BCube, Dragonfly, Fabric, FatTree, GraphFormat, GraphPath, GroupRouting, Intermediate,
    LeafSpine, LinkChange, Options, Red, Shape, SharedBuffer, TwoPod, Vl2,
};
pub(crate) use fabric_file::{Addresses, FabricFile};
pub(crate) use graph_file::{FileLink, FileNode, GraphFile};
pub(crate) use measure::Measure;
pub(crate) use scheme::{External, Parameter, Scheme};
pub(crate) use transport::Transport;
pub(crate) use workload::{
    Collective, Connections, Flows, Long, Operation, Pattern, Requests, Sizes, TrafficPart,
    Workload,
};

use std::collections::BTreeMap;

use heddle_config::OneOrMore;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Entropy;

/// A Heddle scenario: one simulation, except for its seed.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    /// Title: the purpose of the scenario, in a line. Default: the file's name.
    pub(crate) title: Option<String>,
    /// Seeds; each is an independent run. Default: [1].
    #[serde(default = "one_seed")]
    pub(crate) seeds: Vec<u64>,
    /// The network.
    pub(crate) fabric: Fabric,
    /// The hosts' protocol. Default: TCP with its defaults.
    #[serde(default)]
    pub(crate) transport: Transport,
    /// The switches' load balancing. A scheme whose defaults suit may be given by its name alone:
    /// `scheme = "hula"`.
    pub(crate) scheme: Scheme,
    /// The hosts' load balancing: `entropy = "reps"`. Default: "flow", none.
    #[serde(default)]
    pub(crate) entropy: Entropy,
    /// The traffic: one table `[workload]`, or several, each `[[workload]]` with a `name`.
    pub(crate) workload: OneOrMore<TrafficPart>,
    /// The measurement and its times.
    #[serde(default)]
    pub(crate) measure: Measure,
    /// Failures and recoveries during the run, in order of time.
    #[serde(default)]
    pub(crate) event: Vec<Event>,
    /// Subjects of a sweep, each a table `[[variant]]` with a `name` and the keys that it sets:
    /// `scheme = "ecmp"`, `transport.pacing = true`. A table with a `kind` replaces the file's,
    /// keys of others are set one by one. A single run leaves variants out. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) variant: Vec<Variant>,
}

/// Keys of a variant, its name among them.
pub(crate) type Variant = BTreeMap<String, Value>;

fn one_seed() -> Vec<u64> {
    vec![1]
}
