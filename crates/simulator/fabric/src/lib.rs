//! The forwarding view of a fabric: numbered ports, next hops, and load-balanced paths.
//!
//! A [`Fabric`] is made from a scenario's graph and numbers its ports. [`Routes`] are the next hops
//! of every switch over the links that are up. [`Paths`] are the equal-cost paths of a pair of
//! hosts, and [`stats()`] describes the path diversity of the whole fabric. [`Placer`] selects
//! paths for flows by the flows and the rates that it has placed on links. This crate has no clock
//! and carries no packets; the simulator and the path encoder build on it.
//!
//! ```
//! use heddle_fabric::Fabric;
//! use heddle_scenario::{Source, load_fabric};
//!
//! let no_files = |path: &str| Err(std::io::Error::other(path.to_owned()));
//! let file = load_fabric(&Source::new("fabric.toml", "[fabric]\nkind = \"fat-tree\"\nk = 4\n"), &no_files)?;
//! let fabric = Fabric::new(&file.fabric.graph)?;
//! let routes = fabric.routes(|_link| true)?;
//!
//! // Hosts 0 and 15 are in different pods: (k / 2)^2 paths of five switches, k / 2 of which share no link.
//! let paths = fabric.paths(&routes, 0, 15)?;
//! assert_eq!(paths.count(), 4);
//! assert!(paths.iter().all(|path| path.hops.len() == 5));
//! assert_eq!(paths.disjoint(usize::MAX).len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod addresses;
mod build;
mod cflb;
mod ideal;
mod offered;
mod paths;
mod placer;
mod routes;
mod stats;
#[cfg(test)]
mod tests;

pub use addresses::switch_addresses;
pub use build::{Fabric, FabricError, PortInfo};
pub use cflb::router_choices;
pub use ideal::one_big_switch;
pub use offered::{OfferedLoad, offered_load};
pub use paths::{Hop, Iter, Path, PathError, Paths};
pub use placer::{Demand, Fit, MAX_PATHS, Placement, Placer, Scheduler};
pub use routes::{Pods, Routes};
pub use stats::{Stats, stats};
