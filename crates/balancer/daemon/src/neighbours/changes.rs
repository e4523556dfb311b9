//! When links, routes or neighbours change.

use std::io;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SocketFlags, recv};
use tokio::io::unix::AsyncFd;

use super::netlink;

/// Links, neighbours, IPv4 routes, IPv6 routes: `RTNLGRP_*` as bits.
const GROUPS: u32 = 1 << 0 | 1 << 2 | 1 << 6 | 1 << 10;

/// A subscription to the kernel's notices. It tells that something has changed, not what.
#[derive(Debug)]
pub struct Changes {
    socket: AsyncFd<OwnedFd>,
}

impl Changes {
    /// In the network namespace of the calling thread. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// If the kernel has no such socket for this process.
    #[allow(unsafe_code, reason = "tokio has no safe way to wait for a descriptor of its caller's")]
    pub fn open() -> io::Result<Changes> {
        let socket = netlink::open(GROUPS, SocketFlags::NONBLOCK)?;
        // SAFETY: the owned descriptor stays open, and stays the same, until the `AsyncFd` that it moves into is dropped.
        let socket = unsafe { AsyncFd::register(socket) }?;
        Ok(Changes { socket })
    }

    /// Waits for a change; all that came since the last call count as one. May be dropped at any time.
    ///
    /// # Errors
    /// If the socket fails.
    pub async fn next(&mut self) -> io::Result<()> {
        loop {
            let mut ready = self.socket.readable().await?;
            if drain(ready.get_inner())? {
                return Ok(());
            }
            ready.clear_ready();
        }
    }
}

/// Takes all that is there. Returns whether there was anything.
fn drain(socket: &OwnedFd) -> io::Result<bool> {
    let mut any = false;
    loop {
        match recv(socket, &mut [0; 4096][..], RecvFlags::TRUNC) {
            Ok(_) | Err(Errno::INTR) => any = true,
            // Notices were lost: something has changed.
            Err(Errno::NOBUFS) => any = true,
            Err(Errno::AGAIN) => return Ok(any),
            Err(error) => return Err(error.into()),
        }
    }
}
