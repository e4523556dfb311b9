//! Configuration files: TOML text read into types, values with units, and errors that name the
//! file, the line, the key and a suggested fix.
//!
//! - [`Document`] parses a text, takes overrides (`--set key=value`), and reads itself into any
//!   [`serde::Deserialize`] type.
//! - A program's own checks report a [`Problem`] with its key; [`Document::locate`] adds the line
//!   and makes it a [`ConfigError`].
//! - [`Time`], [`Rate`], [`Bytes`] and [`Duration`] are quantities with units; all durations have
//!   one grammar.
//! - [`nearest`] and [`suggest`] find the name that a misspelt one stands for.
//! - `schema`, with the feature of that name, makes the JSON Schema of a file for editors, from the
//!   doc comments and defaults of its types.
//!
//! The format of tables, lists and enums is described in [`Document`].
//!
//! ```
//! use heddle_config::{ConfigError, Document, Duration, Problem};
//!
//! #[derive(serde::Deserialize)]
//! #[serde(deny_unknown_fields)]
//! struct Server {
//!     port: u16,
//!     idle_timeout: Duration,
//! }
//!
//! fn load(name: &str, text: &str) -> Result<Server, ConfigError> {
//!     let document = Document::parse(name, text)?;
//!     let server: Server = document.read()?;
//!     if server.port == 0 {
//!         let problem = Problem::at("port", "0 is not a port number").help("1 to 65535");
//!         return Err(document.locate(problem));
//!     }
//!     Ok(server)
//! }
//!
//! let server = load("server.toml", "port = 80\nidle_timeout = \"1.5m\"").expect("valid");
//! assert_eq!(server.idle_timeout.0.as_secs(), 90);
//!
//! let error = load("server.toml", "idle_timeout = \"5s\"\nport = 0").err().expect("refused");
//! assert_eq!((error.file(), error.line(), error.key()), ("server.toml", Some(2), "port"));
//! assert_eq!(error.to_string(), "server.toml:2: port: 0 is not a port number\nhelp: 1 to 65535");
//!
//! let error = load("server.toml", "prot = 80").err().expect("refused");
//! assert_eq!(error.help(), Some("did you mean `port`?"));
//! ```
//!
//! Nothing here reads files, the clock or the environment, and nothing panics on any text.

mod document;
mod error;
mod one_or_more;
#[cfg(feature = "schema")]
mod schema;
mod suggest;

pub use document::{Document, Examined, Gone};
pub use error::{ConfigError, Problem};
pub use heddle_units::{Bytes, Duration, Rate, Time, UnitError};
pub use one_or_more::OneOrMore;
#[cfg(feature = "schema")]
pub use schema::{documented_defaults, schema};
pub use suggest::{nearest, suggest};
