//! The central service of CFLB (Detal et al., Computer Networks 2013, sections 4.2.1 and 4.2.2). It
//! has the fabric, the cipher and the key. Hosts request header fields that make the subflows of a
//! connection take different paths, and the path of a flow.
//!
//! - [`Service`] implements the operations with [`heddle_path_encoder`]. Requests and responses
//!   ([`v1`]) are generated from `proto/heddle/path/v1/path.proto`.
//! - [`serve()`] listens: gRPC with its health and reflection protocols, and the same operations as
//!   JSON over HTTP, with `GET /healthz`, `GET /metrics` and `GET /openapi.json`. Encryption
//!   ([`TlsFiles`]) and bearer tokens ([`Tokens`]) are options: the default addresses are on the
//!   loopback interface.
//! - [`client`] connects by gRPC.
//!
//! Guarantees: the key is in no response, error, log or metric. The state that callers can create
//! is limited ([`Limits`]): connections end with their leases. Invalid input causes no panic. The
//! library emits `tracing` events and installs no subscriber.

mod blocking;
pub mod client;
mod format;
mod grpc;
mod http;
mod links;
mod metrics;
mod openapi;
mod options;
mod problem;
mod request;
mod response;
mod serve;
mod service;
mod shutdown;
mod state;
mod tls;
mod tokens;

/// The messages, the gRPC server and its client, generated from the `.proto` file.
#[allow(missing_docs, clippy::all, clippy::needless_pass_by_value)]
pub mod v1 {
    tonic::include_proto!("heddle.path.v1");
}

pub use options::{Clock, Limits, Options, epoch};
pub use problem::{Code, Problem};
pub use serve::{Bound, ServeError, serve};
pub use service::Service;
pub use tls::{TlsError, TlsFiles};
pub use tokens::{TokenError, Tokens};
