//! The capabilities (capabilities(7)) that the daemon holds; it drops all others.
//!
//! Found by trying on Linux 6.18 with `kernel.unprivileged_bpf_disabled = 2`; the tests try it
//! again:
//!
//! | What | Needs |
//! | --- | --- |
//! | Loading the programs, making and finding pinned maps | CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON ([`STARTING`]) |
//! | Reading and writing maps by descriptor, also through shared memory | nothing (CAP_BPF before Linux 5.19) |
//! | Explaining a packet (`BPF_PROG_RUN` of a loaded program) | nothing |
//! | Attaching a loaded program to another interface by a link | nothing |
//! | Routes, neighbours, attached programs and notifications by rtnetlink; health checks; the admin socket | nothing |
//!
//! So a daemon that has loaded its programs keeps none ([`RUNNING`]). It remains the user that it
//! was: as root it still owns root's files, which a service unit takes away by its own means. A
//! reload that needs new maps is a restart, which loses no packet.

use std::fs;
use std::io;

use rustix::io::Errno;
use rustix::thread::{
    CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

pub use rustix::thread::CapabilitySet;

/// The capabilities needed until the programs are loaded and attached.
pub const STARTING: CapabilitySet =
    CapabilitySet::BPF.union(CapabilitySet::NET_ADMIN).union(CapabilitySet::PERFMON);

/// The capabilities needed from then on.
pub const RUNNING: CapabilitySet = CapabilitySet::empty();

/// The reasons why capabilities cannot be dropped.
#[derive(Debug, thiserror::Error)]
pub enum PrivilegeError {
    /// Capabilities are each thread's own: the process has more than one, and the others would keep
    /// theirs.
    #[error("capabilities cannot be dropped: the process has {0} threads already")]
    Threads(usize),
    /// The kernel refused.
    #[error("capabilities cannot be dropped: {0}")]
    Kernel(#[from] io::Error),
}

/// Drops all capabilities but `keep`, for good: no program that the process starts gets them back.
/// To be called while the process has one thread; threads started later inherit. Returns what is
/// held now: those of `keep` that were held before.
///
/// # Errors
/// [`PrivilegeError::Threads`], before anything has changed; else what the kernel says.
pub fn drop_all_but(keep: CapabilitySet) -> Result<CapabilitySet, PrivilegeError> {
    let threads = fs::read_dir("/proc/self/task")?.count();
    if threads != 1 {
        return Err(PrivilegeError::Threads(threads));
    }
    Ok(drop_in_thread(keep)?)
}

/// The same for the calling thread alone.
///
/// # Errors
/// The kernel's.
pub fn drop_in_thread(keep: CapabilitySet) -> io::Result<CapabilitySet> {
    let before = capabilities(None)?;
    // Without this one the bounding set stays; it only matters to programs that gain capabilities,
    // which are none from here on.
    if before.effective.contains(CapabilitySet::SETPCAP) {
        bound(keep)?;
    }
    clear_ambient_capability_set()?;
    let kept = before.permitted & keep;
    let after =
        CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    set_capabilities(None, after)?;
    set_no_new_privs(true)?;
    Ok(kept)
}

/// Takes all but `keep` out of the bounding set.
fn bound(keep: CapabilitySet) -> io::Result<()> {
    for capability in (CapabilitySet::all() - keep).iter() {
        match remove_capability_from_bounding_set(capability) {
            // An older kernel does not know it.
            Ok(()) | Err(Errno::INVAL) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
