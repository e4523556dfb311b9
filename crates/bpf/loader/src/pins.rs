//! Pins: names of maps and links in a directory of a BPF file system.
//!
//! A daemon's directory outlives it: the next one finds the maps and goes on with their content.
//! Other programs (tests, studies) have a file system of their own that nothing else sees and that
//! ends with them.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use aya::programs::links::{FdLink, PinnedLink};
use rustix::mount::{self, FsMountFlags, FsOpenFlags, MountAttrFlags};

use crate::Error;
use crate::error::failed;

/// The magic number of BPF file systems (linux/magic.h).
const BPF_FS_MAGIC: rustix::fs::FsWord = 0xcafe_4a11;

/// `ip netns exec` mounts a /sys of its own over the machine's.
const NOT_MOUNTED: &str = "is a BPF file system mounted there? As root: mount -t bpf bpf /sys/fs/bpf; `ip netns exec` hides that of the machine: use nsenter --net=/run/netns/NAME";

/// A private file system's name in errors.
const PRIVATE: &str = "a private BPF file system";

/// A directory for pins.
#[derive(Debug)]
pub enum Pins {
    /// A directory that outlives the process.
    Lasting(PathBuf),
    /// A file system that ends with the process.
    Private(OwnedFd),
}

impl Pins {
    /// `directory` of a mounted BPF file system; made if need be.
    ///
    /// # Errors
    /// [`Error::Pins`] if it is on no BPF file system or cannot be made.
    pub fn lasting(directory: &Path) -> Result<Self, Error> {
        let failed = |error| Error::Pins { path: directory.to_owned(), error };
        // First: in the file system of /sys itself nobody can make folders.
        let above = directory.ancestors().find(|path| path.exists()).unwrap_or(directory);
        let system = rustix::fs::statfs(above).map_err(|e| failed(e.into()))?;
        if system.f_type != BPF_FS_MAGIC {
            return Err(failed(io::Error::other(NOT_MOUNTED)));
        }
        fs::create_dir_all(directory).map_err(failed)?;
        Ok(Self::Lasting(directory.to_owned()))
    }

    /// A file system that is mounted nowhere.
    ///
    /// # Errors
    /// [`Error::Pins`] without CAP_SYS_ADMIN.
    pub fn private() -> Result<Self, Error> {
        let mounted = || {
            let system = mount::fsopen("bpf", FsOpenFlags::FSOPEN_CLOEXEC)?;
            mount::fsconfig_create(&system)?;
            mount::fsmount(&system, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())
        };
        mounted()
            .map(Self::Private)
            .map_err(|e: rustix::io::Errno| Error::Pins { path: PRIVATE.into(), error: e.into() })
    }

    /// The path at which `name` is pinned, as this process sees it.
    pub fn path(&self, name: &str) -> PathBuf {
        match self {
            Self::Lasting(directory) => directory.join(name),
            Self::Private(mount) => {
                PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd())).join(name)
            }
        }
    }

    /// The path at which a link to an interface is pinned, if links are ([`link_pin`]).
    ///
    /// # Errors
    /// As there.
    pub fn link(&self, hook: &str, interface: u32) -> Result<Option<PathBuf>, Error> {
        match self {
            Self::Lasting(directory) => link_pin(directory, hook, interface).map(Some),
            Self::Private(_) => Ok(None),
        }
    }
}

/// The prefix of links' names.
const LINK: &str = "link-";

/// The path at which a program's link to an interface ([`crate::interface_index`]) of this thread's
/// network namespace is pinned: `link-HOOK-NAMESPACE-INTERFACE`. Two namespaces have interfaces of
/// the same number, and the namespace's own number tells them apart (namespaces(7)). By numbers:
/// BPF file systems refuse dots in names.
///
/// # Errors
/// [`Error::Pins`] if /proc does not tell the namespace.
pub fn link_pin(directory: &Path, hook: &str, interface: u32) -> Result<PathBuf, Error> {
    Ok(directory.join(format!("{LINK}{hook}-{}-{interface}", namespace()?)))
}

/// The number of the calling thread's network namespace.
fn namespace() -> Result<u64, Error> {
    let found = fs::metadata(NAMESPACE);
    Ok(found.map_err(|error| Error::Pins { path: NAMESPACE.into(), error })?.ino())
}

/// The calling thread's network namespace.
const NAMESPACE: &str = "/proc/thread-self/ns/net";

