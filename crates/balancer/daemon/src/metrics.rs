//! What Prometheus is told: plain numbers in a [`Snapshot`], their names in [`names`], and an HTTP server that asks for a snapshot at each
//! scrape. The text is OpenMetrics 1.0.

pub mod names;
mod serve;
mod snapshot;
mod text;

pub use serve::{Source, serve};
pub use snapshot::{
    Backend, Build, Checks, Event, Members, Reloads, Service, Snapshot, Table, Verdict,
};
pub use text::text;
