//! One daemon for each folder of pinned maps: two would write to the same ones.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// The reasons why a folder is not this process's.
#[derive(Debug, thiserror::Error)]
pub enum PinLockError {
    /// Another process has it.
    #[error(
        "another daemon uses {}\nhelp: stop it, or give this one a folder of its own: `pin`",
        .0.display()
    )]
    InUse(PathBuf),
    /// The system refuses.
    #[error("cannot lock {}: {error}", folder.display())]
    Io {
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}

/// The folder is this process's until it is dropped.
#[derive(Debug)]
pub struct PinLock {
    _file: File,
}

impl PinLock {
    /// Takes the folder; none: there is no such folder yet.
    ///
    /// # Errors
    /// [`PinLockError`].
    pub fn take(folder: &Path) -> Result<Option<PinLock>, PinLockError> {
        let failed = |error| PinLockError::Io { folder: folder.to_owned(), error };
        let file = match File::open(folder) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(PinLock { _file: file })),
            Err(Errno::WOULDBLOCK) => Err(PinLockError::InUse(folder.to_owned())),
            Err(error) => Err(failed(error.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_one_daemons() {
        let folder = tempfile::tempdir().unwrap();
        let pins = folder.path().join("pins");
        assert!(PinLock::take(&pins).unwrap().is_none());
        std::fs::create_dir(&pins).unwrap();
        let first = PinLock::take(&pins).unwrap();
        assert!(first.is_some());
        let Err(error) = PinLock::take(&pins) else { panic!("two have it") };
        assert!(error.to_string().contains("another daemon uses"), "{error}");
        drop(first);
        assert!(PinLock::take(&pins).unwrap().is_some());
    }
}
