//! All metrics at one moment, as plain numbers.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Health, seconds};

/// Everything that is counted. Names of verdicts, events, tables and states are snake case, those
/// of `enum counter` in the shared header.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Counters")]
pub struct Snapshot {
    /// Packets by service; packets of no service come under the name `none`.
    pub services: Vec<ServiceCounters>,
    /// Backends by service.
    pub backends: Vec<BackendCounters>,
    /// Health checks by target.
    pub checks: Vec<CheckCounters>,
    /// The flow table, the token table, and whatever else fills up.
    pub tables: Vec<Table>,
    /// The balancers.
    pub members: MembersCounters,
    /// The other balancers.
    pub peers: Vec<Peer>,
    /// The balancer's own health.
    pub health: Health,
    /// The configuration.
    pub reloads: Reloads,
    /// The program and the kernel.
    pub build: Build,
}

/// A service's packets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceCounters {
    /// Its name.
    pub name: String,
    /// Each packet has one.
    pub verdicts: Vec<Verdict>,
    /// Events on packets' way.
    pub events: Vec<Event>,
}

/// Packets that went one way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// Its name.
    pub name: String,
    /// Packets since the maps were made.
    pub packets: u64,
    /// Their bytes, from the IP header on.
    pub bytes: u64,
}

/// Something that happens on a packet's way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// Its name.
    pub name: String,
    /// The number since the maps were made.
    pub count: u64,
}

/// A backend of a service.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BackendCounters {
    /// The service's name.
    pub service: String,
    /// Its own name.
    pub name: String,
    /// Packets sent to it since the maps were made.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// True if it is in use.
    pub up: bool,
    /// True if it gets no new connections.
    pub draining: bool,
    /// As configured.
    pub weight: u32,
}

/// A target's health checks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckCounters {
    /// Its name.
    pub target: String,
    /// Good answers.
    pub passed: u64,
    /// Bad ones.
    pub failed: u64,
    /// The duration of all together, in seconds.
    #[serde(with = "seconds")]
    #[schemars(with = "f64")]
    pub spent: Duration,
}

/// A table with room for so many entries and no more.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "TableCounters")]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Entries that it can hold.
    pub capacity: u64,
    /// Live entries by their state's name.
    pub used: Vec<(String, u64)>,
}

/// The balancers that share the work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MembersCounters {
    /// The number of balancers, this one among them.
    pub count: u64,
    /// The part of all tokens that this one owns, 0 to 1.
    pub ring_share: f64,
    /// Changes of the list.
    pub changes: u64,
    /// True if the list is up to date; a static list always is.
    pub store_up: bool,
    /// Changes of backends that all balancers share and this one uses.
    #[serde(default)]
    pub shared_used: u64,
    /// Those that it cannot use.
    #[serde(default)]
    pub shared_ignored: u64,
}

/// Another balancer, as its answers to heartbeats show it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PeerCounters")]
pub struct Peer {
    /// Its name.
    pub name: String,
    /// True if it answers.
    pub up: bool,
    /// The time between a heartbeat and its answer, in seconds; none without an answer.
    #[serde(with = "seconds::option", default)]
    #[schemars(with = "Option<f64>")]
    pub round_trip: Option<Duration>,
    /// Heartbeats that were not answered.
    pub missed: u64,
    /// Messages with another secret.
    pub refused: u64,
    /// True if its seed, services or backends are not this balancer's.
    pub differs: bool,
}

/// Reloads of the configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reloads {
    /// Reloads that took effect.
    pub succeeded: u64,
    /// Reloads that left all as it was.
    pub failed: u64,
    /// The time at which the configuration in force was loaded, in seconds since 1970.
    #[serde(with = "seconds")]
    #[schemars(with = "f64")]
    pub loaded: Duration,
}

/// The program and the kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Build {
    /// The daemon's version.
    pub version: String,
    /// The kernel's release.
    pub kernel: String,
}
