//! The C interface of load-balancing schemes from shared libraries.
//!
//! A library exports `heddle_scheme()`, which returns a [`Table`] of functions with a version:
//! those of [`heddle_policy::Scheme`] as C has them. `include/heddle_scheme.h` is the same for C.
//!
//! - **To export a scheme from Rust**: implement [`heddle_policy::Scheme`] and [`Export`], and name
//!   the type in [`export_scheme!`]. The crate is a `cdylib`. `crates/schemes/example` is such a
//!   crate.
//! - **To run a scheme**: [`Config::new`] checks a table and its parameters; [`External`] is the
//!   scheme, for an engine that is generic over schemes. It opens no files: that is the caller's.
//!
//! Steps are checked where they come back: a port that is none of the next hops, a probe of no ToR
//! or a shim that cannot be is a [`Fault`] of the run, and never reaches the engine.
#![no_std]

extern crate alloc;

mod export;
mod external;
mod parameters;
pub mod types;

pub use export::{Export, table};
pub use external::{Config, External, Fault, TableError};
pub use parameters::Parameters;
pub use types::Table;

/// Version of the interface. A table of another version is refused.
pub const VERSION: u32 = 1;

/// Name of the function that a library exports.
pub const SYMBOL: &str = "heddle_scheme";

/// Type of the function that a library exports.
pub type Entry = unsafe extern "C" fn() -> *const Table;
