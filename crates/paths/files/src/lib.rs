//! Fabric files and key files, read and written for programs that find paths: `heddle path` and the
//! path service.
//!
//! Errors are failures as programs report them, with help. Keys are zeroed when they are dropped,
//! and stand in no message.

mod args;
mod failure;
pub mod files;
pub mod keys;
pub mod network;
pub mod secrets;

pub use args::{FabricArgs, KeyedFabricArgs};
pub use failure::{describe, of_scenario};
