//! The central service of CFLB (Detal et al., Computer Networks 2013, sections 4.2.1 and 4.2.2): it knows a fabric, the cipher and the
//! key. Hosts ask it which header fields make the subflows of a connection take different paths, and which path a flow takes.
//!
//! - [`Service`] answers, by [`heddle_path_encoder`]; its questions and answers ([`v1`]) are made from `proto/heddle/path/v1/path.proto`.
//! - [`serve`] puts it on sockets: gRPC with its health protocol, and the same operations as JSON over HTTP, with `GET /healthz` and
//!   `GET /metrics`. Neither asks who is there, and neither encrypts: they listen on the loopback interface unless told otherwise.
//! - [`client`] is for programs that ask.
//!
//! Promises: the key is in no answer, error, log or metric. What callers can make the service hold is bounded ([`Limits`]): connections end
//! with their leases. Nothing panics on bad input. The library emits `tracing` events and installs no subscriber.

mod answer;
mod ask;
pub mod client;
mod grpc;
mod http;
mod links;
mod metrics;
mod options;
mod problem;
mod serve;
mod service;
mod sockets;
mod words;

/// The messages, gRPC's server and its client, made from the `.proto` file.
#[allow(missing_docs, clippy::all, clippy::needless_pass_by_value)]
pub mod v1 {
    tonic::include_proto!("heddle.path.v1");
}

pub use options::{Clock, Limits, Options};
pub use problem::{Code, Problem};
pub use serve::{Bound, ServeError, serve};
pub use service::Service;
