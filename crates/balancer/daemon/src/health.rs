//! Health checks: whether what is behind an address answers.
//!
//! A [`Probe`] is one question over the network, [`RiseFall`] turns answers into a verdict and knows no clock but its arguments, and a
//! [`Checker`] asks each [`Target`] at its interval and tells of changes only. What has never been asked is [`State::Unknown`]: its first
//! answer decides. After that only `rise` good answers in a row or `fall` bad ones change the verdict, and nothing else damps flapping.
//!
//! Targets are asked at fixed offsets from each other, which follow from their names: all balancers together do not ask one backend at
//! once for long, and one balancer never asks all backends at once.

mod checker;
mod http;
mod probe;
mod rise_fall;
mod spread;

pub use checker::{Checker, HealthEvent, Status, Target};
pub use probe::{Failure, Probe, probe};
pub use rise_fall::{RiseFall, State};
pub use spread::offset;

use std::num::NonZeroU32;
use std::time::Duration;

/// How, and how often, a target is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What is asked.
    pub probe: Probe,
    /// From the start of one question to that of the next.
    pub interval: Duration,
    /// After which a question counts as failed.
    pub timeout: Duration,
    /// Good answers in a row until what is down is up.
    pub rise: NonZeroU32,
    /// Bad answers in a row until what is up is down.
    pub fall: NonZeroU32,
}
