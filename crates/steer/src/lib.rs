//! CFLB for a network that is known (Detal et al., Computer Networks 2013): ports that make a packet take a path, the path that a
//! packet would take, and which paths connections should take.
//!
//! - [`Network`] is what routers and senders share: the fabric, the links that are down, the codec, addresses, and the rules for ports.
//!   It finds paths ([`Network::find`]), names them ([`Network::encode`]) and follows packets ([`Network::walk`]).
//! - [`Placer`] chooses among paths by the flows and the rates that it has placed on links. It knows neither addresses nor the codec.
//! - [`Connections`] puts both together for a service: subflows on different paths, the ports in use, leases, failed links.
//!
//! This is the paper's `pycflb` (section 4.2.2), library and central service, without the service's sockets. Nothing here has a clock, does
//! I/O or draws randomness: times and seeds are arguments.
//!
//! A router's number, for the hash that decides where nobody steers, is its switch's index in the fabric: ToRs first, from 0.

mod book;
mod connections;
mod encode;
mod error;
mod from_file;
mod key;
mod names;
mod network;
mod placer;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod walk;

pub use book::PortBook;
pub use connections::{
    Affected, Connection, ConnectionId, Connections, Damage, Request, Subflow, SubflowId,
};
pub use encode::{Flow, Named};
pub use error::{Family, SteerError};
pub use from_file::cflb_config;
pub use key::Key;
pub use names::Pair;
pub use network::{Network, Parts, PortRules};
pub use placer::{Demand, Fit, MOST_PATHS, Placement, Placer, Scheduler};
pub use walk::{End, Step, Walk};