/// Pins of links in `directory` whose interface is gone: the kernel shows 0 as its number. Whichever
/// network namespace it was in, and whoever may look at that, its links are seen from here.
///
/// # Errors
/// [`Error::Pins`] if the directory or /proc/self/fdinfo cannot be read, [`Error::Link`] if a link
/// cannot be opened.
pub fn left_behind(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |error| Error::Pins { path: directory.to_owned(), error };
    let mut left = Vec::new();
    for pin in fs::read_dir(directory).map_err(failed)?.flatten() {
        let is_link = pin.file_name().to_string_lossy().starts_with(LINK);
        if is_link && interface_of(&pin.path())? == Some(0) {
            left.push(pin.path());
        }
    }
    left.sort();
    Ok(left)
}

/// This process' descriptors, as the kernel describes them.
const DESCRIPTORS: &str = "/proc/self/fdinfo";

/// The number of the interface that a pinned link is attached to; none of a link of another kind.
fn interface_of(pin: &Path) -> Result<Option<u32>, Error> {
    let link = FdLink::from(PinnedLink::from_pin(pin).map_err(failed)?);
    let id = link.info().map_err(failed)?.id();
    let failed = |error| Error::Pins { path: DESCRIPTORS.into(), error };
    let descriptors = fs::read_dir(DESCRIPTORS).map_err(failed)?.flatten();
    // A descriptor that another thread has closed meanwhile is not the link's.
    let texts = descriptors.filter_map(|file| fs::read_to_string(file.path()).ok());
    Ok(texts.filter_map(|text| described(&text, id)).next())
}

/// The interface in the kernel's description of a link, if it has this id.
fn described(text: &str, id: u32) -> Option<u32> {
    let value = |name: &str| {
        let values = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        values.filter_map(|value| value.trim().parse().ok()).next()
    };
    (value("link_id") == Some(id)).then(|| value("ifindex")).flatten()
}

/// Removes the pins in `directory` of links to interfaces of this thread's network namespace, but for
/// those of `keep`: their programs are detached as soon as no process has the links open. Returns
/// the removed pins.
///
/// # Errors
/// [`Error::Pins`] if the directory cannot be read, a pin not removed, or /proc does not tell the
/// namespace.
pub fn release_others(directory: &Path, keep: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let namespace = namespace()?.to_string();
    let is_here =
        |name: &str| name.starts_with(LINK) && name.rsplit('-').nth(1) == Some(namespace.as_str());
    let failed = |error| Error::Pins { path: directory.to_owned(), error };
    let mut released = Vec::new();
    for pin in fs::read_dir(directory).map_err(failed)?.flatten() {
        let path = pin.path();
        if is_here(&pin.file_name().to_string_lossy()) && !keep.contains(&path) {
            fs::remove_file(&path).map_err(|error| Error::Pins { path: path.clone(), error })?;
            released.push(path);
        }
    }
    released.sort();
    Ok(released)
}

/// True if links are pinned in `directory`, to whatever interface.
///
/// # Errors
/// [`Error::Pins`] if the directory cannot be read.
pub fn has_links(directory: &Path) -> Result<bool, Error> {
    let failed = |error| Error::Pins { path: directory.to_owned(), error };
    let is_link = |name: &str| name.starts_with(LINK);
    let mut pins = fs::read_dir(directory).map_err(failed)?.flatten();
    Ok(pins.any(|pin| is_link(&pin.file_name().to_string_lossy())))
}

/// Removes all that is pinned in `directory`, and the directory: programs are detached and maps
/// forgotten as soon as no process has them open. Nothing there is no error.
///
/// # Errors
/// [`Error::Pins`] if something cannot be removed.
pub fn remove_pins(directory: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::Pins { path: directory.to_owned(), error })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_without_an_interface_is_described_with_number_0() {
        let text = |id: u32, interface: u32| {
            format!(
                "pos:\t0\nlink_type:\txdp\nlink_id:\t{id}\nprog_id:\t9\nifindex:\t{interface}\n"
            )
        };
        assert_eq!(described(&text(5, 0), 5), Some(0));
        assert_eq!(described(&text(5, 7), 5), Some(7));
        assert_eq!(described(&text(51, 0), 5), None, "another link");
        assert_eq!(described("pos:\t0\nflags:\t02\n", 5), None, "no link");
    }
}
