//! Metrics for Prometheus and health: plain numbers in a [`Snapshot`], their names in [`names`],
//! [`Health`], and an HTTP server that takes both at each request. The text is OpenMetrics 1.0 or
//! Prometheus' own.

pub mod names;
mod serve;
mod text;

pub use heddle_balancer_api::{
    BackendCounters as Backend, Build, CheckCounters as Checks, Event, Health,
    MembersCounters as Members, Peer, Reloads, ServiceCounters as Service, Snapshot, Table,
    Verdict,
};
pub use heddle_daemon::metrics::Format;
pub use serve::{Source, serve};
pub use text::text;

/// This program on this kernel.
pub(crate) fn build() -> Build {
    let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
    Build { version: env!("CARGO_PKG_VERSION").into(), kernel }
}
