//! Packet formats, as typed representations with checked parsing and emission.
//!
//! Nothing here allocates, keeps state, or panics on any bytes.
#![no_std]

#[cfg(test)]
extern crate std;

mod bytes;
mod error;
pub mod key;
pub mod mptcp;
pub mod shim;
pub mod tcp;

pub use error::{EmitError, ParseError};
pub use key::{Key, Token, Version};
pub use shim::{MptcpId, Shim, Subflow};
