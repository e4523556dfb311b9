//! The corpus of packets (vectors/balancer) on the balancer's real program, and through both parsers.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod cases;
mod parsers;
mod program;
mod world;
