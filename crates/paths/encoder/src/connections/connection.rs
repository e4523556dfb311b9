//! What a connection is.

use std::collections::{BTreeMap, BTreeSet};

use heddle_policy::cflb::{Fields, Ports};
use heddle_units::Rate;

use crate::{Pair, Placement};

/// A connection's number. Numbers are not used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConnectionId(pub u64);

/// A subflow's number in its connection. Numbers are not used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SubflowId(pub u32);

/// A connection to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its hosts and their addresses.
    pub pair: Pair,
    /// The protocol's number: 6 is TCP.
    pub protocol: u8,
    /// The ports, of which those are kept that name no path ([`crate::Flow::ports`]).
    pub ports: Ports,
    /// Subflows to open at once, at least 1.
    pub subflows: u16,
    /// The rate of each subflow, if it is known.
    pub rate: Option<Rate>,
    /// Seconds that it is kept unless it is renewed, if not as long as others ([`crate::Connections::new`]).
    pub lease: Option<u64>,
}

/// A subflow: the path that it was given, and the fields that name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subflow {
    /// Its path.
    pub placement: Placement,
    /// What its sender must write.
    pub fields: Fields,
}

/// An open connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// As it was asked for.
    pub request: Request,
    /// When its lease ends, in seconds of the caller's clock.
    pub expires: u64,
    /// Its subflows.
    pub subflows: BTreeMap<SubflowId, Subflow>,
    /// Source ports that its sender uses otherwise ([`crate::Connections::mark`]).
    pub taken: BTreeSet<u16>,
    pub(super) next_subflow: u32,
}
