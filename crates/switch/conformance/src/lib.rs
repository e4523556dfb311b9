//! The schemes in C (bpf/switch), compiled for this machine, beside the schemes in Rust.
//!
//! [`native()`] makes a switch that runs the C, as a [`heddle_vectors::Target`]: traces and random
//! steps compare it with the Rust. [`packets`] runs whole programs on frames. [`compare`] runs
//! both; [`convert`] has inputs and decisions as the C has them.

pub mod abi;
pub mod compare;
pub mod convert;
mod native;
pub mod options;
pub mod packets;
pub mod words;

pub use native::{Native, native};
