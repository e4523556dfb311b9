//! The integration tests of the crate, in one program.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "tests: errors fail them, in their helpers too"
)]

mod api;
mod assign;
mod backends;
mod backends_of;
mod bird;
mod book;
mod c_flag;
mod closed;
mod common;
mod drains;
mod faults;
mod forged;
mod forwarding;
mod fragments;
mod frames;
mod full_disk;
mod groups;
mod healthz;
mod heartbeats;
mod membership;
mod packaging;
mod ports;
mod quic;
mod shared;
mod silent;
mod starting;
mod tables;
mod vlan;
mod whole;
