//! One probe of a target.

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

use tokio::net::TcpStream;

use super::failure::Failure;
use super::http;

/// The kind of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// A TCP connection, which has to open.
    Tcp,
    /// A `GET` over HTTP/1.1, whose answer has to have one of these status codes. The body is not
    /// read.
    Http {
        /// From its first `/` on.
        path: String,
        /// For the `Host` header.
        host: String,
        /// The status codes of a success.
        expect: RangeInclusive<u16>,
    },
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
        status => Err(Failure::Status { status, expected: text(expect) }),
    }
}

fn text(codes: &RangeInclusive<u16>) -> String {
    match (codes.start(), codes.end()) {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first} to {last}"),
    }
}

#[cfg(test)]
mod tests;
