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
/// If the file cannot be read, or one of `set` replaces a table of which a key was set before.
pub fn read(path: &Path, set: &[(String, String)]) -> Result<Source, Failure> {
    check_order(set)?;
    let text = read_limited(path).with_context(|| path.display().to_string())?;
    Ok(Source { name: path.display().to_string(), text, overrides: set.to_vec() })
}

/// Refuses a key that a table behind it would take back.
fn check_order(set: &[(String, String)]) -> Result<(), Failure> {
    for (at, (table, _)) in set.iter().enumerate() {
        let is_below =
            |key: &str| key.strip_prefix(&**table).is_some_and(|rest| rest.starts_with('.'));
        if let Some((key, _)) = set[..at].iter().find(|(key, _)| is_below(key)) {
            let message =
                format!("--set {key} has no effect: --set {table} replaces the whole table");
            return Err(Failure::usage(message, format!("--set {table} first")));
        }
    }
    Ok(())
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
    String::from_utf8(read_bytes(path)?).map_err(|error| {
        let bytes = error.as_bytes();
        let is_utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
        let is = if is_utf16 { "is UTF-16" } else { "is no UTF-8 text" };
        io::Error::new(io::ErrorKind::InvalidData, format!("the file {is}: save it as UTF-8"))
    })
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
