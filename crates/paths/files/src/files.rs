//! Scenario and fabric files.

use std::fs;
use std::io::{self, Read as _};
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
    let text = read_limited(path).with_context(|| path.display().to_string())?;
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
    let files = |path: &str| read_limited(&folder(Path::new(&source.name)).join(path));
    Ok(load_fabric(source, &files)?)
}

/// Bytes of a file that is read: more than any fabric or list of flows that can be simulated.
pub const MOST_BYTES: u64 = 256 << 20;

/// The text of a file of at most [`MOST_BYTES`].
///
/// # Errors
/// If it cannot be read, is longer (a device has no end), or is not UTF-8.
pub fn read_limited(path: &Path) -> io::Result<String> {
    let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    String::from_utf8(read_bytes(path)?).map_err(invalid)
}

/// The contents of a file of at most [`MOST_BYTES`].
///
/// # Errors
/// If it cannot be read, or is longer (a device has no end).
pub fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        let message = format!("the file has more than {} MB", MOST_BYTES >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// The folder from which the files that a file names are found.
#[must_use]
pub fn folder(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new(""))
}
