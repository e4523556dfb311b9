//! Packet formats, as typed representations with checked parsing and emission.
//!
//! Two ways lead in. [`TcpFrame`] goes from an Ethernet frame to the TCP options, and [`mptcp`] reads those of MPTCP:
//! what a ToR or a balancer needs to tell which connection a subflow belongs to. [`shim`] and [`probe`] are the headers
//! that switches send to each other.
//!
//! Nothing here allocates, keeps state, or panics on any bytes. All numbers are in network byte order on the wire.
#![no_std]

#[cfg(test)]
extern crate std;

mod bytes;
mod error;
mod ethernet;
mod frame;
pub mod ip;
pub mod key;
pub mod mptcp;
pub mod probe;
pub mod shim;
pub mod tcp;

pub use error::{EmitError, ParseError};
pub use ethernet::{EtherType, Ethernet};
pub use frame::TcpFrame;
pub use ip::IpPacket;
pub use key::{Key, Token, Version};
pub use mptcp::MptcpOption;
pub use probe::Probe;
pub use shim::{MptcpId, Shim, Subflow};
pub use tcp::{TcpFlags, TcpSegment};
