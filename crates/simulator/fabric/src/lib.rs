//! The fabric as packets walk it: ports, where they lead, and the next hops of every switch.
//!
//! A [`Fabric`] is made from a scenario's graph; [`Routes`] are its next hops while some links are up. Nothing here has a
//! clock or carries a packet: the simulator and what names paths by ports build on it.

mod build;
mod ideal;
mod paths;
mod routes;
mod stats;
#[cfg(test)]
mod tests;

pub use build::{Fabric, FabricError, PortInfo};
pub use ideal::one_big_switch;
pub use paths::{Hop, Iter, Path, PathError, Paths};
pub use routes::Routes;
pub use stats::{Stats, stats};
