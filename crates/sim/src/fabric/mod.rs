//! The fabric as the simulator walks it: ports, where they lead, and the next hops of every switch.

mod build;
mod ideal;
mod routes;

pub(crate) use build::PortInfo;
pub use build::{Fabric, FabricError};
pub use ideal::one_big_switch;
pub use routes::Routes;

#[cfg(test)]
mod tests;
