//! The daemon's configuration: a TOML file, parsed into one type, checked and resolved into
//! another.
//!
//! [`load`] gives a [`Config`] in which every default is filled in and nothing contradicts anything
//! else, or a [`ConfigError`] that names file, line, key and a suggested fix. Unknown keys are
//! refused. Nothing here reads files or the network; secrets stay in their own files
//! ([`Secret::read`]). [`schema`] is the file's JSON Schema, with every key's meaning and default.
//!
//! ```
//! let text = r#"
//!     [balancer]
//!     name = "lb1"
//!     interfaces = ["eth0"]
//!
//!     [[service]]
//!     name = "web"
//!     address = "192.0.2.10"
//!     port = 443
//!     health = { kind = "http", path = "/health" }
//!
//!     [[service.backend]]
//!     name = "be1"
//!     address = "10.0.1.1"
//!     weight = 2
//! "#;
//! let config = heddled::config::load("heddled.toml", text).expect("valid");
//! assert_eq!(config.services[0].backends[0].weight, 2);
//!
//! let error = heddled::config::load("heddled.toml", &text.replace("weight", "wieght"));
//! let error = error.expect_err("unknown key");
//! assert_eq!((error.line(), error.key()), (Some(15), "service.0.backend.0.wieght"));
//! assert_eq!(error.help(), Some("did you mean `weight`?"));
//! ```

mod commands;
mod examine;
mod files;
mod memory;
mod raw;
mod resolve;
mod resolved;
mod secret;
#[cfg(test)]
mod tests;
mod usable;

pub use commands::commands;
pub use examine::{Examined, Mistakes, examine};
pub use files::{Flaw, file_flaws};
pub use heddle_config::ConfigError;
pub use memory::Memory;
pub use raw::{Backend as BackendEntry, BackendState};
pub use resolved::*;
pub use secret::{Secret, SecretError};
pub use usable::{ServiceFault, without_usable_backend};

use std::collections::BTreeMap;

use heddle_config::Document;

use crate::shared::Changes;

/// Parses, checks and resolves a configuration; `name` is the file's, for messages.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn load(name: &str, text: &str) -> Result<Config, ConfigError> {
    let document = Document::parse(name, text)?;
    let file: raw::File = document.read()?;
    resolve::resolve(&file).map_err(|problem| document.locate(problem))
}

impl Config {
    /// This configuration with a backend more in each of these services. The file's checks apply,
    /// and the error's key is the entry's.
    ///
    /// # Errors
    /// The first thing that is wrong with an entry, or with an entry beside what is there.
    pub fn with_backends<'a>(
        &self,
        added: impl Iterator<Item = (&'a str, &'a BackendEntry)>,
    ) -> Result<Config, ConfigError> {
        Ok(resolve::edit::add(self, added)?)
    }

    /// This configuration without the backend of this name, in the service of a name or in all.
    ///
    /// # Errors
    /// If what is left contradicts itself: a group's services have backends of the same names.
    pub fn without_backend(
        &self,
        service: Option<&str>,
        backend: &str,
    ) -> Result<Config, ConfigError> {
        Ok(resolve::edit::remove(self, service, backend)?)
    }

    /// This configuration with the changes that all balancers share, and the reasons why some of
    /// them have no effect, by key.
    pub fn with_changes(&self, changes: &Changes) -> (Config, BTreeMap<String, String>) {
        resolve::overlay::apply(self, changes)
    }

    /// This configuration, if its backends and services do not contradict each other.
    ///
    /// # Errors
    /// The first contradiction.
    pub fn checked(self) -> Result<Config, ConfigError> {
        Ok(resolve::edit::checked(self)?)
    }
}

/// The JSON Schema (draft 2020-12) of the configuration, with every key's meaning and default.
pub fn schema() -> serde_json::Value {
    heddle_config::schema::<raw::File>("heddled")
}
