//! The integration tests of the crate, in one program.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "tests: errors fail them, in their helpers too"
)]

mod assign;
mod assign_joins;
mod assign_keys;
mod assigned;
mod balancer;
mod closed;
mod decap;
mod forward;
mod frames;
mod live;
mod maps;
mod network;
mod pins;
mod plain;
mod run;
mod sending;
mod too_big;
mod translate;
