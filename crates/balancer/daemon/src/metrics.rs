//! Metrics for Prometheus and health: plain numbers in a [`Snapshot`], their names in [`names`], [`Health`], and an HTTP server that takes
//! both at each request. The text is OpenMetrics 1.0 or Prometheus' own.

mod health;
pub mod names;
mod serve;
mod snapshot;
mod text;

pub use health::Health;
pub use serve::{Source, serve};
pub use snapshot::{
    Backend, Build, Checks, Event, Members, Peer, Reloads, Service, Snapshot, Table, Verdict,
};
pub use text::{Format, text};
