//! Multipath TCP (RFC 8684, and RFC 6824): several subflows, each a TCP connection, carry one
//! stream.
//!
//! A connection is opened by MP_CAPABLE. The client opens further subflows by MP_JOIN and
//! authenticates them with HMACs. Every data segment carries a data sequence mapping, every
//! acknowledgement a data ACK, and the receive window is the connection's.
//!
//! | Mechanism | Source or item |
//! | --- | --- |
//! | Handshakes, keys and HMACs | [`Handshake`], RFC 8684 sections 3.1 and 3.2 |
//! | Data sequence mapping, reassembly, window | RFC 8684 section 3.3 |
//! | Packet scheduler | [`Scheduler`] |
//! | Coupled congestion control | [`Coupling`] |
//! | Reinjection after a timeout | RFC 8684 section 3.3.6 |
//! | Opportunistic retransmission, penalising | [`FullWindow`] |
//!
//! Not modelled: subflows opened by the server, address advertisement, backup priorities, fallback
//! to TCP, connection close (there is no FIN) and checksums. Options take no bytes of a segment, as
//! in this crate's TCP.

mod client;
mod config;
mod connection;
mod context;
mod mapping;
mod path_states;
mod reinject_queue;
mod secrets;
mod server;
mod status;
mod stream;
mod subflow;
mod subflows;
#[cfg(test)]
mod tests;

pub use crate::config::Coupling;
pub use crate::handshake::Handshake;
pub use config::{FullWindow, JoinTime, MptcpConfig, Parameters, Scheduler};
pub(crate) use connection::MptcpConnection;

use context::Context;
