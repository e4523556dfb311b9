//! Peers over real sockets: a server on every backend, and connections that know what they must receive.
//!
//! What both speak: requests of 17 bytes (kind, two numbers of 64 bits in network order), one after the other on one connection.
//! A download or upload is a stream that both ends can make from its seed, so a receiver checks each byte.

mod connection;
mod link;
mod protocol;
mod server;
mod stream;
mod subflows;

pub use connection::{Connection, Watcher};
pub use server::Server;
pub use subflows::{Status, Subflow};

/// What a socket speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transport {
    /// TCP as ever.
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
