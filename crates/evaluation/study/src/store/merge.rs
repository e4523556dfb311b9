//! Stores of several machines made one.

use std::fs;
use std::path::{Path, PathBuf};

use heddle_claims::files::{FileError, make_folder, write_atomically};
use serde_json::Value;

use super::read;

/// The outcome of [`merge`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Files that were copied.
    pub copied: u64,
    /// Files that were there already with the same result.
    pub known: u64,
    /// Files that are no runs, and were left: damaged, or of another kind.
    pub skipped: Vec<PathBuf>,
    /// Runs of one key with different results, which must not be: they were left.
    pub conflicts: Vec<PathBuf>,
}

/// Copies the runs of other stores, and the tables beside them, into one. A key names all that a
/// result depends on, so that equal keys have equal results.
///
/// # Errors
/// The first folder or file that cannot be read or written; what was copied until then stays.
pub fn merge(into: &Path, from: &[PathBuf]) -> Result<Merged, FileError> {
    make_folder(into)?;
    let mut merged = Merged::default();
    for folder in from {
        for path in files(folder)? {
            one(into, &path, &mut merged)?;
        }
    }
    Ok(merged)
}

/// Files of a folder, in order of their names.
fn files(folder: &Path) -> Result<Vec<PathBuf>, FileError> {
    let entries = fs::read_dir(folder).map_err(FileError::at(folder))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(FileError::at(folder))?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn one(into: &Path, path: &Path, merged: &mut Merged) -> Result<(), FileError> {
    let (Some(name), Some(bytes)) = (path.file_name(), read(path)?) else { return Ok(()) };
    let is_json = path.extension().is_some_and(|ending| ending == "json");
    let is_table = name.to_string_lossy().ends_with(".csv");
    if !(is_json && digest(&bytes).is_some() || is_table) {
        merged.skipped.push(path.to_owned());
        return Ok(());
    }
    let target = into.join(name);
    match read(&target)? {
        Some(known) if is_json && digest(&known).is_some_and(|d| Some(d) != digest(&bytes)) => {
            merged.conflicts.push(path.to_owned());
        }
        Some(known) if is_table || digest(&known).is_some() => merged.known += 1,
        _ => {
            write_atomically(&target, &bytes)?;
            merged.copied += 1;
        }
    }
    Ok(())
}

/// The digest of a run's events; `None` if the file is no run.
fn digest(bytes: &[u8]) -> Option<String> {
    let run: Value = serde_json::from_slice(bytes).ok()?;
    run["summary"]["digest"].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;
    use crate::testing::{cell, run};

    #[test]
    fn stores_become_one_and_damaged_or_differing_runs_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b, both) =
            (folder.path().join("a"), folder.path().join("b"), folder.path().join("both"));
        let (one, two) = (cell(1, &[]), cell(2, &[]));
        let store = Store::open(&a).unwrap();
        store.save(&one, &run(&one)).unwrap();
        store.save_table(&one, "flows.csv", "x\n").unwrap();
        let store = Store::open(&b).unwrap();
        store.save(&one, &run(&one)).unwrap();
        store.save(&two, &run(&two)).unwrap();
        fs::write(b.join("damaged.json"), "{").unwrap();
        let merged = merge(&both, &[a.clone(), b.clone()]).unwrap();
        assert_eq!((merged.copied, merged.known, merged.conflicts.len()), (3, 1, 0));
        assert_eq!(merged.skipped, [b.join("damaged.json")]);
        let store = Store::open(&both).unwrap();
        assert!(store.load(&one).unwrap().is_some() && store.load(&two).unwrap().is_some());
        assert_eq!(store.load_table(&one, "flows.csv").unwrap().as_deref(), Some("x\n"));
        let mut other = run(&two);
        other.digest = "0".into();
        Store::open(&a).unwrap().save(&two, &other).unwrap();
        assert_eq!(merge(&both, &[a]).unwrap().conflicts.len(), 1);
    }
}
