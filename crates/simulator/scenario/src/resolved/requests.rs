//! Requests in a closed loop.

use heddle_units::{Bytes, Time};
use serde::Serialize;

use super::{Connections, Pattern, SizeDistribution};

/// Clients that send a request, wait for its responses, think, and send the next.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Requests {
    /// Bytes of a request.
    pub request_size: Bytes,
    /// Sizes of responses.
    pub sizes: SizeDistribution,
    /// Requests that each client has under way, or thinks about, at any time: at least 1.
    pub outstanding: u32,
    /// Servers to which a request goes, each of which responds: at least 1.
    pub fan_out: u32,
    /// Mean of the exponential time between the last response and the next request.
    pub think: Time,
    /// Clients and servers: [`Pattern::Sets`] or [`Pattern::Pairs`].
    pub pattern: Pattern,
    /// Connections that carry requests, and those that carry responses.
    pub connections: Connections,
}
