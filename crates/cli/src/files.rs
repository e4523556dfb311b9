//! Reading scenarios, writing results.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use heddle_report::Report;
use heddle_scenario::{FabricFile, Scenario, Source, load, load_fabric};
use serde::Serialize;

use crate::args::ScenarioArgs;
use crate::args::path::FabricArgs;
use crate::failure::Failure;
use crate::output;

/// Reads a scenario file and applies `--set`.
pub(crate) fn source(args: &ScenarioArgs) -> Result<Source, Failure> {
    read(&args.scenario, &args.set)
}

/// Reads a scenario or a fabric file, to be changed by `set`.
pub(crate) fn read(path: &Path, set: &[(String, String)]) -> Result<Source, Failure> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    Ok(Source { name: path.display().to_string(), text, overrides: set.to_vec() })
}

/// Resolves a scenario; the files that it names are sought from its own folder.
pub(crate) fn resolve(source: &Source) -> Result<Scenario, Failure> {
    let files = |path: &str| fs::read_to_string(folder(Path::new(&source.name)).join(path));
    Ok(load(source, &files)?)
}

/// Reads a fabric file, applies `--set` and resolves it.
pub(crate) fn fabric(args: &FabricArgs) -> Result<FabricFile, Failure> {
    resolve_fabric(&read(&args.fabric, &args.set)?)
}

/// Resolves a fabric file, as [`resolve`] does a scenario.
pub(crate) fn resolve_fabric(source: &Source) -> Result<FabricFile, Failure> {
    let files = |path: &str| fs::read_to_string(folder(Path::new(&source.name)).join(path));
    Ok(load_fabric(source, &files)?)
}

/// The folder from which the files that a file names are sought.
pub(crate) fn folder(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new(""))
}

/// `out/` and the name of a file without its ending.
pub(crate) fn default_folder(prefix: &str, scenario: &Path) -> PathBuf {
    let stem = scenario.file_stem().unwrap_or_default().to_string_lossy();
    Path::new("out").join(format!("{prefix}{stem}"))
}

pub(crate) fn make_folder(folder: &Path) -> Result<(), Failure> {
    Ok(fs::create_dir_all(folder).with_context(|| folder.display().to_string())?)
}

/// Writes a file whole or not at all.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let written = heddle_study::store::write_whole(path, text.as_bytes());
    Ok(written.with_context(|| path.display().to_string())?)
}

/// Writes a report: the page, and each plot as a file of its own.
pub(crate) fn write_report(folder: &Path, report: &Report) -> Result<(), Failure> {
    let plots = folder.join("plots");
    make_folder(&plots)?;
    for (id, svg) in report.svgs() {
        write(&plots.join(format!("{id}.svg")), &svg)?;
    }
    write(&folder.join("report.html"), &report.to_html())
}

/// Prints a value as JSON on standard output.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).context("results cannot be written as JSON")?;
    output::line(text)
}
