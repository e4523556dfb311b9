//! The traces of a lab on the machine: namespaces, and a folder with a description of them. Both
//! bear its name, so that another process finds and removes them, also after a crash.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use heddle_lab::names::{self, Process};
use serde::{Deserialize, Serialize};

use crate::EmulationError;

/// Folder of the descriptions.
const FOLDER: &str = "/run/heddle-lab";

/// First part of the names of folders that are not those of labs yet.
const HIDDEN: char = '.';

/// File of a description.
const DESCRIPTION: &str = "lab.json";

/// First part of the names of all namespaces.
const PREFIX: &str = "heddle-fabric-";

/// The BPF file system.
const PINS: &str = "/sys/fs/bpf";

/// Folder in which iproute2 keeps named namespaces.
const NAMESPACES: &str = "/run/netns";

/// Description of a lab.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    /// The lab's name.
    pub name: String,
    /// The title of its scenario.
    pub title: String,
    /// The process that removes it at its end; `None` of a lab that stays until `heddle lab down`.
    pub owner: Option<Process>,
    /// Nodes, as in the scenario.
    pub nodes: Vec<String>,
    /// Links.
    pub links: Vec<LinkState>,
}

/// A link of a lab.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LinkState {
    /// Both ends: node and device.
    pub ends: [(String, String); 2],
}

impl State {
    /// The namespace of a node.
    pub fn namespace(&self, node: &str) -> String {
        namespace(&self.name, node)
    }

    /// True if the process is gone that should have removed the lab.
    pub fn is_left_over(&self) -> bool {
        self.owner.is_some_and(|owner| !owner.is_running())
    }

    /// Writes the description: before the first namespace is made, so that nothing is without one.
    /// The folder appears with it: one without would be taken for left over.
    ///
    /// # Errors
    /// If the folder cannot be written, or a lab of this name is up.
    pub fn save(&self) -> Result<(), EmulationError> {
        fs::create_dir_all(FOLDER).map_err(EmulationError::system(FOLDER))?;
        self.save_in(Path::new(FOLDER))
    }

    fn save_in(&self, labs: &Path) -> Result<(), EmulationError> {
        let folder = labs.join(&self.name);
        let what = || format!("the description of the lab, {}", folder.display());
        let json = serde_json::to_vec_pretty(self);
        let json = json.map_err(|source| EmulationError::State { what: what(), source })?;
        let hidden = labs.join(format!("{HIDDEN}{}.{}", self.name, std::process::id()));
        let written = fs::create_dir(&hidden)
            .and_then(|()| fs::write(hidden.join(DESCRIPTION), json))
            .and_then(|()| fs::rename(&hidden, &folder));
        if written.is_err() {
            remove_folder(&hidden)?;
        }
        match written {
            Err(error) if is_there(&error) => Err(EmulationError::IsUp(self.name.clone())),
            written => written.map_err(EmulationError::system(what())),
        }
    }

    /// Kills the lab's programs, and removes its namespaces and its description.
    ///
    /// # Errors
    /// If a namespace is still there.
    pub fn remove(&self) -> Result<(), EmulationError> {
        remove(&self.name)
    }
}

/// The namespace of a node of a lab.
pub(crate) fn namespace(lab: &str, node: &str) -> String {
    format!("{PREFIX}{lab}.{node}")
}

/// The folder of a lab's description and of what its programs write.
pub fn folder(lab: &str) -> PathBuf {
    Path::new(FOLDER).join(lab)
}

/// The folder in which a lab's switches pin their maps.
pub(crate) fn pins(lab: &str) -> PathBuf {
    Path::new(PINS).join(format!("{PREFIX}{lab}"))
}

/// This process, for [`State::owner`].
///
/// # Errors
/// If the process cannot read its own start time.
pub fn own_process() -> Result<Process, EmulationError> {
    let this_process = Process::running(std::process::id());
    this_process.ok_or_else(|| EmulationError::System {
        what: "the start time of this process, in /proc".into(),
        source: ErrorKind::NotFound.into(),
    })
}

/// All labs of this machine, in order of name. One without a description has only a name.
///
/// # Errors
/// If a description cannot be read.
pub fn labs() -> Result<Vec<State>, EmulationError> {
    names().into_iter().map(load).collect()
}

/// The lab of this name, or the only one.
///
/// # Errors
/// If there is none, or no name is given and there are several, or its description cannot be read.
pub fn find(name: Option<&str>) -> Result<State, EmulationError> {
    load(choose(name)?)
}

