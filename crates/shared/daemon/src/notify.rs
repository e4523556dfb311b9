//! Messages of a daemon to the service manager that started it (sd_notify(3)): units of
//! `Type=notify` are started when the daemon says so. Without a manager nothing is told.

use std::env;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use rustix::time::{ClockId, clock_gettime};

/// The variable with the manager's socket.
const SOCKET: &str = "NOTIFY_SOCKET";

/// The daemon does its work.
pub fn ready() {
    tell("READY=1");
}

/// The daemon reads its configuration again; [`reloaded`] follows.
pub fn reloading() {
    let now = clock_gettime(ClockId::Monotonic);
    let microseconds = now.tv_sec * 1_000_000 + now.tv_nsec / 1_000;
    tell(&format!("RELOADING=1\nMONOTONIC_USEC={microseconds}"));
}

/// The configuration was read, or, with a reason, stays as it was.
pub fn reloaded(refused: Option<&str>) {
    let status = refused.map(|why| format!("the configuration stays as it was: {why}"));
    tell(&format!("READY=1\nSTATUS={}", status.unwrap_or_default().replace('\n', "; ")));
}

/// The daemon ends.
pub fn stopping() {
    tell("STOPPING=1");
}

fn tell(what: &str) {
    let Some(socket) = env::var_os(SOCKET) else { return };
    if let Err(error) = send(socket.as_bytes(), what) {
        tracing::warn!(%error, "the service manager does not take notifications");
    }
}

/// Sends to the socket of a path, or of an abstract name behind `@`.
fn send(socket: &[u8], what: &str) -> io::Result<()> {
    let address = match socket.strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(socket))?,
    };
    UnixDatagram::unbound()?.send_to_addr(what.as_bytes(), &address)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manager_listens_at_a_path_or_an_abstract_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let name = format!("heddle-{}-notify", std::process::id());
        let at_name = SocketAddr::from_abstract_name(&name).unwrap();
        let managers = [
            (UnixDatagram::bind(&path).unwrap(), path.as_os_str().as_bytes().to_vec()),
            (UnixDatagram::bind_addr(&at_name).unwrap(), format!("@{name}").into_bytes()),
        ];
        for (manager, socket) in managers {
            send(&socket, "READY=1").unwrap();
            let mut told = [0; 100];
            let length = manager.recv(&mut told).unwrap();
            assert_eq!(&told[..length], b"READY=1");
        }
        assert!(send(b"/nonexistent/notify", "READY=1").is_err());
    }
}
