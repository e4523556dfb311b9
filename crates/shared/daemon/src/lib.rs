//! The parts that Heddle's daemons have in common.
//!
//! - Always: [`listener`], the accept loop of every server; [`signals`] that end a daemon;
//!   [`mailbox`], requests to a daemon's one task.
//! - With `http`: [`http`], servers of HTTP/1.1, and [`metrics`] for Prometheus.
//! - With `api`: [`problem`] documents (RFC 9457), and [`openapi`], the description of a daemon's
//!   resources.
//! - With `linux`: [`socket`], a Unix socket of a daemon's own, [`log`], [`privilege`], what the
//!   service manager is told ([`notify`]), facts about interfaces ([`links`], [`mac`]) by
//!   [`netlink`], tasks that start again ([`supervisor`]), and one daemon for each folder of pinned
//!   maps ([`pin_lock`]).

#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "linux")]
pub mod links;
pub mod listener;
#[cfg(feature = "linux")]
pub mod log;
#[cfg(feature = "linux")]
pub mod mac;
pub mod mailbox;
#[cfg(feature = "http")]
pub mod metrics;
#[cfg(feature = "linux")]
pub mod netlink;
#[cfg(feature = "linux")]
pub mod notify;
#[cfg(feature = "api")]
pub mod openapi;
#[cfg(feature = "linux")]
pub mod pin_lock;
#[cfg(feature = "linux")]
pub mod privilege;
#[cfg(feature = "api")]
pub mod problem;
pub mod signals;
#[cfg(feature = "linux")]
pub mod socket;
#[cfg(feature = "linux")]
pub mod supervisor;
