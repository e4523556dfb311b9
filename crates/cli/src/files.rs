//! Reading scenarios, writing results.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use heddle_report::Report;
use heddle_scenario::{Scenario, Source, load};
use serde::Serialize;

use crate::args::ScenarioArgs;
use crate::failure::Failure;
use crate::output;

/// Reads a scenario file and applies `--set`.
pub(crate) fn source(args: &ScenarioArgs) -> Result<Source, Failure> {
    let path = &args.scenario;
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    Ok(Source { name: path.display().to_string(), text, overrides: args.set.clone() })
}

/// Resolves a scenario; the files that it names are sought from its own folder.
pub(crate) fn resolve(source: &Source) -> Result<Scenario, Failure> {
    let folder = Path::new(&source.name).parent().unwrap_or(Path::new("")).to_owned();
    let files = move |path: &str| fs::read_to_string(folder.join(path));
    Ok(load(source, &files)?)
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
