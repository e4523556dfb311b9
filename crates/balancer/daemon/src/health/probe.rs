//! One probe of a target.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

use tokio::net::TcpStream;

use super::http;

/// The kind of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// A TCP connection, which has to open.
    Tcp,
    /// A `GET` over HTTP/1.1, whose answer has to have one of these status codes. The body is not read.
    Http {
        /// From its first `/` on.
        path: String,
        /// For the `Host` header.
        host: String,
        /// The status codes of a success.
        expect: RangeInclusive<u16>,
    },
}

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
    #[error("HTTP status {0}")]
    Status(u16),
    /// The answer is not HTTP.
    #[error("not HTTP: {0}")]
    NotHttp(String),
    /// The request could not be sent, as when no route leads there.
    #[error("{0}")]
    Local(String),
}

/// Probes once, within `timeout` for all of it together.
///
/// # Errors
/// The failure.
pub async fn probe(what: &Probe, address: SocketAddr, timeout: Duration) -> Result<(), Failure> {
    let answer = tokio::time::timeout(timeout, run(what, address)).await;
    answer.unwrap_or(Err(Failure::Timeout))
}

async fn run(what: &Probe, address: SocketAddr) -> Result<(), Failure> {
    let stream = TcpStream::connect(address).await?;
    let Probe::Http { path, host, expect } = what else { return Ok(()) };
    match http::status(stream, path, host).await? {
        status if expect.contains(&status) => Ok(()),
        status => Err(Failure::Status(status)),
    }
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

#[cfg(test)]
mod tests;
