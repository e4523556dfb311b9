//! The list of balancers, and the changes that they share, as they survive a restart of the daemon.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::io;
use std::net::IpAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::shared::Changes;

/// The file in the state directory.
const NAME: &str = "members.json";
/// Of the directory: the daemon's alone.
const DIRECTORY_MODE: u32 = 0o700;

/// The content of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// The balancers, by name.
    pub members: BTreeMap<String, IpAddr>,
    /// Changes of backends that all balancers share; none in the files of releases before.
    #[serde(default)]
    pub changes: Changes,
}

/// The list that a daemon before has left in this directory; none if there is no whole one.
pub fn read(directory: &Path) -> Option<Known> {
    let text = fs::read(directory.join(NAME)).ok()?;
    let known = serde_json::from_slice(&text);
    known.inspect_err(|error| tracing::warn!(%error, "the last list of balancers is not used")).ok()
}

/// Replaces the list as a whole; the directory is made if it is missing.
///
/// # Errors
/// The system's, for a full disk among others.
pub fn write(directory: &Path, known: &Known) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(directory)?;
    let new = directory.join(format!("{NAME}.new"));
    fs::write(&new, serde_json::to_vec(known)?)?;
    fs::rename(new, directory.join(NAME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_found_again_and_half_a_list_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("state");
        assert_eq!(read(&directory), None);
        let entry = crate::shared::Entry { revision: 7, text: "nonsense".into() };
        let changes = Changes { revision: 9, entries: [("web/be1".to_owned(), entry)].into() };
        let members = [("lb1".to_owned(), [10, 0, 0, 1].into())].into();
        let known = Known { members, changes };
        write(&directory, &known).unwrap();
        assert_eq!(read(&directory), Some(known));
        let text = fs::read(directory.join(NAME)).unwrap();
        fs::write(directory.join(NAME), &text[..text.len() / 2]).unwrap();
        assert_eq!(read(&directory), None);
    }

    #[test]
    fn the_list_of_a_release_without_shared_changes_is_read() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(NAME), r#"{"members":{"lb1":"10.0.0.1"}}"#).unwrap();
        assert_eq!(read(folder.path()).unwrap().changes, Changes::default());
    }

    #[test]
    fn a_disk_that_is_full_is_an_error_and_no_panic() {
        assert!(write(Path::new("/dev/full/state"), &Known::default()).is_err());
    }
}
