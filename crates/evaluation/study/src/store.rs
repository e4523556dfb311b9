//! Results on disk: a file for each finished run, named by what was run.

use std::fs;
use std::path::{Path, PathBuf};

use heddle_claims::files::{FileError, make_folder, write_atomically};
use sha2::{Digest as _, Sha256};

use crate::cell::Cell;
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

    /// The result of a cell, if this version of Heddle has run it. A damaged file counts as none.
    ///
    /// # Errors
    /// If the file is there and cannot be read.
    pub fn load(&self, cell: &Cell) -> Result<Option<RunSummary>, FileError> {
        let path = self.path(cell);
        match fs::read(&path) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(FileError { path, error }),
        }
    }

    /// Keeps a result.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, cell: &Cell, summary: &RunSummary) -> Result<(), FileError> {
        let json = serde_json::to_vec(summary).map_err(std::io::Error::other);
        let path = self.path(cell);
        write_atomically(&path, &json.map_err(FileError::at(&path))?)
    }

    fn path(&self, cell: &Cell) -> PathBuf {
        self.folder.join(format!("{}.json", key(cell)))
    }
}

/// Counted up when what a [`RunSummary`] keeps of a run changes: one that lacks it is not taken for a whole one.
const FORMAT: u32 = 2;

/// Names a run by all that its result depends on: the resolved scenario, the seed and Heddle's version; and by what is kept.
fn key(cell: &Cell) -> String {
    let mut hash = Sha256::new();
    hash.update(env!("CARGO_PKG_VERSION"));
    hash.update(FORMAT.to_le_bytes());
    hash.update(cell.seed.to_le_bytes());
    hash.update(format!("{:?}", cell.scenario));
    hash.finalize().iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
