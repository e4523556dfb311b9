//! The daemon's configuration: a TOML file, parsed into one type, checked and resolved into another.
//!
//! [`load`] gives a [`Config`] in which every default is filled in and nothing contradicts anything else, or a [`ConfigError`]
//! that names file, line, key and mend. Unknown keys are refused. Nothing here reads files or the network; secrets stay in their
//! own files ([`Secret::read`]). [`schema`] is the file's JSON Schema, with every key's meaning and default.

mod commands;
mod document;
mod error;
mod memory;
mod raw;
mod resolve;
mod resolved;
mod schema;
mod secret;
mod span;
#[cfg(test)]
mod tests;

pub use commands::commands;
pub use error::ConfigError;
pub use memory::Memory;
pub use resolved::*;
pub use schema::schema;
pub use secret::{Secret, SecretError};

use document::Document;

/// Parses, checks and resolves a configuration; `name` is the file's, for messages.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn load(name: &str, text: &str) -> Result<Config, ConfigError> {
    let document = Document::parse(name, text)?;
    let file = document.read()?;
    resolve::resolve(&file).map_err(|problem| document.locate(problem))
}
