//! One daemon for each folder of pins: two would write to the same maps.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

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

/// Pins of a daemon that is starting, in a folder of its own making. Dropped, it removes them: a
/// start that fails leaves no tables behind.
pub(super) struct FreshPins(Option<PathBuf>);

impl FreshPins {
    /// Those in this folder.
    pub(super) fn new(folder: &Path) -> FreshPins {
        FreshPins(Some(folder.to_owned()))
    }

    /// Nothing is to be removed: there were pins before.
    pub(super) fn none() -> FreshPins {
        FreshPins(None)
    }

    /// The daemon has started.
    pub(super) fn keep(&mut self) {
        self.0 = None;
    }
}

impl Drop for FreshPins {
    fn drop(&mut self) {
        let Some(folder) = &self.0 else { return };
        if let Err(error) = std::fs::remove_dir_all(folder) {
            tracing::warn!(folder = %folder.display(), %error, "pins are left; remove them by hand");
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

    #[test]
    fn pins_of_a_start_that_fails_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let pins = folder.path().join("pins");
        for (starts, mut fresh) in [
            (false, FreshPins::new(&pins)),
            (true, FreshPins::new(&pins)),
            (true, FreshPins::none()),
        ] {
            std::fs::create_dir_all(pins.join("explain")).unwrap();
            if starts {
                fresh.keep();
            }
            drop(fresh);
            assert_eq!(pins.exists(), starts);
        }
    }
}
