//! Failures between this crate and the kernel.

use std::io;
use std::path::PathBuf;

use aya::maps::MapError;
use aya::programs::ProgramError;
use rustix::io::Errno;

/// A failure of the kernel's or of this crate's.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The object could not be loaded: a map could not be made, or the object and this crate do not
    /// fit.
    #[error(transparent)]
    Object(Box<aya::EbpfError>),
    /// The object has no such map or program.
    #[error("the eBPF object has no {0}")]
    Missing(&'static str),
    /// A program was refused by the verifier, or could not be run or attached.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// A map could not be read or written.
    #[error(transparent)]
    Map(#[from] MapError),
    /// A map of devices refused one.
    #[error(transparent)]
    Device(#[from] aya::maps::xdp::XdpMapError),
    /// No file system for pins could be made or used.
    #[error("cannot use {} for pinned eBPF objects: {error}", path.display())]
    Pins {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A pinned map is not the one that this program needs.
    #[error("the pinned map {} does not fit: {why}; stop the program that uses it and remove its pins to start afresh", path.display())]
    Misfit {
        /// Its pin.
        path: PathBuf,
        /// The difference.
        why: String,
    },
    /// A map could not be mapped into memory.
    #[error("cannot map {map} into memory: {error}")]
    Memory {
        /// The map's name.
        map: &'static str,
        /// The system's error.
        error: io::Error,
    },
    /// There is no such network interface.
    #[error("no network interface {name}: {error}")]
    Interface {
        /// Its name.
        name: String,
        /// The system's error.
        error: io::Error,
    },
    /// The kernel does not attach the program to an interface.
    #[error("cannot attach to interface {interface}: {}", refusal(error))]
    Attach {
        /// The interface.
        interface: String,
        /// The kernel's error.
        error: io::Error,
    },
    /// A link could not be pinned, or a pinned one not be used.
    #[error("cannot pin or take over the program's link to an interface: {0}")]
    Link(String),
    /// A program cannot be measured.
    #[error("cannot measure: {0}")]
    Bench(String),
    /// An index beyond the end of a map.
    #[error("{map} has {entries} entries: no place for {index}")]
    OutOfBounds {
        /// The map's name.
        map: &'static str,
        /// The index asked for.
        index: u64,
        /// The number of entries.
        entries: u64,
    },
}

/// The usual reasons of drivers and kernel for not taking an XDP program.
fn refusal(error: &io::Error) -> String {
    let why = match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::BUSY | Errno::EXIST) => {
            "it has another XDP program\nhelp: ip -details link names it; ip link set dev DEVICE xdp off takes it off, or, where bpftool link show has a link of it, bpftool link detach id ID"
        }
        Some(Errno::OPNOTSUPP) => "its driver has no native XDP\nhelp: --attach generic",
        Some(Errno::INVAL | Errno::RANGE) => {
            "its driver does not take XDP programs with this MTU or as many queues\nhelp: a smaller MTU (3502 or less), fewer queues, or --attach generic"
        }
        _ => return error.to_string(),
    };
    let (why, help) = why.split_once('\n').unwrap_or((why, ""));
    format!("{why} ({error})\n{help}")
}

impl From<aya::EbpfError> for Error {
    fn from(error: aya::EbpfError) -> Self {
        Self::Object(Box::new(error))
    }
}

/// A failure of a link, with all its causes.
pub(crate) fn failed(error: impl std::error::Error) -> Error {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    Error::Link(text)
}
