//! Path encoding with CFLB (Detal et al., Computer Networks 2013) for a known network: header
//! fields that select a path, the path of a packet, and path selection for connections.
//!
//! - [`Network`] is the state that routers and senders share: the fabric, the links that are down,
//!   the codec, addresses, and the rules for ports. It finds paths ([`Network::find`]), encodes
//!   them ([`Network::encode`]) and traces packets ([`Network::walk`]).
//! - [`Connections`] combines it with a [`Placer`] for a service: subflows on different paths, port
//!   allocation, leases, failed links.
//!
//! This corresponds to the paper's `pycflb` (section 4.2.2), library and central service, without
//! the service's sockets. Times and seeds are arguments: the crate has no clock, no I/O and no
//! randomness of its own.
//!
//! A router's number, an input of the hash for packets that are not controlled, is its switch's
//! index in the fabric: ToRs first, from 0.
//!
//! ```
//! use heddle_scenario::{Source, load_fabric};
//! use heddle_path_encoder::{Family, Flow, Key, Network};
//!
//! let text = r#"
//!     [fabric]
//!     kind = "fat-tree"
//!     k = 4
//! "#;
//! let no_files = |path: &str| Err(std::io::Error::other(path.to_owned()));
//! let file = load_fabric(&Source::new("fabric.toml", text), &no_files)?;
//! let key = Key::parse("000102030405060708090a0b0c0d0e0f", file.cflb.constants.cipher)?;
//! let network = Network::from_file(&file, &key)?;
//!
//! let pair = network.pair("host-1", "10.0.0.16", Family::V4)?;
//! assert_eq!(network.find(pair.from, pair.to)?.count(), 4);
//! let path = network.path_by_number(pair.from, pair.to, 2)?;
//! let ports = Default::default();
//! let flow = Flow { addresses: pair.addresses, protocol: 6, ports };
//! let encoded = network.encode(&path, &flow, 0, |_| true)?;
//!
//! let walk = network.walk(pair.from, &encoded.fields)?;
//! let passed: Vec<&str> = walk.steps.iter().map(|step| step.name.as_str()).collect();
//! assert_eq!(passed, network.path_names(&path, pair.to));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod connections;
mod encode;
mod error;
mod from_file;
mod key;
mod listed;
mod lookup;
mod network;
mod port_allocator;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod walk;

pub use connections::{
    Affected, Connection, ConnectionId, Connections, LinkImpact, Request, SavedConnection,
    SavedSubflow, Subflow, SubflowId,
};
pub use encode::{EncodedPath, Flow};
pub use error::{Family, PathEncoderError};
pub use heddle_fabric::{Fit, Placement, Placer, Scheduler};
pub use key::Key;
pub use listed::{ListedPath, next_hops_of, number_of};
pub use lookup::Pair;
pub use network::{Network, Parts, PortRules};
pub use port_allocator::PortAllocator;
pub use walk::{End, Step, Walk};
