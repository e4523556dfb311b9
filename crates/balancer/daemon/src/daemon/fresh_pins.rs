//! Pins of a daemon that does not start.

use std::path::{Path, PathBuf};

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
