//! The reasons why a probe fails.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;

/// The failure of a probe.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// No program listens there.
    #[error("connection refused")]
    Refused,
    /// The connection was closed or reset before the answer.
    #[error("connection closed before the answer")]
    Closed,
    /// No answer in time.
    #[error("no answer in time")]
    Timeout,
    /// HTTP answered with another status code than those expected.
    #[error("HTTP status {status} instead of {expected}")]
    Status {
        /// The answer's.
        status: u16,
        /// That of a success, or several as in `200 to 299`.
        expected: String,
    },
    /// The answer is not HTTP.
    #[error("not HTTP: {0}")]
    NotHttp(String),
    /// The backend's own address answers, and the service's does not there.
    #[error("its address answers, and {vip} does not, by {way}: {reason}")]
    Forwarding {
        /// The service's address.
        vip: SocketAddr,
        /// The way that packets are forwarded.
        way: String,
        /// The failure of the probe there.
        reason: Box<Failure>,
    },
    /// The request could not be sent, as when no route leads there.
    #[error("{0}")]
    Local(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            ErrorKind::ConnectionRefused => Failure::Refused,
            ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::UnexpectedEof => Failure::Closed,
            ErrorKind::TimedOut => Failure::Timeout,
            _ => Failure::Local(error.to_string()),
        }
    }
}
