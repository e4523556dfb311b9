//! Packet formats, as typed representations with checked parsing and emission.
//!
//! [`TcpFrame`] parses an Ethernet frame down to the TCP options, and [`mptcp`] parses those of
//! MPTCP, by which a ToR or a load balancer associates subflows with connections. [`quic`] finds
//! the server that a connection id of QUIC names. [`shim`] and [`probe`] are headers between
//! switches.
//!
//! The crate does not allocate, keeps no state, and does not panic on any bytes. All numbers are in
//! network byte order on the wire.
//!
//! # Example
//!
//! An MP_JOIN is associated with its connection by the token, which is derived from the receiver's
//! key:
//!
//! ```
//! use heddle_wire::mptcp::{self, MpJoin};
//! use heddle_wire::{Key, MptcpOption, Version};
//!
//! let token = Version::V1.token(Key(*b"abcdefgh"));
//! let join = MptcpOption::Join(MpJoin::Syn { backup: false, address: 2, token, nonce: 7 });
//! let mut options = [0; 40];
//! let len = join.emit(&mut options)?;
//! assert_eq!(len, 12);
//! assert_eq!(mptcp::find(&options[..len]), Some(join));
//! # Ok::<(), heddle_wire::EmitError>(())
//! ```
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
pub mod quic;
pub mod shim;
pub mod tcp;

pub use error::{EmitError, ParseError};
pub use ethernet::{EtherType, Ethernet, EthernetHeader};
pub use frame::TcpFrame;
pub use ip::{IpPacket, Ipv4Header};
pub use key::{Key, Token, Version};
pub use mptcp::MptcpOption;
pub use probe::Probe;
pub use shim::{MptcpId, Shim, ShimFrame, Subflow};
pub use tcp::{CommonOption, TcpFlags, TcpHeader, TcpSegment};
