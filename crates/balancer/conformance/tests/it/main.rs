//! The integration tests of the crate, in one program.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "tests: errors fail them, in their helpers too"
)]

mod corpus;
mod options;
mod quic;
mod siphash;
mod steering;
mod stress;
mod tokens;
