//! Results on disk: a file for each finished run, named by what was run.

use std::fs;
use std::path::{Path, PathBuf};

use heddle_claims::files::{FileError, make_folder, write_atomically};
use heddle_scenario::{Scenario, Scheme};
use heddle_sim::engine_digest;
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::cell::Cell;
use crate::provenance::resolved;
use crate::summary::RunSummary;

/// A folder of finished runs. Files are written whole or not at all.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// Opens the folder, making it if need be.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn open(folder: &Path) -> Result<Store, FileError> {
        make_folder(folder)?;
        Ok(Store { folder: folder.to_owned() })
    }

    /// The store in a folder, to be read: a folder that is not there holds nothing.
    pub fn to_read(folder: &Path) -> Store {
        Store { folder: folder.to_owned() }
    }

    /// The result of a cell, if this engine has run it. A damaged file counts as none.
    ///
    /// # Errors
    /// If the file is there and cannot be read.
    pub fn load(&self, cell: &Cell) -> Result<Option<RunSummary>, FileError> {
        let kept = read(&self.path(cell, "json"))?;
        let run = kept.and_then(|bytes| serde_json::from_slice::<KeptRun>(&bytes).ok());
        // The title is no part of the key: it is the cell's.
        Ok(run.map(|run| RunSummary { title: cell.scenario.title.clone(), ..run.summary }))
    }

    /// A table of a cell's run, such as `flows.csv`, if it is kept.
    ///
    /// # Errors
    /// If the file is there and cannot be read.
    pub fn load_table(&self, cell: &Cell, name: &str) -> Result<Option<String>, FileError> {
        let bytes = read(&self.path(cell, name))?;
        Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
    }

    /// Keeps a table of a cell's run.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save_table(&self, cell: &Cell, name: &str, text: &str) -> Result<(), FileError> {
        write_atomically(&self.path(cell, name), text.as_bytes())
    }

    /// Keeps a result.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, cell: &Cell, summary: &RunSummary) -> Result<(), FileError> {
        let run = json!({
            "heddle": env!("CARGO_PKG_VERSION"),
            "engine": engine_digest(),
            "label": cell.label,
            "seed": cell.seed,
            "scenario": resolved(&cell.scenario),
            "summary": summary,
        });
        let json = serde_json::to_vec(&run).map_err(std::io::Error::other);
        let path = self.path(cell, "json");
        write_atomically(&path, &json.map_err(FileError::at(&path))?)
    }

    fn path(&self, cell: &Cell, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", key(cell)))
    }
}

/// The part of a kept run that is read.
#[derive(Deserialize)]
struct KeptRun {
    summary: RunSummary,
}

/// A file's contents; `None` if there is no such file.
fn read(path: &Path) -> Result<Option<Vec<u8>>, FileError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileError { path: path.to_owned(), error }),
    }
}

/// Counted up when what a [`RunSummary`] keeps of a run changes: one that lacks it is not taken for
/// a whole one.
const FORMAT: u32 = 5;

/// Names a run by all that its result depends on: the resolved scenario, the seed and the engine's
/// behaviour; and by what is kept. The title and the other seeds are no part of it, nor is the
/// place of a library, whose digest is. 24 hexadecimal digits: files of the run are `KEY.json` and
/// the like.
pub fn key(cell: &Cell) -> String {
    let mut scenario =
        Scenario { title: String::new(), seeds: Vec::new(), ..cell.scenario.clone() };
    if let Scheme::External(external) = &mut scenario.scheme {
        external.library.clear();
    }
    let mut hash = Sha256::new();
    hash.update(engine_digest());
    hash.update(FORMAT.to_le_bytes());
    hash.update(cell.seed.to_le_bytes());
    hash.update(canonical(&scenario));
    hash.finalize().iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}

/// Fields that a scenario has since runs are kept, as they are written where they are not used.
const UNUSED: [&str; 10] = [
    ", warm_up_limit: None",
    ", initial_ssthresh: None",
    ", loss_detection: DupAck",
    ", reordering_window: None",
    ", pacing: None",
    ", output_limit: None",
    ", preamble_and_gap: false",
    ", entropy: Flow",
    ", sample: None",
    ", size_classes: [Bytes(100000), Bytes(10000000)]",
];

/// A scenario as text. What it does not use is left out, so that a new field leaves the keys of
/// other scenarios as they are.
fn canonical(scenario: &Scenario) -> String {
    UNUSED.iter().fold(format!("{scenario:?}"), |text, unused| text.replace(unused, ""))
}

mod merge;
pub use merge::{Merged, merge};

#[cfg(test)]
mod tests;
