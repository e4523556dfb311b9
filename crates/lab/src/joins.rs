//! How many joins reach the backend of their connection: what claim R1 counts.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::{Lab, LabError, Transport};

/// Joins of some connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Joins {
    /// That the client was to make.
    pub wanted: usize,
    /// That were established.
    pub made: usize,
}

/// Opens `connections` at the same time, each to have one subflow from each of the client's addresses, and counts those that came
/// up within `patience` after the last was opened.
///
/// # Errors
/// If a connection could not be opened at all.
pub fn count_joins(
    lab: &Lab,
    to: SocketAddr,
    connections: usize,
    patience: Duration,
) -> Result<Joins, LabError> {
    let subflows = lab.client_addresses(to.ip()).len();
    let open: Vec<_> =
        (0..connections).map(|_| lab.connect(Transport::Mptcp, to)).collect::<Result<_, _>>()?;
    let deadline = Instant::now() + patience;
    let mut made = 0;
    for connection in &open {
        let established = connection.wait_for_subflows(subflows, deadline);
        made += established.map_err(LabError::system("subflows"))?.saturating_sub(1);
    }
    Ok(Joins { wanted: connections * (subflows - 1), made })
}
