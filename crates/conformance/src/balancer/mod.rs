//! The balancer's C (bpf/lib) beside what it must be equal to.
//!
//! [`native`] calls it; [`options`] says in terms of [`heddle_wire`] what its search for MPTCP options must find.

pub mod native;
pub mod options;

pub use options::{Found, Kind};
