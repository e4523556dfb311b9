//! Peers over real sockets: a server on every backend, and connections that check each byte they
//! receive.
//!
//! Their protocol: requests of 17 bytes (kind, two numbers of 64 bits in network order), one after
//! the other on one connection. Both ends generate the payload of a download or upload from its
//! seed, so the receiver checks each byte.

mod connection;
mod payload;
mod protocol;
mod server;
mod subflows;
mod timed_socket;

pub use connection::{Connection, StatusReader};
pub use payload::Damage;
pub use server::Server;
pub use subflows::{Status, Subflow, status};

/// The transport protocol of a socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transport {
    /// Plain TCP.
    Tcp,
    /// Multipath TCP (RFC 8684), which may fall back to TCP.
    Mptcp,
}

impl Transport {
    fn protocol(self) -> socket2::Protocol {
        match self {
            Transport::Tcp => socket2::Protocol::TCP,
            Transport::Mptcp => socket2::Protocol::MPTCP,
        }
    }
}
