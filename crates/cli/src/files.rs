//! Reading scenarios, writing results.

use std::fs;
use std::path::{Path, PathBuf};

use heddle_claims::files::write_atomically;
use heddle_path_files::files::{folder, read};
use heddle_program::Failure;
pub(crate) use heddle_program::output::json as print_json;
use heddle_report::Report;
use heddle_scenario::{Scenario, Source, load};

use crate::args::ScenarioArgs;

/// Reads a scenario file and applies `--set`.
pub(crate) fn source(args: &ScenarioArgs) -> Result<Source, Failure> {
    read(&args.scenario, &args.set)
}

/// Resolves a scenario; the files that it names are sought from its own folder.
pub(crate) fn resolve(source: &Source) -> Result<Scenario, Failure> {
    let files = |path: &str| fs::read_to_string(folder(Path::new(&source.name)).join(path));
    Ok(load(source, &files)?)
}

/// `out/` and the name of a file without its ending.
pub(crate) fn default_folder(prefix: &str, scenario: &Path) -> PathBuf {
    let stem = scenario.file_stem().unwrap_or_default().to_string_lossy();
    Path::new("out").join(format!("{prefix}{stem}"))
}

pub(crate) fn make_folder(folder: &Path) -> Result<(), Failure> {
    Ok(heddle_claims::files::make_folder(folder)?)
}

/// Writes a file whole or not at all.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    Ok(write_atomically(path, text.as_bytes())?)
}

/// Writes a report: the page, and each plot as a file of its own.
pub(crate) fn write_report(folder: &Path, report: &Report) -> Result<(), Failure> {
    Ok(heddle_claims::files::write_report(folder, report)?)
}
