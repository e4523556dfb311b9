//! What to run: a scenario file, parsed into one type, checked and resolved into another.
//!
//! The file is TOML; [`load`] gives the [`Scenario`] that the simulator takes, or a [`ScenarioError`] that names the line
//! and the mend. Every quantity has a unit, unknown keys are refused, and every default is written down with its source in the
//! file's [`schema`]. Nothing here reads files: the caller passes their contents ([`Files`]).
//!
//! ```
//! use heddle_scenario::{Source, load};
//!
//! let text = r#"
//!     scheme = "hula"
//!     [fabric]
//!     kind = "two-pod"
//!     [workload]
//!     kind = "flows"
//!     sizes = "websearch"
//!     load = 0.6
//!     [measure]
//!     flows = 20000
//! "#;
//! let no_files = |path: &str| Err(std::io::Error::other(path.to_owned()));
//! let scenario = load(&Source::new("example.toml", text), &no_files).expect("it is sound");
//! assert_eq!(scenario.fabric.graph.links.len(), 48);
//!
//! let overloaded = Source::new("example.toml", text).with("workload.load", "1.7");
//! let error = load(&overloaded, &no_files).expect_err("it is not");
//! assert_eq!(error.key(), "workload.load");
//! ```

mod document;
mod error;
mod graph;
mod raw;
mod resolve;
mod resolved;
mod schema;
mod sizes;
mod source;
mod transport_form;

pub use error::ScenarioError;
pub use resolved::*;
pub use schema::schema;
pub use source::{Files, Source};

use document::Document;
use error::Problem;

/// Parses, checks and resolves a scenario; `files` gives the contents of the files that it names.
///
/// # Errors
/// The first thing that is wrong with it: see [`ScenarioError`].
pub fn load(source: &Source, files: &dyn Files) -> Result<Scenario, ScenarioError> {
    try_load(source, files).map_err(ScenarioError::from)
}

fn try_load(source: &Source, files: &dyn Files) -> Result<Scenario, Problem> {
    let mut document = Document::parse(&source.name, &source.text)?;
    for (key, value) in &source.overrides {
        document.set(key, value)?;
    }
    let file: raw::File = document.read()?;
    resolve::resolve(&source.name, &file, files).map_err(|problem| document.locate(problem))
}
