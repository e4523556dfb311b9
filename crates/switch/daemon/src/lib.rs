//! The switch's daemon: it loads the scheme's programs, fills their maps from a fabric file,
//! follows links, and sends probes on time.

pub mod admin;
pub mod bench;
pub mod config;
pub mod daemon;
pub mod devices;
pub mod explain;
mod flow;
pub mod format;
pub mod frames;
pub mod metrics;
pub mod plan;
pub mod rig;
pub mod status;

pub use flow::FiveTuple;
