//! The daemon's admin socket: HTTP/1.1 with JSON, which the document at `/openapi.json` describes.
//!
//! The socket is the owner's alone (mode 0600), and the kernel is asked who is at the other end:
//! only root and the daemon's own user are answered. A lock beside it says that its daemon lives,
//! so that what a dead one left behind is removed and a living one's is not. [`Client`] blocks, for
//! programs without a runtime.

mod calls;
mod client;
mod handler;
mod openapi;
mod problem;
mod protocol;
mod queries;
mod routes;
mod serve;

pub use client::{AskError, Client};
pub use handler::Handler;
pub use heddle_balancer_api::{
    BackendChange, BackendStatus, Backends, Connection, Connections, Explained, Filter,
    HealthStatus, Heartbeats, MemberStatus, Members, MptcpOption, NewBackend, NewBackends, Packet,
    QuicPacket, Reloaded, Scope, Selection, ServiceStatus, Services, SharedChange, SharedChanges,
    SharedKind, Status,
};
pub use heddle_daemon::socket::{BindError, Listener, bind};
pub use problem::{Problem, ProblemKind};
pub use protocol::{Named, Reply, Request, SharedEdit};
pub use serve::serve;

/// The OpenAPI 3.1 document of the socket's HTTP API, as JSON.
pub fn openapi() -> &'static str {
    &openapi::DOCUMENT
}
