//! TCP, MPTCP and Ultra Ethernet's transport as state machines without clocks or I/O: a [`Sender`] at the client, a
//! [`Receiver`] at the server.
//!
//! Time is an argument, and output is polled. The caller's loop, after any input: send what
//! [`Sender::next_segment`] returns until it returns `None`, and call [`Sender::on_timer`] once
//! [`Sender::deadline`] has passed. The configuration is an argument too, so that connections can
//! share it; a connection must always be given the same one.
//!
//! Data flows one way, in a stream to which [`Sender::write`] appends; there is no FIN. No segment
//! causes a panic, and a transfer without loss does not allocate.
//!
//! | Mechanism | Source |
//! | --- | --- |
//! | Slow start, congestion avoidance, idle restart | RFC 5681, RFC 3465 with L = 1, RFC 6928 |
//! | CUBIC, DCTCP | RFC 9438 (without HyStart++), RFC 8257 |
//! | Loss recovery | RFC 6675 or RFC 6582; limited transmit, RFC 3042; RACK-TLP, RFC 8985 |
//! | Selective acknowledgements | RFC 2018; with RACK-TLP of duplicates, RFC 2883 |
//! | Retransmission timer, time stamps | RFC 6298, RFC 7323 |
//! | Explicit congestion notification | RFC 3168 |
//! | Pacing | Linux |
//! | Ultra Ethernet's transport ([`uet`]) | the public uet-htsim; arXiv 2404.01630, 2508.08906 |
//!
//! Not modelled: undo of a spurious recovery, Nagle's algorithm, and the 16-bit window field with
//! its scaling (the window has 32 bits).
//!
//! # Example
//!
//! A transfer over a network with a one-way delay of 50 us and no losses:
//!
//! ```
//! use heddle_transport::{Connection, Group, TcpConfig};
//! use heddle_units::Time;
//!
//! let groups = [Group::Tcp(TcpConfig::default())];
//! let mut tcp = Connection::new(&groups, 0, || 0);
//! let mut now = Time::ZERO;
//! tcp.write(now, 10_000);
//! while !tcp.is_idle() {
//!     let mut acks = Vec::new();
//!     while let Some((path, segment)) = tcp.next_segment(&groups, now) {
//!         acks.extend(tcp.on_segment(&groups, now + Time::micros(50), path, &segment));
//!     }
//!     now += Time::micros(100);
//!     for ack in acks {
//!         tcp.on_ack(&groups, now, 0, &ack);
//!     }
//! }
//! assert_eq!(tcp.delivered(), 10_000);
//! assert_eq!(now, Time::micros(200), "a handshake and one window");
//! ```
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod config;
mod congestion;
mod connection;
mod counters;
mod handshake;
pub mod mptcp;
mod receiver;
mod rtt;
mod segment;
mod sender;
mod state;
mod tcp;
#[cfg(test)]
mod tests;
pub mod uet;

pub use config::{
    Control, LossDetection, MeasuredWindow, Pacing, Recovery, ReorderingWindow, TcpConfig,
};
pub use connection::{Connection, Group};
pub use counters::{ConnectionCounters, SenderCounters};
pub use receiver::Receiver;
pub use segment::{
    Ecn, HEADER_BYTES, Kind, MIN_FRAME_BYTES, Options, PREAMBLE_AND_GAP_BYTES, SackBlock, Segment,
    Timestamp,
};
pub use sender::Sender;
pub use state::{Agreed, SenderState};
