//! Results on disk: a file for each finished run, named by what was run.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest as _, Sha256};

use crate::grid::Cell;
use crate::summary::RunSummary;

/// A file that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {error}")]
pub struct StoreError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub error: std::io::Error,
}

impl StoreError {
    pub(crate) fn at(path: &Path) -> impl FnOnce(std::io::Error) -> StoreError + '_ {
        move |error| StoreError { path: path.to_owned(), error }
    }
}

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
    pub fn open(folder: &Path) -> Result<Store, StoreError> {
        fs::create_dir_all(folder).map_err(StoreError::at(folder))?;
        Ok(Store { folder: folder.to_owned() })
    }

    /// The result of a cell, if this version of Heddle has run it. A damaged file counts as none.
    ///
    /// # Errors
    /// If the file is there and cannot be read.
    pub fn load(&self, cell: &Cell) -> Result<Option<RunSummary>, StoreError> {
        let path = self.path(cell);
        match fs::read(&path) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError { path, error }),
        }
    }

    /// Keeps a result.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, cell: &Cell, summary: &RunSummary) -> Result<(), StoreError> {
        let json = serde_json::to_vec(summary).map_err(std::io::Error::other);
        let path = self.path(cell);
        json.and_then(|json| write_whole(&path, &json)).map_err(StoreError::at(&path))
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

/// Writes a file so that it is never seen half written, and leaves nothing else behind.
///
/// # Errors
/// Those of the file system.
pub fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let partial = partial(path);
    let written = fill(&partial, bytes).and_then(|()| fs::rename(&partial, path));
    if written.is_err() {
        // The first error is the one to tell; on a full disk it matters that this file goes.
        let _ = fs::remove_file(&partial);
    }
    written
}

/// A name that no other writer has, in this process or another.
fn partial(path: &Path) -> PathBuf {
    static WRITERS: AtomicU64 = AtomicU64::new(0);
    let (process, writer) = (std::process::id(), WRITERS.fetch_add(1, Ordering::Relaxed));
    path.with_extension(format!("{process}-{writer}.partial"))
}

fn fill(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = fs::File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests;
