//! Sizes, senders and receivers of flows, and the connections that carry them.

use serde::Serialize;

/// Sizes of flows, in bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SizeDistribution {
    /// A name for reports.
    pub name: String,
    /// (bytes, cumulative probability), both rising; interpolated linearly. One point is a fixed
    /// size.
    pub points: Vec<(f64, f64)>,
}

/// Traffic pattern: senders and receivers. Hosts are indices among the hosts, from 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// A client and a server are drawn for each flow, a client never its own server.
    Sets {
        /// Hosts that send.
        clients: Vec<u32>,
        /// Hosts that receive.
        servers: Vec<u32>,
    },
    /// Each host sends to one other, each receives from one other (drawn from the seed).
    Permutation,
    /// Each client sends to one server, each server receives from one client (drawn from the seed).
    /// Equal numbers of both.
    Pairs {
        /// Hosts that send.
        clients: Vec<u32>,
        /// Hosts that receive.
        servers: Vec<u32>,
    },
    /// Requests arrive for a random receiver; `senders` other hosts answer at once with a flow
    /// each.
    Incast {
        /// Senders of one request.
        senders: u32,
    },
}

/// Connections that carry the flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Connections {
    /// A pool of this many connections between each client and server; a flow takes the next and
    /// waits for those before it.
    Persistent(u32),
    /// A connection for each flow, with a handshake.
    PerFlow,
    /// Persistent connections between each client and server; a flow takes one that is idle, and
    /// opens another if none is.
    Pool,
    /// This many connections between each client and server, each of which starts a flow some time
    /// after its last one has ended.
    ClosedLoop(u32),
}
