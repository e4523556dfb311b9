//! TCP as two state machines, without clocks or I/O: a [`Sender`] at the client, a [`Receiver`] at the server.
//!
//! Time is an argument; output is asked for. The caller's loop, after any input, is: send what
//! [`Sender::next_segment`] gives until it gives `None`, and call [`Sender::on_timer`] once [`Sender::deadline`] has passed.
//! The configuration is an argument too, so that thousands of connections share one; a connection must see the same one always.
//!
//! Data flows one way, in a stream that [`Sender::write`] makes longer; there is no FIN. Nothing here panics on any segment,
//! and the path that data takes without loss allocates nothing.
//!
//! | What | Source |
//! | --- | --- |
//! | Slow start, congestion avoidance, idle restart | RFC 5681, RFC 3465 with L = 1, RFC 6928 |
//! | CUBIC, DCTCP | RFC 9438 (without HyStart++), RFC 8257 |
//! | Recovery from loss | RFC 6675 or RFC 6582; limited transmit, RFC 3042 |
//! | Selective acknowledgements | RFC 2018 |
//! | Retransmission timer, time stamps | RFC 6298, RFC 7323 |
//! | Explicit congestion notification | RFC 3168 |
//!
//! Left out, on purpose: RACK and tail loss probes, undoing a spurious recovery, pacing, Nagle's algorithm, and window scaling's
//! 16 bits (the window field is wide enough).
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod config;
mod congestion;
mod connection;
mod handshake;
pub mod mptcp;
mod receiver;
mod rtt;
mod segment;
mod sender;
#[cfg(test)]
mod tests;

pub use config::{Control, Recovery, TcpConfig};
pub use connection::{Connection, ConnectionCounters, TcpConnection};
pub use receiver::Receiver;
pub use segment::{
    Ecn, HEADER_BYTES, Kind, MIN_FRAME_BYTES, Options, SackBlock, Segment, Timestamp,
};
pub use sender::{Sender, SenderCounters};
