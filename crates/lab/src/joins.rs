//! Counts of the joins that reach the backend of their connection: the measure of RomanRoads' claim
//! R1.

use std::net::SocketAddr;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::{Connection, Lab, LabError, Transport, mptcp_counters};

/// Time between two looks at the connections.
const INTERVAL: Duration = Duration::from_millis(20);

/// Time between two looks at the backends, which take a program each.
const BACKEND_INTERVAL: Duration = Duration::from_millis(250);

/// Joins of some connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Joins {
    /// Joins that the client attempts.
    pub expected: usize,
    /// Joins that were established.
    pub established: usize,
}

/// Opens `connections` at the same time, each with one subflow from each of the client's addresses,
/// and counts the joins that were established. It ends when each join was established or reached a
/// backend without its token, or `limit` after the last connection was opened.
///
/// # Errors
/// If a connection could not be opened at all.
pub fn count_joins(
    lab: &Lab,
    to: SocketAddr,
    connections: usize,
    limit: Duration,
) -> Result<Joins, LabError> {
    let expected = connections * (lab.client_addresses(to.ip()).len() - 1);
    let refused_before = joins_refused(lab)?;
    let open: Vec<_> =
        (0..connections).map(|_| lab.connect(Transport::Mptcp, to)).collect::<Result<_, _>>()?;
    let (deadline, mut backends_due) = (Instant::now() + limit, Instant::now() + BACKEND_INTERVAL);
    loop {
        let established = established_joins(&open)?;
        let joins = Joins { expected, established };
        if established == expected || Instant::now() >= deadline {
            return Ok(joins);
        }
        if Instant::now() >= backends_due {
            backends_due = Instant::now() + BACKEND_INTERVAL;
            // Counted after those established, so that none is counted as both.
            if established as u64 + joins_refused(lab)? - refused_before >= expected as u64 {
                return Ok(joins);
            }
        }
        sleep(INTERVAL);
    }
}

fn established_joins(connections: &[Connection]) -> Result<usize, LabError> {
    let joins = |connection: &Connection| {
        let status = connection.status().map_err(LabError::system("subflows"))?;
        Ok(status.established().saturating_sub(1))
    };
    connections.iter().map(joins).sum()
}

/// Joins so far that reached a backend which did not know their token.
///
/// # Errors
/// If a backend's counters cannot be read.
pub fn joins_refused(lab: &Lab) -> Result<u64, LabError> {
    const NAME: &str = "MPJoinNoTokenFound";
    let refused_by = |backend| {
        let counters = mptcp_counters(backend)?;
        let missing = || LabError::unreadable("nstat", NAME, format!("{counters:?}"));
        counters.get(NAME).copied().ok_or_else(missing)
    };
    lab.backends().iter().map(refused_by).sum()
}
