//! The requests of the admin socket, and their replies.

use heddle_balancer_api::{
    BackendChange, Backends, Connections, Explained, Filter, HealthStatus, Members, NewBackends,
    Packet, Reloaded, Selection, Services, SharedChanges, Snapshot, Status,
};
use serde::Serialize;

/// The most connections that are answered where a request has no limit.
pub(super) const DEFAULT_LIMIT: u32 = 50;

/// A request to the daemon.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// The daemon's state.
    Status,
    /// The balancer's own health.
    Health,
    /// All services.
    Services,
    /// Backends of one service or of all.
    Backends(Selection),
    /// Further backends, all of them or none, until the next reload or start reads the file's.
    Add(NewBackends),
    /// Another weight, or draining, for a backend, in one service or in all that have it.
    Change {
        /// Only in this service; none: in all that have the backend.
        service: Option<String>,
        /// The backend's name.
        backend: String,
        /// The change.
        change: BackendChange,
    },
    /// A backend is removed, in one service or in all that have it, until the next reload or start
    /// reads the file's.
    Remove {
        /// Only from this service; none: from all that have the backend.
        service: Option<String>,
        /// The backend's name.
        backend: String,
    },
    /// A change of all balancers that share an etcd cluster, until it is taken back.
    Shared(SharedEdit),
    /// The changes that all balancers share.
    Changes,
    /// Entries of the flow table.
    Connections {
        /// The entries that are wanted.
        filter: Filter,
        /// The most that are answered.
        limit: u32,
    },
    /// The way of a packet, and its reasons. Changes nothing.
    Explain(Packet),
    /// All counters.
    Counters,
    /// Reads the configuration again.
    Reload,
    /// The balancers that share the work.
    Members,
}

/// The answer to a [`Request`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Reply {
    /// The daemon's state.
    Status(Status),
    /// The balancer's own health.
    Health(HealthStatus),
    /// All services.
    Services(Services),
    /// The backends that were asked for; after a change, those changed; after a removal, as they
    /// were before.
    Backends(Backends),
    /// Changes that all balancers share: all, or those that were taken back.
    Changes(SharedChanges),
    /// Entries of the flow table.
    Connections(Connections),
    /// The way of the packet.
    Explained(Explained),
    /// All counters.
    Counters(Box<Snapshot>),
    /// The configuration was read.
    Reloaded(Reloaded),
    /// The balancers that share the work.
    Members(Members),
}

/// A change of the backends of all balancers that share an etcd cluster.
#[derive(Clone, Debug, PartialEq)]
pub enum SharedEdit {
    /// Further backends, all of them or none.
    Add(NewBackends),
    /// Another weight, or draining, for a backend.
    Change {
        /// The backend.
        of: Named,
        /// The change.
        change: BackendChange,
    },
    /// A backend is removed.
    Remove(Named),
    /// Changes are taken back: the file counts again.
    Reset(Selection),
}

/// A backend, in one service or in all that have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Only in this service; none: in all that have the backend.
    pub service: Option<String>,
    /// The backend's name.
    pub backend: String,
}
