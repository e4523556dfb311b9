//! Key files: a key's hexadecimal digits, which only their owner can read.
//!
//! On Unix that is checked by the file's mode and owner. Elsewhere the access rights of the file's folder apply, unchecked.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::Path;

use anyhow::Context as _;
use heddle_path_encoder::Key;
use heddle_policy::cflb::Cipher;
use heddle_program::Failure;
use zeroize::Zeroizing;

/// Longer files hold no key, and are not read on.
const LONGEST: u64 = 256;

/// Permission bits of group and others.
#[cfg(unix)]
const GROUP_AND_OTHERS: u32 = 0o077;

/// Reads a key for a cipher from a file of this user or of root that group and others cannot read.
///
/// # Errors
/// If the file cannot be read, others can use it, or it holds no key for the cipher.
pub fn read(path: &Path, cipher: Cipher) -> Result<Key, Failure> {
    let name = || path.display().to_string();
    let file = File::open(path).map_err(|error| not_read(path, &error))?;
    check(path, &file)?;
    let mut text = Zeroizing::new(String::with_capacity(LONGEST as usize));
    file.take(LONGEST).read_to_string(&mut text).with_context(name)?;
    Ok(Key::parse(&text, cipher).with_context(name)?)
}

/// Writes a new random key into a new file of mode 600.
///
/// # Errors
/// If the file exists or cannot be written, or the system has no random bytes.
pub fn create(path: &Path, cipher: Cipher) -> Result<Key, Failure> {
    let mut bytes = Zeroizing::new(vec![0; cipher.key_bytes()]);
    getrandom::fill(&mut bytes)
        .map_err(|error| anyhow::anyhow!("the system gives no random bytes: {error}"))?;
    let mut text = Zeroizing::new(String::with_capacity(2 * bytes.len() + 1));
    for byte in bytes.iter() {
        text.extend(
            [byte >> 4, byte & 15].map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)])),
        );
    }
    let key = Key::parse(&text, cipher).map_err(anyhow::Error::from)?;
    text.push('\n');
    let mut file = new_file().open(path).map_err(|error| not_written(path, error))?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if let Err(error) = written {
        // Half a key is of no use, and would be in the way of the next attempt.
        let _ = fs::remove_file(path);
        return Err(not_written(path, error));
    }
    Ok(key)
}

/// Options that open a new file for writing, for its owner alone.
fn new_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Refuses what is no file, or is for others. The file is open already, so it is the one that is read.
fn check(path: &Path, file: &File) -> Result<(), Failure> {
    let metadata = file.metadata().with_context(|| path.display().to_string())?;
    if !metadata.is_file() {
        return Err(Failure::advised(
            format!("{} is not a file", path.display()),
            "name the file that `heddle path keygen` wrote",
        ));
    }
    check_owner(path, &metadata)
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
        return Err(Failure::advised(message, "use a key file of your own, or of root's"));
    }
    Ok(())
}

fn not_read(path: &Path, error: &std::io::Error) -> Failure {
    let message = format!("{}: {error}", path.display());
    match error.kind() {
        ErrorKind::NotFound => Failure::advised(
            message,
            format!("heddle path keygen {} makes a new key", path.display()),
        ),
        _ => anyhow::Error::msg(message).into(),
    }
}

fn not_written(path: &Path, error: std::io::Error) -> Failure {
    match error.kind() {
        ErrorKind::AlreadyExists => Failure::advised(
            format!("{} is there already, and keys are never overwritten", path.display()),
            "name another file, or remove this one if no router and no sender uses its key",
        ),
        _ => anyhow::Error::new(error).context(path.display().to_string()).into(),
    }
}
