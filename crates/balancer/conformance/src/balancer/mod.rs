//! The balancer's C (bpf/) beside what it must be equal to.
//!
//! [`native`] calls it; [`comparison`], [`options`] and [`quic`] state in terms of [`heddle_wire`]
//! what it must read in a frame, find among TCP's options, and find in a connection id.

pub mod comparison;
pub mod native;
pub mod options;
pub mod packet;
pub mod quic;

pub use options::{Found, Kind};
