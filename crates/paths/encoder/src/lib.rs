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
//!
//! ```
//! use heddle_scenario::{Source, load_fabric};
//! use heddle_path_encoder::{Family, Flow, Key, Network, cflb_config};
//!
//! let text = r#"
//!     [fabric]
//!     kind = "fat-tree"
//!     k = 4
//! "#;
//! let no_files = |path: &str| Err(std::io::Error::other(path.to_owned()));
//! let file = load_fabric(&Source::new("fabric.toml", text), &no_files)?;
//! let key = Key::parse("000102030405060708090a0b0c0d0e0f", cflb_config(&file.cflb.constants).cipher)?;
//! let network = Network::from_file(&file, &key)?;
//!
//! let pair = network.pair("host-1", "10.0.0.16", Family::V4)?;
//! assert_eq!(network.find(pair.from, pair.to)?.count(), 4);
//! let path = network.path_by_number(pair.from, pair.to, 2)?;
//! let ports = Default::default();
//! let flow = Flow { addresses: pair.addresses, protocol: 6, ports };
//! let named = network.encode(&path, &flow, 0, |_| true)?;
//!
//! let walk = network.walk(pair.from, &named.fields)?;
//! let passed: Vec<&str> = walk.steps.iter().map(|step| step.name.as_str()).collect();
//! assert_eq!(passed, network.path_names(&path, pair.to));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
pub use encode::{Flow, Named, turns};
pub use error::{Family, SteerError};
pub use from_file::cflb_config;
pub use key::Key;
pub use names::Pair;
pub use network::{Network, Parts, PortRules};
pub use placer::{Demand, Fit, MOST_PATHS, Placement, Placer, Scheduler};
pub use walk::{End, Step, Walk};
