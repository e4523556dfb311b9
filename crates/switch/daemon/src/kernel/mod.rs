//! Routes from the kernel: the forwarding table that a routing daemon or `ip route` writes, as sets
//! of next hops towards ToRs.
//!
//! [`watch()`] reads routes, nexthop objects and neighbours by rtnetlink(7), and reads all of them
//! again after any notification, so that notifications that are lost (`ENOBUFS`, which counts as
//! one) or come out of order change nothing. [`Fib`] is the part of it that a switch needs,
//! [`towards()`] what follows for its ToRs, both without the kernel. Weights of next hops are not
//! used: the scheme decides.

mod fib;
mod hop;
mod nexthops;
mod towards;
pub mod upper;
mod watch;

pub use fib::{Fib, Route};
pub use hop::Hop;
pub use nexthops::{NextHopMessage, NextHopObject};
pub use towards::{FabricPorts, Towards, towards};
pub use watch::{KernelError, read, watch};

#[cfg(test)]
mod tests;
