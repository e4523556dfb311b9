//! Multipath TCP (RFC 8684, and RFC 6824): several subflows, each a TCP connection, carry one stream.
//!
//! A connection opens by MP_CAPABLE; its client opens the further subflows by MP_JOIN and proves with HMACs that it is the
//! same. Every segment of data says where its bytes belong in the connection's stream, every acknowledgement what of the stream
//! has arrived, and the receive window is the connection's.
//!
//! | What | Where |
//! | --- | --- |
//! | Handshakes, keys and proofs | [`Handshake`], RFC 8684 sections 3.1 and 3.2 |
//! | Data sequence mapping, reassembly, window | RFC 8684 section 3.3 |
//! | Which subflow takes the next data | [`Scheduler`] |
//! | Congestion windows that hang together | [`Coupling`] |
//! | Data of a subflow that timed out, sent again on another | RFC 8684 section 3.3.6 |
//!
//! Left out: subflows that the server opens, address advertisement, backup priorities, fallback to TCP, closing (there is no
//! FIN here), and checksums. Options take no bytes of a segment, as with TCP here.

mod client;
mod config;
mod context;
mod coupled;
mod ends;
mod handshake;
mod mapping;
mod secrets;
mod server;
mod stream;
mod subflow;
mod subflows;
#[cfg(test)]
mod tests;

pub use config::{Coupling, JoinTime, MptcpConfig, Parameters, Scheduler};
pub use ends::MptcpEnds;
pub use handshake::Handshake;

use context::Context;
