//! Connections and their subflows.

use std::collections::{BTreeMap, BTreeSet};

use heddle_policy::cflb::{Fields, Ports};
use heddle_units::Rate;

use crate::{Pair, Placement};

/// A connection's identifier. Identifiers are not reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConnectionId(pub u64);

/// A subflow's identifier within its connection. Identifiers are not reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SubflowId(pub u32);

/// A connection to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its hosts and their addresses.
    pub pair: Pair,
    /// The protocol's number: 6 is TCP.
    pub protocol: u8,
    /// The ports, of which those are kept that do not encode the path ([`crate::Flow::ports`]).
    pub ports: Ports,
    /// Number of subflows, at least 1.
    pub subflows: u16,
    /// The rate of each subflow, if known.
    pub rate: Option<Rate>,
    /// Lease in seconds; the default is that of [`crate::Connections::new`].
    pub lease: Option<u64>,
}

/// A subflow: its path, and the header fields that encode it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subflow {
    /// Its path.
    pub placement: Placement,
    /// The header fields of its packets.
    pub fields: Fields,
}

/// An open connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The request that opened it.
    pub request: Request,
    /// End of its lease, in seconds of the caller's clock.
    pub expires: u64,
    /// Its subflows.
    pub subflows: BTreeMap<SubflowId, Subflow>,
    /// Source ports that its sender uses for flows of its own
    /// ([`crate::Connections::set_taken_ports`]).
    pub taken: BTreeSet<u16>,
    pub(super) next_subflow: u32,
}
