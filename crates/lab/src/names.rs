//! Names of namespaces, and what is left of labs whose process is gone.
//!
//! `heddle-lab-<process>-<lab>-<node>`: unique on a machine, and telling whose it is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Pid, Signal, kill_process};

use crate::LabError;
use crate::tools;

const PREFIX: &str = "heddle-lab-";

/// Where iproute2 keeps namespaces that have a name.
const FOLDER: &str = "/run/netns";

/// A prefix for the names of one more lab of this process.
pub(crate) fn new_lab() -> String {
    static LABS: AtomicU32 = AtomicU32::new(0);
    format!("{PREFIX}{}-{}", process::id(), LABS.fetch_add(1, Ordering::Relaxed))
}

/// The file that stands for a namespace.
pub(crate) fn path(namespace: &str) -> PathBuf {
    Path::new(FOLDER).join(namespace)
}

/// Removes the labs of processes that ended without doing so (killed, or aborted), and the programs left in them.
///
/// Every new lab begins with it.
///
/// # Errors
/// If one of them cannot be removed.
pub fn sweep() -> Result<(), LabError> {
    let Ok(entries) = fs::read_dir(FOLDER) else { return Ok(()) };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let orphans: Vec<String> = names.filter(|name| is_orphan(name)).collect();
    remove(&orphans)
}

fn is_orphan(name: &str) -> bool {
    owner(name).is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists())
}

/// The process that a namespace belongs to, if it is a lab's.
fn owner(name: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.split('-').next()?.parse().ok()
}

/// Ends all programs in the namespaces, then deletes these with all their links. Those that are gone already are no error.
pub(crate) fn remove(namespaces: &[String]) -> Result<(), LabError> {
    for namespace in namespaces {
        end_programs(namespace);
    }
    let lines: String = namespaces.iter().map(|name| format!("netns delete {name}\n")).collect();
    let result = tools::run("ip", ["-force", "-batch", "-"], &lines);
    let left = namespaces.iter().any(|name| path(name).exists());
    if left { result.map(drop) } else { Ok(()) }
}

fn end_programs(namespace: &str) {
    let pids = tools::run("ip", ["netns", "pids", namespace], "").unwrap_or_default();
    let own = i32::try_from(process::id()).ok();
    for pid in pids.lines().filter_map(|line| line.parse().ok()) {
        if let Some(found) = Pid::from_raw(pid).filter(|_| Some(pid) != own) {
            // It may have ended by itself meanwhile.
            let _ = kill_process(found, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_its_process_and_strangers_have_none() {
        let name = format!("{}-router", new_lab());
        assert_eq!(owner(&name), Some(process::id()));
        assert!(!is_orphan(&name), "its process is this one");
        assert_ne!(new_lab(), new_lab());
        assert_eq!(owner("heddle-a"), None);
        assert_eq!(owner("heddle-lab-x-0-router"), None);
    }

    #[test]
    fn a_name_whose_process_is_gone_is_an_orphan() {
        // Linux's largest process id is 2^22.
        assert!(is_orphan("heddle-lab-4194305-0-router"));
    }
}
