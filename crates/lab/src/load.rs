//! Load on a service, with its interruptions measured: streams that last, and connections that come
//! and go.
//!
//! Each byte is checked in both directions. The same load on connections that pass no balancer says
//! what the machine and its kernel do by themselves.

mod arrivals;
mod datagrams;
mod stalls;
mod strangers;
mod streams;

pub use arrivals::{Arrivals, ArrivalsReport};
pub use datagrams::{Datagrams, DatagramsReport};
pub use strangers::Strangers;
pub use streams::{StreamReport, Streams, SubflowReport};

use std::io;
use std::time::Duration;

use serde::Serialize;

/// The repeated exchange of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pattern {
    /// Bytes from the client to the server.
    pub up: u32,
    /// Bytes from the server to the client.
    pub down: u32,
    /// Pause before the next exchange.
    pub pause: Duration,
}

impl Pattern {
    /// A segment in each direction, twenty times a second.
    pub const PING_PONG: Pattern = Pattern { up: 64, down: 64, pause: Duration::from_millis(50) };

    /// Uploads without a pause: with links of limited rate, all subflows always have something to
    /// send.
    pub const BULK: Pattern = Pattern { up: 512 * 1024, down: 64, pause: Duration::ZERO };
}

/// The end of a connection that should have gone on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Broken {
    /// A byte was not what was sent.
    Damaged(String),
    /// No byte came for the time limit.
    Silent,
    /// Reset, refused, closed by the peer, or any other error.
    Ended(String),
}

impl Broken {
    fn new(error: &io::Error) -> Broken {
        match error.kind() {
            io::ErrorKind::InvalidData => Broken::Damaged(error.to_string()),
            io::ErrorKind::TimedOut => Broken::Silent,
            _ => Broken::Ended(error.to_string()),
        }
    }
}
