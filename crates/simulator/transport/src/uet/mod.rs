//! Ultra Ethernet's transport (UET) between one client and one server: packets that may arrive in
//! any order, each acknowledged for itself.
//!
//! - A connection needs no handshake: the first packet opens it.
//! - Packets are numbered. An acknowledgement answers one of them, with all bytes in order and with
//!   a bitmap of the 64 packets up to it. Nothing follows from packets that are overtaken.
//! - A switch that trims cuts off the payload of a packet and forwards its header, which the server
//!   answers with a NACK: the packet is sent again as soon as the window allows it. Without trimming
//!   a packet without an answer is sent again after a timeout, or after a probe ([`probes`](self)).
//! - NSCC sets the window ([`nscc`](self)): by marks, and by delay. Or receivers grant credit: RCCC
//!   ([`rccc`](self)). Or both hold.
//! - A sender waits for its link before each packet ([`crate::Connection::waits_for_link`]), so that
//!   round-trip times do not contain the host's own queue.
//!
//! Sources: the public uet-htsim for rules and constants; SMaRTT-REPS (Bonato et al., arXiv
//! 2404.01630), on which NSCC is based; the overview of Ultra Ethernet by its authors (Hoefler et
//! al., arXiv 2508.08906). The specification itself was not at hand. Left out: losses by
//! the number of packets out of order, connections of several messages at once (messages follow each
//! other in one stream), and the numbers' end at 2^32.

mod config;
mod connection;
mod control;
mod nscc;
mod probes;
mod rccc;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use config::{UetConfig, UetParameters, WindowControl};
pub(crate) use connection::UetConnection;
