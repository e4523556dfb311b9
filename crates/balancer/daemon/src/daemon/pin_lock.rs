//! One daemon for each folder of pins: two would write to the same maps.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::error::CoreError;

/// The folder is this process's until it is dropped.
pub(super) struct PinLock {
    _file: File,
}

impl PinLock {
    /// Takes the folder; none: there is no such folder yet.
    ///
    /// # Errors
    /// [`CoreError::PinsInUse`] if another process has it, [`CoreError::Pins`] if the system refuses.
    pub(super) fn take(folder: &Path) -> Result<Option<PinLock>, CoreError> {
        let failed = |error| CoreError::Pins { folder: folder.to_owned(), error };
        let file = match File::open(folder) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(PinLock { _file: file })),
            Err(Errno::WOULDBLOCK) => Err(CoreError::PinsInUse(folder.to_owned())),
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
        assert!(error.to_string().contains("another heddled"), "{error}");
        drop(first);
        assert!(PinLock::take(&pins).unwrap().is_some());
    }
}
