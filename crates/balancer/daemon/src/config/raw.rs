//! The file as it is written: every key and its default. The doc comments become the descriptions
//! of the JSON Schema. Nothing is checked here but types.

mod access;
mod membership;
mod service;
mod settings;

pub(super) use access::Access;
pub use heddle_balancer_api::{BackendEntry as Backend, BackendState};
pub(super) use membership::{Etcd, Member, Membership, Steering};
pub(super) use service::{
    ClosedPorts, Echo, Forwarding, Health, HealthKind, HealthThrough, Quic, Service, Unparsable,
};
pub(super) use settings::{Balancer, Drain, Invalid, Limits, Tables, Timeouts};

use schemars::JsonSchema;
use serde::Deserialize;

/// heddled's configuration.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// This machine.
    pub(super) balancer: Balancer,
    /// Table sizes. Memory is taken at the start; a change needs a restart with empty tables.
    #[serde(default)]
    pub(super) tables: Tables,
    /// Timeouts of table entries.
    #[serde(default)]
    pub(super) timeouts: Timeouts,
    /// Draining backends.
    #[serde(default)]
    pub(super) drain: Drain,
    /// Limits on work that unauthenticated packets cause.
    #[serde(default)]
    pub(super) limits: Limits,
    /// All balancers of the cluster, this one included, where they do not change. Default: this one
    /// alone.
    #[serde(default)]
    pub(super) balancers: Vec<Member>,
    /// Discovery of the other balancers, instead of `[[balancers]]`.
    pub(super) membership: Option<Membership>,
    /// Messages between balancers; needed where there are several.
    pub(super) steering: Option<Steering>,
    /// Services.
    #[serde(default)]
    pub(super) service: Vec<Service>,
}
