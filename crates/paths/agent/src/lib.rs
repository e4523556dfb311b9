//! A path manager for hosts with MPTCP: further subflows of the host's connections leave from
//! source ports that encode paths (CFLB, Detal et al., Computer Networks 2013, section 4.2).
//! Kernel, applications and servers are unchanged.
//!
//! - [`pm`] speaks with the kernel's userspace path manager, [`diag`] reads the sockets that there
//!   are.
//! - [`paths`] asks for paths: a path service, or the same inside this process.
//! - [`Agent`] follows connections that this host opened, and opens, replaces and gives back their
//!   further subflows.
//!
//! It neither reads nor writes data of connections. Without it connections go on with the subflows
//! that they have.

pub mod admin;
mod agent;
pub mod diag;
pub mod paths;
pub mod pm;
mod requirements;
mod status;

pub use agent::{Agent, Settings};
pub use requirements::{Unmet, check};
pub use status::{ConnectionStatus, Counters, State, Status, SubflowStatus};
