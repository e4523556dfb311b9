//! Health checks of backends and of other balancers.
//!
//! A [`Probe`] is one request over the network, [`RiseFall`] turns results into a state and knows
//! no clock but its arguments, and a [`Checker`] probes each [`Target`] at its interval and sends
//! changes only. A target that was never probed is [`State::Unknown`]: its first result decides.
//! After that only `rise` successes in a row or `fall` failures change the state, and nothing else
//! damps flapping.
//!
//! A [`forwarding`] probe takes the way of a service's packets, after the one to the target's own
//! address.
//!
//! Targets are probed at fixed offsets from each other ([`jitter()`]), which follow from their
//! names: one balancer never probes all backends at once.

mod checker;
mod failure;
pub mod forwarding;
mod http;
mod jitter;
mod probe;
mod rise_fall;

pub use checker::{Checker, Forwarding, HealthEvent, Status, Target};
pub use failure::Failure;
pub use heddle_balancer_api::State;
pub use jitter::jitter;
pub use probe::{Probe, probe};
pub use rise_fall::RiseFall;

use std::num::NonZeroU32;
use std::time::Duration;

/// The way of a health check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Through {
    /// To the backend's own address.
    Address,
    /// There, and to the service's address as packets go ([`forwarding`]).
    Forwarding,
}

/// The health check of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The request.
    pub probe: Probe,
    /// The way that it takes.
    pub through: Through,
    /// From the start of one probe to that of the next.
    pub interval: Duration,
    /// The time after which a probe has failed.
    pub timeout: Duration,
    /// Successes in a row that bring a target up.
    pub rise: NonZeroU32,
    /// Failures in a row that take a target down.
    pub fall: NonZeroU32,
    /// Time for which a backend that has gone down keeps its flows.
    pub keep_flows: Duration,
}
