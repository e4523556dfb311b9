//! Traces: packets in, where they go and what is counted, on the real programs.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod closing;
mod joins;
mod learning;
mod world;

mod plain;
