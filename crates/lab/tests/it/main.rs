//! The integration tests of the crate, in one program.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "tests: errors fail them, in their helpers too"
)]

mod bounce;
mod demo;
mod load;
mod peer;
mod topology;
