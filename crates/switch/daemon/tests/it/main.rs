//! The integration tests of the crate, in one program.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "tests: errors fail them, in their helpers too"
)]

mod common;
mod config;
mod fabric;
mod frames;
mod interfaces;
mod kernel_routes;
