//! The JSON bodies of heddled's admin API, as types: heddled serialises them, and every program
//! that asks it deserialises the same ones.
//!
//! Unknown fields of a request are errors; a client ignores those of a reply. Their doc comments
//! are the descriptions in the OpenAPI document.

mod bodies;
mod counters;
mod health;
pub mod seconds;
mod terms;
pub mod token;

pub use bodies::{
    BackendChange, BackendStatus, Backends, Connection, Connections, Explained, Filter,
    HealthStatus, Heartbeats, MemberStatus, Members, MptcpOption, NewBackend, NewBackends, Packet,
    QuicPacket, Reloaded, Scope, Selection, ServiceStatus, Services, SharedChange, SharedChanges,
    SharedKind, Status,
};
pub use counters::{
    BackendCounters, Build, CheckCounters, Event, MembersCounters, Peer, Reloads, ServiceCounters,
    Snapshot, Table, Verdict,
};
pub use health::Health;
pub use terms::{BackendEntry, BackendState, Forwarding, Liveness, MptcpMode, Protocol, State};
