//! The integration tests of the crate, in one program.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "tests: errors fail them, in their helpers too"
)]

mod bad_inputs;
mod cflb;
mod examples;
mod fabric_files;
mod imports;
mod multipath;
mod properties;
mod shapes;