/// The lab of this name, to remove it, for which its description need not be readable.
///
/// # Errors
/// If there is none.
pub fn find_to_remove(name: &str) -> Result<State, EmulationError> {
    let name = choose(Some(name))?;
    Ok(load(name.clone()).unwrap_or_else(|_| nameless(name)))
}

/// The name of the lab of this name, or of the only one.
fn choose(name: Option<&str>) -> Result<String, EmulationError> {
    let names: Vec<String> = names().into_iter().collect();
    let known = match names.as_slice() {
        [] => "none is up (heddle lab up SCENARIO.toml makes one)".to_owned(),
        names => format!("give one of {}", names.join(", ")),
    };
    let found = match name {
        Some(name) => names.into_iter().find(|own| own == name),
        None if names.len() == 1 => names.into_iter().next(),
        None => None,
    };
    let missing = || EmulationError::NoLab { name: name.map(str::to_owned), known };
    found.ok_or_else(missing)
}

fn names() -> BTreeSet<String> {
    described(Path::new(FOLDER)).chain(orphaned()).collect()
}

/// Removes the labs whose process is gone.
///
/// # Errors
/// If one cannot be removed.
pub fn remove_left_over() -> Result<Vec<String>, EmulationError> {
    let left: Vec<State> = labs()?.into_iter().filter(State::is_left_over).collect();
    left.into_iter().map(|lab| lab.remove().map(|()| lab.name)).collect()
}

fn remove(lab: &str) -> Result<(), EmulationError> {
    let prefix = format!("{PREFIX}{lab}.");
    let namespaces: BTreeSet<String> =
        entries(Path::new(NAMESPACES)).filter(|name| name.starts_with(&prefix)).collect();
    names::remove(&namespaces)?;
    [pins(lab), folder(lab)].iter().try_for_each(|folder| remove_folder(folder))
}

fn remove_folder(folder: &Path) -> Result<(), EmulationError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(EmulationError::system(format!("removing {}", folder.display()))(error))
        }
        _ => Ok(()),
    }
}

fn load(name: String) -> Result<State, EmulationError> {
    let file = folder(&name).join(DESCRIPTION);
    read(name, &file)
}

fn read(name: String, file: &Path) -> Result<State, EmulationError> {
    let what = format!("{} (heddle lab down {name} removes it with its lab)", file.display());
    match fs::read(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(nameless(name)),
        Err(error) => Err(EmulationError::system(what)(error)),
        Ok(json) => {
            serde_json::from_slice(&json).map_err(|source| EmulationError::State { what, source })
        }
    }
}

/// A lab without a description: its process ended before it had written one.
fn nameless(name: String) -> State {
    let gone = Process { id: 0, start: 0 };
    State { name, title: String::new(), owner: Some(gone), nodes: Vec::new(), links: Vec::new() }
}

/// Names of labs that have folders.
fn described(labs: &Path) -> impl Iterator<Item = String> {
    entries(labs).filter(|name| !name.starts_with(HIDDEN))
}

/// True if a folder could not take the place of one that has files (rename(2)).
fn is_there(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty)
}

/// Names of labs that have namespaces.
fn orphaned() -> impl Iterator<Item = String> {
    entries(Path::new(NAMESPACES)).filter_map(|namespace| {
        let (lab, _) = namespace.strip_prefix(PREFIX)?.split_once('.')?;
        Some(lab.to_owned())
    })
}

fn entries(folder: &Path) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lab_has_a_description_as_soon_as_it_has_a_folder() {
        let labs = tempfile::tempdir().unwrap();
        let state = State { owner: None, ..nameless("a".into()) };
        state.save_in(labs.path()).unwrap();
        fs::create_dir(labs.path().join(".b.1")).unwrap();
        assert_eq!(described(labs.path()).collect::<Vec<_>>(), ["a"]);
        let again = state.save_in(labs.path()).unwrap_err();
        assert!(matches!(again, EmulationError::IsUp(name) if name == "a"));
        let found = read("a".into(), &labs.path().join("a").join(DESCRIPTION)).unwrap();
        assert!(!found.is_left_over());
        assert_eq!(entries(labs.path()).count(), 2, "nothing hidden is left");
    }

    #[test]
    fn a_lab_without_a_description_is_left_over_and_an_unreadable_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("lab.json");
        assert!(read("a".into(), &file).unwrap().is_left_over());
        fs::write(&file, "{\"name\":\"a\"}").unwrap();
        let error = read("a".into(), &file).unwrap_err().to_string();
        assert!(error.contains("lab.json") && error.contains("heddle lab down a"), "{error}");
        assert!(error.contains("missing field"), "{error}");
    }
}
