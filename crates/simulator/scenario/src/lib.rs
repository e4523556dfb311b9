//! Scenario files: a simulation, parsed into one type, checked and resolved into another.
//!
//! The file is TOML; [`load`] gives the [`Scenario`] that the simulator takes, or a
//! [`ScenarioError`] that names the line and a suggested fix. Every quantity has a unit, unknown
//! keys are refused, and every default is written down with its source in the file's [`schema`].
//! Nothing here reads files: the caller passes their contents ([`Files`]).
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
//! let scenario = load(&Source::new("example.toml", text), &no_files).expect("valid");
//! assert_eq!(scenario.fabric.graph.links.len(), 48);
//!
//! let overloaded = Source::new("example.toml", text).with("workload.load", "1.7");
//! let error = load(&overloaded, &no_files).expect_err("refused");
//! assert_eq!(error.key(), "workload.load");
//! ```

#[cfg(feature = "schema")]
mod by_name;
mod complete;
mod csv;
mod graph;
mod import;
mod raw;
mod resolve;
mod resolved;
mod scheme_table;
mod sizes;
mod source;
mod variant;

pub use complete::{cflb_table, complete};
pub use heddle_config::ConfigError as ScenarioError;
pub use import::{Contents, ImportSettings, Imported, InputFile, import};
pub use resolved::*;
pub use scheme_table::SchemeTable;
pub use source::{Files, LibraryError, Source};
pub use variant::{
    VARIANT, Variant, check_values, check_variants, split, variants, within_table, within_variant,
};

use heddle_config::{Document, Problem};

/// The source of overrides, for messages.
const SET: &str = "--set";

/// Parses, checks and resolves a scenario; `files` gives the contents of the files that it names.
///
/// # Errors
/// The first thing that is wrong with it: see [`ScenarioError`].
pub fn load(source: &Source, files: &dyn Files) -> Result<Scenario, ScenarioError> {
    let document = document(source)?;
    refuse_fabric_file(&document).map_err(|problem| document.locate(problem))?;
    let file: raw::File = document.read()?;
    variant::of_tables(&file.variant).map_err(|problem| document.locate(problem))?;
    resolve::resolve(&source.name, &file, files).map_err(|problem| document.locate(problem))
}

/// Parses, checks and resolves a fabric file: a network whose paths CFLB names, without traffic.
/// `files` as for [`load`].
///
/// # Errors
/// The first thing that is wrong with it: see [`ScenarioError`].
pub fn load_fabric(source: &Source, files: &dyn Files) -> Result<FabricFile, ScenarioError> {
    let document = document(source)?;
    refuse_scenario(&document).map_err(|problem| document.locate(problem))?;
    let file: raw::FabricFile = document.read()?;
    resolve::fabric_file(&file, files).map_err(|problem| document.locate(problem))
}

/// The JSON Schema (draft 2020-12) of a scenario file, with every key's meaning, default and
/// source.
#[cfg(feature = "schema")]
pub fn schema() -> serde_json::Value {
    heddle_config::schema::<raw::File>("Heddle scenario")
}

/// The JSON Schema (draft 2020-12) of a fabric file, likewise.
#[cfg(feature = "schema")]
pub fn fabric_schema() -> serde_json::Value {
    heddle_config::schema::<raw::FabricFile>("Heddle fabric")
}

/// The text of a scenario or a fabric file with its overrides, not checked yet.
///
/// # Errors
/// A text that is no TOML, or an override of what cannot be.
pub fn document(source: &Source) -> Result<Document, ScenarioError> {
    let mut document = Document::parse(&source.name, &source.text)?;
    for (key, value) in &source.overrides {
        let table = key.split('.').next().unwrap_or_default();
        if table != key {
            lengthen(&mut document, table)?;
        }
        document.set(key, value, SET)?;
    }
    Ok(document)
}

/// Gives a table of which one key is to be set its long form: `scheme = "hula"` is short for one,
/// and without `[transport]` hosts speak TCP.
fn lengthen(document: &mut Document, table: &str) -> Result<(), ScenarioError> {
    match table {
        "transport" if !document.contains(table) => document.set("transport.kind", "tcp", SET),
        "transport" | "scheme" | "entropy" => {
            document.expand(table);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Keys of a scenario that a fabric file has not.
const SCENARIO_KEYS: [&str; 9] =
    ["workload", "scheme", "entropy", "transport", "measure", "event", VARIANT, "seeds", "title"];

/// Keys of a fabric file that a scenario has not.
const FABRIC_KEYS: [&str; 2] = ["cflb", "addresses"];

fn refuse_scenario(document: &Document) -> Result<(), Problem> {
    let Some(key) = SCENARIO_KEYS.into_iter().find(|key| document.contains(key)) else {
        return Ok(());
    };
    Err(Problem::at(key, "this belongs to a scenario, and a fabric file is wanted here").help(
        "keep `[fabric]` alone, and add `[cflb]` and `[addresses]` if their defaults do not suit",
    ))
}

fn refuse_fabric_file(document: &Document) -> Result<(), Problem> {
    let Some(key) = FABRIC_KEYS.into_iter().find(|key| document.contains(key)) else {
        return Ok(());
    };
    Err(Problem::at(key, "this belongs to a fabric file, and a scenario is wanted here")
        .help("a scenario names the scheme in `[scheme]`, with `kind = \"cflb\"`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_described_and_its_default_is_as_described() {
        assert!(heddle_config::documented_defaults(&schema()).unwrap() > 30);
        assert!(heddle_config::documented_defaults(&fabric_schema()).unwrap() > 10);
    }

    #[test]
    fn schemas_have_no_null() {
        assert!(!schema().to_string().contains("null"));
        assert!(!fabric_schema().to_string().contains("null"));
    }
}
