//! TCP as two state machines, without clocks or I/O: a [`Sender`] at the client, a [`Receiver`] at the server.
//!
//! Time is an argument; output is asked for. The caller's loop, after any input, is: send what
//! [`Sender::next_segment`] gives until it gives `None`, and call [`Sender::on_timer`] once [`Sender::deadline`] has passed.
#![no_std]

extern crate alloc;

mod config;
mod segment;

pub use config::{Control, Recovery, TcpConfig};
pub use segment::{HEADER, Kind, MIN_FRAME, SackBlock, Segment, Stamp};
