//! Vectors and differential tests between implementations of one thing.
//!
//! [`balancer`] calls the balancer's C, compiled for this machine, and says what the crates in Rust
//! make of the same input.

pub mod balancer;
