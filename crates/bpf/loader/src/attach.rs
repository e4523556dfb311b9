//! Programs on network interfaces.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use aya::programs::links::{FdLink, LinkError, PinnedLink};
use aya::programs::xdp::{XdpLink, XdpMode};
use aya::programs::{ProgramError, loaded_links};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, netdevice, socket};

use crate::error::failed;
use crate::{Error, Pins, Program, link_pin};

/// The point in the kernel at which a program gets packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// In the interface's driver.
    Native,
    /// Behind it, for interfaces whose driver knows no XDP: slower.
    Generic,
}

impl Mode {
    /// Its name in those of pinned links ([`link_pin`]).
    pub fn hook(self) -> &'static str {
        match self {
            Mode::Native => "xdp",
            Mode::Generic => "xdpgeneric",
        }
    }

    pub(crate) fn other(self) -> Mode {
        match self {
            Mode::Native => Mode::Generic,
            Mode::Generic => Mode::Native,
        }
    }
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

/// Detaches an XDP program from one interface by removing the link that is pinned in `directory`: within
/// moments, if no process has the link open.
///
/// # Errors
/// [`Error::Pins`] if the link's pin cannot be removed, or there is none.
pub fn detach(directory: &Path, interface: u32) -> Result<(), Error> {
    let pin = |mode: Mode| link_pin(directory, mode.hook(), interface);
    let generic = pin(Mode::Generic)?;
    let path = if generic.exists() { generic } else { pin(Mode::Native)? };
    fs::remove_file(&path).map_err(|error| Error::Pins { path, error })
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
        self.attach_by(&Pins::lasting(directory)?, interface, mode)
    }

    /// Attaches the program to an interface: for good, by a link that is pinned among `pins`, where
    /// those outlive the process; else until it is dropped. A link that is pinned there gives its
    /// place to this program between two packets. One of the other mode is replaced, since a link
    /// keeps its mode: packets pass without a program for a moment. So is one whose interface is
    /// gone.
    ///
    /// # Errors
    /// [`Error::Attach`] if the interface has another program or no such mode, [`Error::Link`] if
    /// the link cannot be pinned.
    pub fn attach_by(
        &mut self,
        pins: &Pins,
        interface: u32,
        mode: Mode,
    ) -> Result<Attached, Error> {
        let Pins::Lasting(directory) = pins else {
            return self.attach(interface, mode).map(|()| Attached::Afresh);
        };
        let path = link_pin(directory, mode.hook(), interface)?;
        if path.exists() && self.take_over(&path)? == TakenOver::Yes {
            return Ok(Attached::InPlace);
        }
        let former = link_pin(directory, mode.other().hook(), interface)?;
        if !former.exists() {
            self.attach_pinned(interface, mode, &path)?;
            return Ok(Attached::Afresh);
        }
        fs::remove_file(&former).map_err(failed)?;
        self.attach_when_free(interface, mode, &path).inspect_err(|_| {
            // Better in the mode before than not at all; the error is that of the mode asked for.
            drop(self.attach_when_free(interface, mode.other(), &former));
        })?;
        Ok(Attached::Afresh)
    }

    /// Attaches the program by a new link, pinned at `path`.
    fn attach_pinned(&mut self, interface: u32, mode: Mode, path: &Path) -> Result<(), Error> {
        let xdp = self.xdp_mut()?;
        let attached = xdp.attach_to_if_index(interface, mode.into());
        let id = attached.map_err(|error| refused(interface, error))?;
        let link = FdLink::try_from(xdp.take_link(id)?).map_err(failed)?;
        link.pin(path).map_err(failed)?;
        Ok(())
    }

    /// The same as soon as the kernel has let go of the link before, which it does in its own time.
    fn attach_when_free(&mut self, interface: u32, mode: Mode, path: &Path) -> Result<(), Error> {
        let began = Instant::now();
        loop {
            match self.attach_pinned(interface, mode, path) {
                Err(Error::Attach { error, .. })
                    if is_occupied(&error) && began.elapsed() < RELEASE_LIMIT =>
                {
                    sleep(RELEASE_INTERVAL);
                }
                done => return done,
            }
        }
    }

    /// Puts the program into a pinned link.
    fn take_over(&mut self, path: &Path) -> Result<TakenOver, Error> {
        let pinned = PinnedLink::from_pin(path).map_err(failed)?;
        let link = XdpLink::try_from(FdLink::from(pinned)).map_err(failed)?;
        match self.xdp_mut()?.attach_to_link(link) {
            Ok(_) => Ok(TakenOver::Yes),
            Err(error) if is_orphan(&error) => {
                fs::remove_file(path).map_err(failed)?;
                Ok(TakenOver::No)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// The longest time for which the kernel keeps a link whose pin is gone.
const RELEASE_LIMIT: Duration = Duration::from_secs(2);
const RELEASE_INTERVAL: Duration = Duration::from_millis(5);

/// The interface has another program.
fn is_occupied(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    errno.is_some_and(|errno| [Errno::BUSY, Errno::EXIST].contains(&errno))
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
