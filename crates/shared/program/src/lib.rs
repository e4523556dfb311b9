//! The parts that every Heddle program has in common, so that all behave alike on a command line.
//!
//! - [`Common`]: the global options `--json`, `--quiet` and `--jobs`.
//! - [`Failure`] and [`Report`]: messages, their JSON form and exit codes.
//! - [`parse`]: the command line, and errors of it.
//! - [`output`] and [`table`]: standard output and tables.
//! - [`interrupt`]: Ctrl-C as a flag.
//! - [`external`]: other programs as sub-commands, as git finds its own.
//! - `Generate`: completion scripts and manual pages, with the feature `generate`.
//!
//! Everything here works on any system.

mod exit;
pub mod external;
mod failure;
#[cfg(feature = "generate")]
mod generate;
pub mod interrupt;
mod options;
pub mod output;
pub mod table;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "generate")]
mod tree;
mod usage;

pub use exit::exit;
pub use failure::{Failure, Report};
#[cfg(feature = "generate")]
pub use generate::Generate;
pub use options::{Common, key_value};
#[cfg(feature = "generate")]
pub use tree::Tree;
pub use usage::parse;
