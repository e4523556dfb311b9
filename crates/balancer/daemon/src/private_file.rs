//! Files that only their owner may read: secrets, passwords, private keys.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

/// The reasons why a private file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PrivateFileError {
    /// The file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// Others than its owner may read or write it.
    #[error("others may read or write {} (mode {mode:o})\nhelp: chmod 600 {}", path.display(), path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Another user owns it, who may read and change it.
    #[error("{} is user {owner}'s, neither root's nor this user's\nhelp: chown root {}", path.display(), path.display())]
    Owner {
        /// The file.
        path: PathBuf,
        /// Its owner's number.
        owner: u32,
    },
    /// The file is longer than its content may be.
    #[error("{} has more than {limit} bytes", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The most bytes.
        limit: u64,
    },
}

/// The content of a file of at most `limit` bytes, wiped from memory when dropped.
///
/// # Errors
/// See [`PrivateFileError`].
pub fn read(path: &Path, limit: u64) -> Result<Zeroizing<Vec<u8>>, PrivateFileError> {
    let unreadable = |error| PrivateFileError::Unreadable { path: path.to_owned(), error };
    let file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    let (mode, owner) = (metadata.mode() & 0o777, metadata.uid());
    if owner != 0 && owner != rustix::process::geteuid().as_raw() {
        return Err(PrivateFileError::Owner { path: path.to_owned(), owner });
    }
    if mode & 0o077 != 0 {
        return Err(PrivateFileError::Open { path: path.to_owned(), mode });
    }
    // No reallocation may leave a copy behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(limit as usize + 1));
    file.take(limit + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > limit {
        return Err(PrivateFileError::TooLong { path: path.to_owned(), limit });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_private_file_is_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("password");
        fs::write(&path, "12345").unwrap();
        for (mode, open) in [(0o640, true), (0o604, true), (0o600, false), (0o400, false)] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let read = read(&path, 5);
            assert_eq!(matches!(read, Err(PrivateFileError::Open { .. })), open, "{mode:o}");
        }
        assert_eq!(read(&path, 5).unwrap().as_slice(), b"12345");
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&path, Some(4321), None).unwrap();
            let refused = read(&path, 5).unwrap_err().to_string();
            assert!(refused.contains("user 4321's") && refused.contains("chown root"), "{refused}");
            std::os::unix::fs::chown(&path, Some(0), None).unwrap();
        }
        assert!(matches!(read(&path, 4), Err(PrivateFileError::TooLong { limit: 4, .. })));
        let missing = read(&folder.path().join("missing"), 5).unwrap_err().to_string();
        assert!(missing.starts_with("cannot read ") && missing.contains("missing"), "{missing}");
    }
}
