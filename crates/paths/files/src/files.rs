//! Scenario and fabric files.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use heddle_program::Failure;
use heddle_scenario::{FabricFile, Source, load_fabric};

use crate::FabricArgs;

/// Reads a scenario or a fabric file, to be changed by `set`.
///
/// # Errors
/// If the file cannot be read.
pub fn read(path: &Path, set: &[(String, String)]) -> Result<Source, Failure> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    Ok(Source { name: path.display().to_string(), text, overrides: set.to_vec() })
}

/// Reads a fabric file, applies `--set` and resolves it.
///
/// # Errors
/// If the file cannot be read or is wrong.
pub fn fabric(args: &FabricArgs) -> Result<FabricFile, Failure> {
    resolve_fabric(&read(&args.fabric, &args.set)?)
}

/// Resolves a fabric file. Files that it names are found from its own folder.
///
/// # Errors
/// If the file is wrong.
pub fn resolve_fabric(source: &Source) -> Result<FabricFile, Failure> {
    let files = |path: &str| fs::read_to_string(folder(Path::new(&source.name)).join(path));
    Ok(load_fabric(source, &files)?)
}

/// The folder from which the files that a file names are found.
#[must_use]
pub fn folder(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new(""))
}
