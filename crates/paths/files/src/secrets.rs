//! Files of secrets, which only their owner can read.
//!
//! On Unix that is checked by the file's mode and owner. Elsewhere the access rights of the file's
//! folder apply, unchecked.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use anyhow::Context as _;
use heddle_program::Failure;
use zeroize::Zeroizing;

/// Longer files are not read on.
const LONGEST: u64 = 1 << 20;

/// Permission bits of group and others.
#[cfg(unix)]
const GROUP_AND_OTHERS: u32 = 0o077;

/// Reads a text from a file of this user or of root that group and others cannot read. `help` says
/// how to make a missing one.
///
/// # Errors
/// If the file cannot be read or others can use it.
pub fn read(path: &Path, help: &str) -> Result<Zeroizing<String>, Failure> {
    read_up_to(path, LONGEST, help)
}

/// As [`read`], of the first bytes alone.
pub(crate) fn read_up_to(
    path: &Path,
    longest: u64,
    help: &str,
) -> Result<Zeroizing<String>, Failure> {
    let name = || path.display().to_string();
    let file = File::open(path).map_err(|error| not_read(path, &error, help))?;
    let metadata = file.metadata().with_context(name)?;
    if !metadata.is_file() {
        return Err(Failure::advised(format!("{} is not a file", name()), help.to_owned()));
    }
    // The file is open already, so it is the one that is read.
    check_owner(path, &metadata)?;
    let mut text = Zeroizing::new(String::with_capacity(metadata.len().min(longest) as usize));
    file.take(longest).read_to_string(&mut text).with_context(name)?;
    Ok(text)
}

/// Accepts every file: this system has no owner's mode to check.
#[cfg(not(unix))]
fn check_owner(_: &Path, _: &fs::Metadata) -> Result<(), Failure> {
    Ok(())
}

/// Refuses a file that others own or can read.
#[cfg(unix)]
fn check_owner(path: &Path, metadata: &fs::Metadata) -> Result<(), Failure> {
    use std::os::unix::fs::MetadataExt as _;
    let name = path.display();
    let (mode, owner) = (metadata.mode() & 0o7777, metadata.uid());
    if mode & GROUP_AND_OTHERS != 0 {
        let message = format!("{name} can be used by others than its owner (mode {mode:o})");
        return Err(Failure::advised(message, format!("chmod 600 {name}")));
    }
    if ![0, rustix::process::geteuid().as_raw()].contains(&owner) {
        let message = format!("{name} belongs to another user (number {owner})");
        return Err(Failure::advised(message, "use a file of your own, or of root's"));
    }
    Ok(())
}

fn not_read(path: &Path, error: &std::io::Error, help: &str) -> Failure {
    let message = format!("{}: {error}", path.display());
    match error.kind() {
        ErrorKind::NotFound => Failure::advised(message, help.to_owned()),
        _ => anyhow::Error::msg(message).into(),
    }
}
