//! Reading scenarios, writing results.

use std::path::{Path, PathBuf};

use heddle_claims::Origin;
use heddle_claims::files::{FileError, write_atomically};
use heddle_path_files::files::{folder, read, read_limited};
use heddle_program::Failure;
pub(crate) use heddle_program::output::json as print_json;
use heddle_report::Report;
use heddle_scenario::{Scenario, ScenarioError, Source, load};
use heddle_study::external::FilesAndLibraries;
use heddle_study::provenance::Provenance;
use serde::Serialize;

use crate::args::{Common, ScenarioArgs};
use crate::features;
use crate::output::counted;

/// Reads a scenario file and applies `--set`.
pub(crate) fn source(args: &ScenarioArgs) -> Result<Source, Failure> {
    read(&args.scenario, &args.set)
}

/// Resolves a scenario; files and libraries that it names are sought from its own folder.
pub(crate) fn resolve(source: &Source) -> Result<Scenario, ScenarioError> {
    let folder = folder(Path::new(&source.name));
    let read = |path: &str| read_limited(&folder.join(path));
    load(source, &FilesAndLibraries { read, folder })
}

/// Results with their origin, as JSON.
#[derive(Debug, Serialize)]
pub(crate) struct Made<'a> {
    #[serde(flatten)]
    pub(crate) origin: &'a Origin,
    #[serde(flatten)]
    pub(crate) results: serde_json::Value,
}

/// The tables that results can have, without their ending.
const TABLES: [&str; 6] = ["flows", "links", "sweep", "tidy", "means", "ratios"];

/// Files of results in a folder, to be listed.
pub(crate) struct Written {
    folder: PathBuf,
    names: Vec<String>,
}

impl Written {
    pub(crate) fn new(folder: &Path) -> Written {
        Written { folder: folder.to_owned(), names: Vec::new() }
    }

    /// Writes a value as JSON.
    pub(crate) fn json(&mut self, name: &str, value: &impl Serialize) -> Result<(), Failure> {
        let json = serde_json::to_string_pretty(value).map_err(anyhow::Error::from)?;
        self.text(name, &json)
    }

    /// Writes a text.
    pub(crate) fn text(&mut self, name: &str, text: &str) -> Result<(), Failure> {
        write(&self.folder.join(name), text)?;
        self.names.push(name.to_owned());
        Ok(())
    }

    /// Notes a table, if it was written.
    pub(crate) fn table(&mut self, name: &str, is_written: bool) {
        self.names.extend(is_written.then(|| name.to_owned()));
    }

    /// Notes files that are written already.
    pub(crate) fn others(&mut self, names: Vec<String>) {
        self.names.extend(names);
    }

    /// Writes each CSV file once more as Parquet, with what made it in the metadata; if not wanted,
    /// removes those that an earlier run left.
    pub(crate) fn parquet(&mut self, is_wanted: bool, made: &Provenance) -> Result<(), Failure> {
        let made = serde_json::to_string(made).map_err(anyhow::Error::from)?;
        for table in TABLES {
            let (csv, parquet) = (format!("{table}.csv"), format!("{table}.parquet"));
            let (from, to) = (self.folder.join(&csv), self.folder.join(&parquet));
            if is_wanted && self.names.contains(&csv) {
                to_parquet(&from, &to, &made)?;
                self.names.push(parquet);
            } else {
                heddle_study::results::remove(&to).map_err(anyhow::Error::from)?;
            }
        }
        Ok(())
    }

    /// Writes the report and its plots.
    pub(crate) fn report(&mut self, report: &Report) -> Result<(), Failure> {
        write_report(&self.folder, report)?;
        self.names.insert(0, "report.html".to_owned());
        self.names.push(format!("plots/ ({})", counted(report.svgs().len() as u64, "file")));
        Ok(())
    }

    /// Lists the files on standard error.
    pub(crate) fn tell(&self, common: &Common) {
        if !common.quiet {
            eprintln!("wrote in {}: {}", self.folder.display(), self.names.join(", "));
        }
    }
}

/// The origin of a result of a scenario file.
pub(crate) fn provenance(source: &Source, scenario: &Scenario) -> Result<Provenance, Failure> {
    Ok(Provenance::of_scenario(source, scenario)?)
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

/// Writes the page of a report that is not at its end, to be loaded anew or, of a run that is
/// interrupted, as it is.
pub(crate) fn write_page(folder: &Path, report: &Report) -> Result<(), FileError> {
    write_atomically(&folder.join("report.html"), report.to_html().as_bytes())
}

/// Refuses `--parquet` in a build without it, before anything is run.
pub(crate) fn check_parquet(is_wanted: bool) -> Result<(), Failure> {
    features::require(is_wanted, cfg!(feature = "parquet"), "Parquet")
}

#[cfg(feature = "parquet")]
fn to_parquet(csv: &Path, parquet: &Path, made: &str) -> Result<(), Failure> {
    Ok(heddle_study::columns::convert(csv, parquet, made).map_err(anyhow::Error::from)?)
}

#[cfg(not(feature = "parquet"))]
fn to_parquet(_: &Path, _: &Path, _: &str) -> Result<(), Failure> {
    check_parquet(true)
}
