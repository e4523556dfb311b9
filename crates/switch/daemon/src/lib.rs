//! The switch's daemon: it loads the scheme's programs, fills their maps from a fabric file or from
//! the kernel's routes, follows links and routes, and sends probes on time.

pub mod admin;
pub mod bench;
pub mod config;
pub mod daemon;
pub mod devices;
pub mod explain;
mod flow;
pub mod format;
pub mod frames;
pub mod kernel;
pub mod metrics;
pub mod plan;
pub mod rig;
pub mod status;

pub use flow::FiveTuple;
