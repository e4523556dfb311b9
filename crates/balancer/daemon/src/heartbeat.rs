//! Heartbeats: whether the other balancers' programs answer.
//!
//! A thread sends a message to each other balancer's steering port every [`INTERVAL`]; the other
//! balancer's XDP program answers it, and this one's notes the answer. So an answer proves the
//! whole way that steered packets take: addresses, ports, firewalls, secrets. Daemons that are
//! busy, stopped or restarted do not matter, and neither does the port for metrics. A [`Judge`] for
//! each balancer draws the conclusions. Silence counts only while this balancer's own interfaces
//! have a carrier.

mod carrier;
mod judge;
mod priority;
pub(crate) mod sockets;
mod task;

pub use heddle_balancer_api::Liveness;
pub use judge::{Heard, Judge};
pub use priority::RealTime;
pub use task::{Heartbeats, Probed, Report, start};

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

/// All conclusions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conclusions {
    /// About other balancers, by address.
    pub peers: BTreeMap<IpAddr, Conclusion>,
    /// False if no interface of this balancer has a carrier: what is concluded is from before.
    pub has_carrier: bool,
}

impl Default for Conclusions {
    fn default() -> Conclusions {
        Conclusions { peers: BTreeMap::new(), has_carrier: true }
    }
}

/// The conclusion about another balancer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conclusion {
    /// Its liveness.
    pub liveness: Liveness,
    /// True if its last answer said that its tables had changed lately.
    pub tables_changed: bool,
    /// True if its last answer said that it knows flows which neither hash nor stamps explain.
    pub flows_unexplained: bool,
}

/// The time between two heartbeats to a balancer.
pub const INTERVAL: Duration = Duration::from_millis(20);
/// The delay of a heartbeat, or of the look for its answer, from which on a missing answer proves
/// nothing.
pub const LATE: Duration = Duration::from_millis(10);
/// Unanswered heartbeats in a row, sent and looked for in time, after which a balancer counts as
/// dead.
pub const FALL: u32 = 5;
/// The shortest time without an answer after which a balancer counts as dead.
pub const SILENCE: Duration = Duration::from_millis(100);
/// Answered heartbeats in a row after which a dead balancer counts as alive.
pub const RISE: u32 = 5;
