//! Programs on network interfaces.

use std::io::{self, ErrorKind};
use std::path::Path;

use aya::programs::links::{FdLink, LinkError, PinnedLink};
use aya::programs::xdp::{XdpLink, XdpMode};
use aya::programs::{ProgramError, loaded_links};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, netdevice, socket};

use crate::error::failed;
use crate::{Error, Pins, Program, XDP};

/// The point in the kernel at which a program gets packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// In the interface's driver.
    Native,
    /// Behind it, for interfaces whose driver knows no XDP: slower.
    Generic,
}

impl From<Mode> for XdpMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Native => Self::Driver,
            Mode::Generic => Self::Skb,
        }
    }
}

/// The way in which a program was attached to an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attached {
    /// By a link of its own.
    Afresh,
    /// By the link of the program before it, whose place it took between two packets.
    InPlace,
}

/// The number of the interface of this name, in this thread's network namespace.
///
/// # Errors
/// [`Error::Interface`] if there is none.
pub fn interface_index(name: &str) -> Result<u32, Error> {
    socket(AddressFamily::UNIX, SocketType::DGRAM, None)
        .and_then(|socket| netdevice::name_to_index(socket, name))
        .map_err(|errno| Error::Interface { name: name.into(), error: errno.into() })
}

/// The interface's name, for messages; its number, if the kernel has none by it.
fn named(interface: u32) -> String {
    let name = socket(AddressFamily::UNIX, SocketType::DGRAM, None)
        .and_then(|socket| netdevice::index_to_name(socket, interface));
    name.unwrap_or_else(|_| interface.to_string())
}

/// The ids of the links that hold the program of an id, ascending; none: it is attached without
/// one. Needs CAP_SYS_ADMIN.
///
/// # Errors
/// The kernel's.
pub fn links_of(program: u32) -> io::Result<Vec<u32>> {
    let mut ids = Vec::new();
    for link in loaded_links() {
        match link {
            Ok(link) if link.program_id() == program => ids.push(link.id()),
            Ok(_) => {}
            // It has gone since it was listed.
            Err(LinkError::SyscallError(error)) if error.io_error.kind() == ErrorKind::NotFound => {
            }
            Err(LinkError::SyscallError(error)) => return Err(error.io_error),
            Err(error) => return Err(io::Error::other(error)),
        }
    }
    Ok(ids)
}

impl Program {
    /// Attaches the program to an interface until it is dropped.
    ///
    /// # Errors
    /// [`Error::Attach`] if the interface has a program already, or no such mode.
    pub fn attach(&mut self, interface: u32, mode: Mode) -> Result<(), Error> {
        let attached = self.xdp_mut()?.attach_to_if_index(interface, mode.into());
        attached.map(drop).map_err(|error| refused(interface, error))
    }

    /// Attaches the program to an interface ([`interface_index`]) by a link that is pinned in
    /// `directory`, so that it stays when this process ends: [`crate::detach`] takes it off. One
    /// that is pinned there gives its place to this one.
    ///
    /// # Errors
    /// [`Error::Pins`] if `directory` is on no BPF file system, [`Error::Attach`] if the interface
    /// has another program or knows no such mode, [`Error::Link`] if the link cannot be pinned.
    pub fn attach_lasting(
        &mut self,
        directory: &Path,
        interface: u32,
        mode: Mode,
    ) -> Result<Attached, Error> {
        match Pins::lasting(directory)?.link(XDP, interface)? {
            Some(path) => self.attach_pinned(interface, mode, &path),
            None => self.attach(interface, mode).map(|()| Attached::Afresh),
        }
    }

    /// Attaches the program by the link that is pinned at `path`, in the mode that the link has, or
    /// by a new one to be pinned there. A link whose interface is gone is replaced.
    ///
    /// # Errors
    /// [`Error::Attach`] if the interface has another program or no such mode, [`Error::Link`] if
    /// the link cannot be pinned.
    pub fn attach_pinned(
        &mut self,
        interface: u32,
        mode: Mode,
        path: &Path,
    ) -> Result<Attached, Error> {
        if path.exists() && self.take_over(path)? == TakenOver::Yes {
            return Ok(Attached::InPlace);
        }
        let xdp = self.xdp_mut()?;
        let attached = xdp.attach_to_if_index(interface, mode.into());
        let id = attached.map_err(|error| refused(interface, error))?;
        let link = FdLink::try_from(xdp.take_link(id)?).map_err(failed)?;
        link.pin(path).map_err(failed)?;
        Ok(Attached::Afresh)
    }

    /// Puts the program into a pinned link.
    fn take_over(&mut self, path: &Path) -> Result<TakenOver, Error> {
        let pinned = PinnedLink::from_pin(path).map_err(failed)?;
        let link = XdpLink::try_from(FdLink::from(pinned)).map_err(failed)?;
        match self.xdp_mut()?.attach_to_link(link) {
            Ok(_) => Ok(TakenOver::Yes),
            Err(error) if is_orphan(&error) => {
                std::fs::remove_file(path).map_err(failed)?;
                Ok(TakenOver::No)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// The kernel's reason, which the loader's error leaves out of its text.
fn refused(interface: u32, error: ProgramError) -> Error {
    match error {
        ProgramError::SyscallError(error) => {
            Error::Attach { interface: named(interface), error: error.io_error }
        }
        other => other.into(),
    }
}

/// The result of taking over a link.
#[derive(PartialEq, Eq)]
enum TakenOver {
    Yes,
    /// Its interface is gone.
    No,
}

/// The interface of the link is gone.
pub(crate) fn is_orphan(error: &ProgramError) -> bool {
    let ProgramError::SyscallError(error) = error else { return false };
    error.io_error.raw_os_error() == Some(Errno::NOLINK.raw_os_error())
}
