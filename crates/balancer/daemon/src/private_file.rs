//! Files that only their owner may read: secrets, passwords, private keys.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

/// The reasons why a private file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PrivateFileError {
    /// The file cannot be read.
    #[error("cannot read {}: {error}{}", path.display(), fix(path, error))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// It is a folder, a device or a pipe, which might never end.
    #[error("{} is no regular file\nhelp: the path of the file itself", path.display())]
    NoFile {
        /// The path.
        path: PathBuf,
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
    #[error("{} has more than {limit} bytes\nhelp: is it the right file?", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The most bytes.
        limit: u64,
    },
}

/// The daemon has no privilege to read other users' files once it runs.
fn fix(path: &Path, error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => format!("\nhelp: chown root {}", path.display()),
        _ => String::new(),
    }
}

/// The content of a file of at most `limit` bytes, wiped from memory when dropped.
///
/// # Errors
/// See [`PrivateFileError`].
pub fn read(path: &Path, limit: u64) -> Result<Zeroizing<Vec<u8>>, PrivateFileError> {
    let unreadable = |error| PrivateFileError::Unreadable { path: path.to_owned(), error };
    // Does not wait for the other end of a pipe.
    let opened = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path);
    let file = opened.map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(PrivateFileError::NoFile { path: path.to_owned() });
    }
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
        assert!(matches!(read(folder.path(), 5), Err(PrivateFileError::NoFile { .. })));
        let missing = read(&folder.path().join("missing"), 5).unwrap_err().to_string();
        assert!(missing.starts_with("cannot read ") && missing.contains("missing"), "{missing}");
    }

    /// The daemon would be stuck, without answers and deaf to SIGTERM.
    #[test]
    fn a_pipe_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        let refused = read(&pipe, 5).unwrap_err().to_string();
        assert!(refused.contains("pipe is no regular file\nhelp: "), "{refused}");
    }

    #[test]
    fn a_file_of_another_user_has_a_fix() {
        let error = io::Error::from(ErrorKind::PermissionDenied);
        let refused = PrivateFileError::Unreadable { path: "/secret".into(), error }.to_string();
        assert!(refused.ends_with("\nhelp: chown root /secret"), "{refused}");
    }
}
