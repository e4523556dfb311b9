//! A Unix socket that belongs to one living daemon, and what is said over it as lines of JSON.

mod lines;

pub use lines::{exchange, write_line};

use std::fmt::Display;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, OpenOptionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, fchmod, flock};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind as name, listen};
use tokio::net::UnixStream;

use crate::listener::{self, Incoming, Place};

/// Connections that wait to be accepted.
const BACKLOG: i32 = 64;
/// The most connections at once. Those without a request give way to new ones.
const MOST_CONNECTIONS: usize = 32;
/// Of the directory: everybody may see that the socket is there.
const DIRECTORY_MODE: u32 = 0o755;
/// Of the socket and its lock: the owner's alone.
const SOCKET_MODE: u32 = 0o600;

/// The reasons why the socket cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Another daemon has it.
    #[error("another daemon answers at {0}")]
    InUse(PathBuf),
    /// Something that is no socket is at its place.
    #[error("{0} is in the way: it is not a socket")]
    InTheWay(PathBuf),
    /// The folder of the socket is missing, and the one that it would be in.
    #[error(
        "cannot listen at {path}: the folder {folder} is missing\nhelp: mkdir -p {folder}, or name a socket elsewhere"
    )]
    NoFolder {
        /// The socket's path.
        path: PathBuf,
        /// The folder that the socket's own would be in.
        folder: PathBuf,
    },
    /// The system refused.
    #[error("cannot listen at {path}: {error}{}", fix(error))]
    Io {
        /// The socket's path.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}

/// The fix of what the system refuses for want of rights.
fn fix(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "\nhelp: run it as root, or name a socket in a folder that you may write to"
        }
        _ => "",
    }
}

/// A listening socket, removed when it is dropped.
#[derive(Debug)]
pub struct Listener {
    socket: UnixListener,
    path: PathBuf,
    _lock: File,
}

/// A path that is this process's, without a socket yet.
#[derive(Debug)]
pub struct Reserved {
    path: PathBuf,
    lock: File,
}

/// Listens at `path`, whose directory is made if it alone is missing.
///
/// # Errors
/// See [`BindError`]: among others, while another daemon listens there.
pub fn bind(path: &Path) -> Result<Listener, BindError> {
    reserve(path)?.listen()
}

/// Keeps others from `path`, whose directory is made if it alone is missing, as in /run, which is
/// empty after each boot. A socket there is a dead daemon's, and removed.
///
/// # Errors
/// As [`bind`].
pub fn reserve(path: &Path) -> Result<Reserved, BindError> {
    let io = |error| BindError::Io { path: path.into(), error };
    make_directory(path)?;
    let lock = lock(path).map_err(io)?.ok_or_else(|| BindError::InUse(path.into()))?;
    remove_stale(path)?;
    Ok(Reserved { path: path.into(), lock })
}

/// Makes the directory of a socket. What is missing above it is a misspelt path, or a file system
/// that is not mounted yet.
fn make_directory(path: &Path) -> Result<(), BindError> {
    let is_missing = |directory: &&Path| *directory != Path::new("") && !directory.exists();
    let Some(directory) = path.parent().filter(is_missing) else { return Ok(()) };
    match DirBuilder::new().mode(DIRECTORY_MODE).create(directory) {
        Ok(()) => {
            tracing::info!(directory = %directory.display(), "made the folder of the admin socket");
            Ok(())
        }
        // Another daemon has just made it.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => match directory.parent() {
            Some(above) if error.kind() == io::ErrorKind::NotFound => {
                Err(BindError::NoFolder { path: path.into(), folder: above.into() })
            }
            _ => Err(BindError::Io { path: path.into(), error }),
        },
    }
}

impl Reserved {
    /// Listens there.
    ///
    /// # Errors
    /// The system's.
    pub fn listen(self) -> Result<Listener, BindError> {
        let Reserved { path, lock } = self;
        match open(&path) {
            Ok(socket) => Ok(Listener { socket, path, _lock: lock }),
            Err(error) => Err(BindError::Io { path, error }),
        }
    }
}

/// The lock beside the socket; none if another process holds it. The kernel lets it go when its
/// holder dies.
fn lock(path: &Path) -> io::Result<Option<File>> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".lock");
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(false).mode(SOCKET_MODE).open(beside)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(error) if error == rustix::io::Errno::WOULDBLOCK => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Removes what a daemon left that died.
fn remove_stale(path: &Path) -> Result<(), BindError> {
    let io = |error| BindError::Io { path: path.into(), error };
    match fs::symlink_metadata(path) {
        Ok(found) if found.file_type().is_socket() => fs::remove_file(path).map_err(io),
        Ok(_) => Err(BindError::InTheWay(path.into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(io(error)),
    }
}

fn open(path: &Path) -> io::Result<UnixListener> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    // Before it has a name: at no moment can others connect.
    fchmod(&socket, Mode::from_raw_mode(SOCKET_MODE))?;
    name(&socket, &SocketAddrUnix::new(path)?)?;
    listen(&socket, BACKLOG)?;
    Ok(socket.into())
}

impl Listener {
    /// Serves connections until it is dropped. `attend` says by its place when a request is under
    /// way; while none is, the connection gives way to new ones ([`Place::displaced`]).
    ///
    /// # Errors
    /// If the runtime does not take the socket.
    pub async fn serve<F, E>(
        &self,
        mut attend: impl FnMut(UnixStream, Place) -> F,
    ) -> io::Result<()>
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Display + Send,
    {
        let socket = tokio::net::UnixListener::from_std(self.socket.try_clone()?)?;
        let incoming = Incoming::new(socket, MOST_CONNECTIONS);
        listener::serve(incoming, std::future::pending(), |stream, place| {
            let attended = attend(stream, place);
            async move {
                if let Err(error) = attended.await {
                    tracing::debug!(%error, "an admin connection was closed");
                }
            }
        })
        .await;
        Ok(())
    }
}

/// True if a user is answered: root, and the daemon's own.
pub fn is_allowed(user: u32) -> bool {
    user == 0 || user == rustix::process::geteuid().as_raw()
}

impl Drop for Listener {
    fn drop(&mut self) {
        // The lock is still held: it is this daemon's own. The lock's file stays: removing it would
        // let two daemons hold two files.
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::debug!(%error, "the admin socket was already gone");
        }
    }
}

#[cfg(test)]
mod tests;
