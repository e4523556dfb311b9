//! Names of what a lab leaves on the machine, and removal of what terminated processes left.
//!
//! `heddle-lab-<process>_<start>-<number>`, alone or with a suffix: unique on a machine, also when
//! process ids are reused, and the owner is known. (File names on bpffs cannot hold a dot.)

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::tools;

const PREFIX: &str = "heddle-lab-";

/// Folder in which iproute2 keeps named namespaces.
const NAMESPACES: &str = "/run/netns";

/// Folder in which daemons pin BPF objects.
pub(crate) const PINS: &str = "/sys/fs/bpf";

/// A process, distinct from later ones with the same id.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Process {
    /// Its id.
    pub id: u32,
    /// Time of its start, in clock ticks since the machine's.
    pub start: u64,
}

impl Process {
    /// The process that has this id now. A zombie counts as gone.
    #[must_use]
    pub fn running(id: u32) -> Option<Process> {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        Some(Process { id, start: start_time(&stat)? })
    }

    /// True while it runs.
    #[must_use]
    pub fn is_running(self) -> bool {
        Process::running(self.id) == Some(self)
    }
}

/// The start time in `/proc/<id>/stat` (proc_pid_stat(5)); none of a zombie. The program's name, in
/// parentheses, may hold anything.
fn start_time(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace();
    let state = fields.next()?;
    if ["Z", "X"].contains(&state) { None } else { fields.nth(18)?.parse().ok() }
}

/// A name for one more lab, or set of daemons, of this process.
pub(crate) fn unique() -> Result<String, LabError> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let this_process = Process::running(process::id());
    let Process { id, start } = this_process.ok_or_else(|| {
        LabError::unreadable("/proc/self/stat", "the start time of this process", "none")
    })?;
    Ok(format!("{PREFIX}{id}_{start}-{}", COUNT.fetch_add(1, Ordering::Relaxed)))
}

/// The file of a namespace.
#[must_use]
pub fn path(namespace: &str) -> PathBuf {
    Path::new(NAMESPACES).join(namespace)
}

/// Removes what processes left that ended without cleaning up (killed, or aborted): namespaces with
/// the programs in them, pinned BPF objects, temporary folders.
///
/// Every new lab begins with it.
///
/// # Errors
/// If any of it cannot be removed.
pub fn remove_orphans() -> Result<(), LabError> {
    remove(&orphans(Path::new(NAMESPACES)))?;
    for folder in [Path::new(PINS), &env::temp_dir()] {
        remove_folders(folder)?;
    }
    Ok(())
}

/// Removes the folders of terminated processes in `folder`. Another process may do the same at the
/// same time.
fn remove_folders(folder: &Path) -> Result<(), LabError> {
    for orphan in orphans(folder) {
        let path = folder.join(orphan);
        let result = fs::remove_dir_all(&path);
        if path.exists() {
            result.map_err(LabError::system(format!("removing {}", path.display())))?;
        }
    }
    Ok(())
}

/// The entries of `folder` that belong to terminated processes.
fn orphans(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| owner(name).is_some_and(|owner| !owner.is_running())).collect()
}

/// The process that something of a lab belongs to.
fn owner(name: &str) -> Option<Process> {
    let (id, start) = name.strip_prefix(PREFIX)?.split('-').next()?.split_once('_')?;
    Some(Process { id: id.parse().ok()?, start: start.parse().ok()? })
}

/// Kills all programs in the namespaces, then deletes these with all their links. Those that are
/// gone already are no error.
///
/// # Errors
/// If one is still there.
pub fn remove(namespaces: &BTreeSet<String>) -> Result<(), LabError> {
    if namespaces.is_empty() {
        return Ok(());
    }
    let killed: Result<(), LabError> =
        namespaces.iter().try_for_each(|namespace| kill_programs(namespace));
    let lines: String = namespaces.iter().map(|name| format!("netns delete {name}\n")).collect();
    let result = tools::run("ip", ["-force", "-batch", "-"], &lines);
    let left = namespaces.iter().any(|name| path(name).exists());
    if left { result.map(drop) } else { killed }
}

/// Another process may remove the same namespace at the same time.
fn kill_programs(namespace: &str) -> Result<(), LabError> {
    let ids = match tools::run("ip", ["netns", "pids", namespace], "") {
        Err(_) if !path(namespace).exists() => return Ok(()),
        ids => ids?,
    };
    let this_process = i32::try_from(process::id()).ok();
    for line in ids.lines() {
        let unreadable = |_| LabError::unreadable("ip netns pids", "a process id", line);
        let id: i32 = line.trim().parse().map_err(unreadable)?;
        if let Some(found) = Pid::from_raw(id).filter(|_| Some(id) != this_process) {
            // It may have ended by itself meanwhile.
            let _ = kill_process(found, Signal::KILL);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_give_their_process() {
        let name = format!("{}-router", unique().unwrap());
        let owner = owner(&name).unwrap();
        assert_eq!(owner.id, process::id());
        assert!(owner.is_running(), "it is this one");
        assert_ne!(unique().unwrap(), unique().unwrap());
    }

    #[test]
    fn other_names_have_no_owner() {
        for name in ["heddle-a", "heddle-lab-x-0-router", "heddle-lab-17-0-router", "heddle-lab-"] {
            assert_eq!(owner(name), None, "{name}");
        }
    }

    #[test]
    fn a_reused_process_id_is_another_process() {
        let this_process = Process::running(process::id()).unwrap();
        assert!(!Process { start: this_process.start + 1, ..this_process }.is_running());
    }

    #[test]
    fn a_zombie_has_no_start_time() {
        let stat = |state| {
            format!("17 (a) b) {state} 1 17 17 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 4242 9 9")
        };
        assert_eq!(start_time(&stat("S")), Some(4242));
        assert_eq!(start_time(&stat("Z")), None);
    }

    /// No process has the id 2^22 + 1: Linux's largest is 2^22.
    #[test]
    fn folders_of_terminated_processes_are_removed_and_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let [orphan, own, other] = [
            "heddle-lab-4194305_1-0-abc".to_string(),
            unique().unwrap(),
            "heddle-lab-unrelated".to_string(),
        ]
        .map(|name| folder.path().join(name));
        for path in [&orphan, &own, &other] {
            fs::create_dir_all(path.join("inner")).unwrap();
        }
        remove_folders(folder.path()).unwrap();
        assert_eq!([&orphan, &own, &other].map(|path| path.exists()), [false, true, true]);
    }
}
