//! The agent's state, as `heddle agent status --json` prints it.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

/// The state of a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Its SYN was sent.
    Opening,
    /// It carries data.
    Established,
    /// It has ended or failed; its path is not taken again for a while.
    Failed,
}

/// A further subflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubflowStatus {
    /// Its source port, which encodes the path.
    pub source_port: u16,
    /// Its state.
    pub state: State,
    /// The nodes of its path, both hosts included.
    pub path: Vec<String>,
    /// It shares no link between switches with another subflow that the agent has opened.
    pub disjoint: bool,
    /// One of the ends has marked it as a reserve, on which data goes only if no other subflow is
    /// left.
    pub backup: bool,
}

/// A connection that this host opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionStatus {
    /// The kernel's local token.
    pub token: u32,
    /// This end of the first subflow.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
    /// The routers of the first subflow, whose port the kernel chose; empty if it is not known.
    pub first_path: Vec<String>,
    /// False if the first subflow has ended or its packets time out; another one is then opened in
    /// its place.
    pub first_works: bool,
    /// Its number at the path service; `None` while there is no lease.
    pub lease: Option<u64>,
    /// Further subflows.
    pub subflows: Vec<SubflowStatus>,
    /// The reason for fewer subflows than are wanted.
    pub problem: Option<String>,
}

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Connections followed.
    pub connections: u64,
    /// Connections to or from addresses that are no hosts of the fabric.
    pub outside: u64,
    /// Subflows that the kernel was told to open.
    pub opened: u64,
    /// Those that were established.
    pub established: u64,
    /// Those that ended or timed out while their connection went on.
    pub failed: u64,
    /// Requests that the kernel refused.
    pub refused: u64,
    /// Requests for paths that failed.
    pub no_path: u64,
}

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Counts.
    pub counters: Counters,
    /// Connections by token.
    pub connections: Vec<ConnectionStatus>,
}
