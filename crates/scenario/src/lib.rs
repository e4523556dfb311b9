//! What to run: a scenario file, parsed into one type, checked and resolved into another.
//!
//! The file is TOML; [`Scenario`] is what the simulator takes. Nothing here reads files: the caller passes their contents.

mod resolved;

pub use resolved::*;
