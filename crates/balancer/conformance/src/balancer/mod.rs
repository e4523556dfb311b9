//! The balancer's C (bpf/) beside what it must be equal to.
//!
//! [`native`] calls it; [`comparison`] and [`options`] state in terms of [`heddle_wire`] what it must read in a frame and
//! find among TCP's options.

pub mod comparison;
pub mod native;
pub mod options;
pub mod packet;

pub use options::{Found, Kind};
