//! The switch's daemon: it loads the scheme's programs, fills their maps from a scenario's fabric, follows links, and sends probes on time.

pub mod config;
pub mod daemon;
pub mod devices;
pub mod plan;
