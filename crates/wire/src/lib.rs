//! Packet formats, as typed representations with checked parsing and emission.
//!
//! Nothing here allocates, keeps state, or panics on any bytes.
#![no_std]

#[cfg(test)]
extern crate std;

pub mod key;
pub mod shim;

pub use key::{Key, Token, Version};
pub use shim::{MptcpId, Shim, Subflow};
