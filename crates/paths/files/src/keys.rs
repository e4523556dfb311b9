//! Key files: a key's hexadecimal digits, in a file of [`secrets`].

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use anyhow::Context as _;
use heddle_path_encoder::Key;
use heddle_policy::cflb::Cipher;
use heddle_program::Failure;
use zeroize::Zeroizing;

use crate::secrets;

/// Longer files hold no key, and are not read on.
const LONGEST: u64 = 256;

/// Reads a key for a cipher from a file of this user or of root that group and others cannot read.
///
/// # Errors
/// If the file cannot be read, others can use it, or it holds no key for the cipher.
pub fn read(path: &Path, cipher: Cipher) -> Result<Key, Failure> {
    let help = format!("heddle path keygen {} makes a new key", path.display());
    let text = secrets::read_up_to(path, LONGEST, &help)?;
    Ok(Key::parse(&text, cipher).with_context(|| path.display().to_string())?)
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

fn not_written(path: &Path, error: std::io::Error) -> Failure {
    match error.kind() {
        ErrorKind::AlreadyExists => Failure::advised(
            format!("{} is there already, and keys are never overwritten", path.display()),
            "name another file, or remove this one if no router and no sender uses its key",
        ),
        _ => anyhow::Error::new(error).context(path.display().to_string()).into(),
    }
}
