//! Key files: a key's hexadecimal digits, for their owner's eyes alone.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use anyhow::Context as _;
use heddle_path_encoder::Key;
use heddle_policy::cflb::Cipher;
use zeroize::Zeroizing;

use crate::failure::Failure;

/// Longer files hold no key, and are not read on.
const LONGEST: u64 = 256;

/// Permission bits of group and others.
const NOT_THE_OWNERS: u32 = 0o077;

/// Reads a key for a cipher from a file that belongs to this user or to root, and that nobody else can read.
pub(crate) fn read(path: &Path, cipher: Cipher) -> Result<Key, Failure> {
    let name = || path.display().to_string();
    let file = File::open(path).map_err(|error| unread(path, &error))?;
    check(path, &file)?;
    let mut text = Zeroizing::new(String::with_capacity(LONGEST as usize));
    file.take(LONGEST).read_to_string(&mut text).with_context(name)?;
    Ok(Key::parse(&text, cipher).with_context(name)?)
}

/// Writes a new random key into a new file of mode 600.
pub(crate) fn create(path: &Path, cipher: Cipher) -> Result<Key, Failure> {
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
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(|error| unwritten(path, error))?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if let Err(error) = written {
        // Half a key is of no use, and would be in the way of the next attempt.
        let _ = fs::remove_file(path);
        return Err(unwritten(path, error));
    }
    Ok(key)
}

/// Refuses a file that others own or can read. It is open: what is checked is what is read.
fn check(path: &Path, file: &File) -> Result<(), Failure> {
    let name = path.display();
    let about = file.metadata().with_context(|| name.to_string())?;
    let (mode, owner) = (about.mode() & 0o7777, about.uid());
    if !about.is_file() {
        return Err(Failure::advised(
            format!("{name} is not a file"),
            "name the file that `heddle path keygen` wrote",
        ));
    }
    if mode & NOT_THE_OWNERS != 0 {
        let message = format!("{name} can be used by others than its owner (mode {mode:o})");
        return Err(Failure::advised(message, format!("chmod 600 {name}")));
    }
    if ![0, rustix::process::geteuid().as_raw()].contains(&owner) {
        let message = format!("{name} belongs to another user (number {owner})");
        return Err(Failure::advised(message, "use a key file of your own, or of root's"));
    }
    Ok(())
}

fn unread(path: &Path, error: &std::io::Error) -> Failure {
    let message = format!("{}: {error}", path.display());
    match error.kind() {
        ErrorKind::NotFound => Failure::advised(
            message,
            format!("heddle path keygen {} makes a new key", path.display()),
        ),
        _ => Failure::Other(anyhow::Error::msg(message)),
    }
}

fn unwritten(path: &Path, error: std::io::Error) -> Failure {
    match error.kind() {
        ErrorKind::AlreadyExists => Failure::advised(
            format!("{} is there already, and keys are never overwritten", path.display()),
            "name another file, or remove this one if no router and no sender uses its key",
        ),
        _ => Failure::Other(anyhow::Error::new(error).context(path.display().to_string())),
    }
}
