//! Multipath TCP (RFC 8684, and RFC 6824): several subflows, each a TCP connection, carry one stream.

mod config;
mod handshake;

pub use config::{Coupling, JoinTime, MptcpConfig, Scheduler};
pub use handshake::Handshake;
