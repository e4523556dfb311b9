//! Sockets that send to other balancers' steering ports.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

/// The delay after a failure to open a socket.
const OPEN_DELAY: Duration = Duration::from_secs(1);

/// Sockets by the addresses that they send from.
#[derive(Default)]
pub(crate) struct Sockets {
    open: BTreeMap<IpAddr, UdpSocket>,
    failed: BTreeMap<IpAddr, Instant>,
}

impl Sockets {
    /// Sends a message. Returns false if this machine is the reason why it was not sent: then it
    /// proves nothing about the other one.
    pub(crate) fn send(&mut self, from: IpAddr, to: SocketAddr, message: &[u8]) -> bool {
        let Some(socket) = self.socket(from) else { return false };
        match socket.send_to(message, to) {
            Ok(_) => true,
            Err(error) => is_unreachable(&error),
        }
    }

    fn socket(&mut self, from: IpAddr) -> Option<&UdpSocket> {
        if !self.open.contains_key(&from) {
            if self.failed.get(&from).is_some_and(|failed| failed.elapsed() < OPEN_DELAY) {
                return None;
            }
            match open(from) {
                Ok(socket) => drop(self.open.insert(from, socket)),
                Err(error) => {
                    tracing::warn!(%error, %from, "messages to other balancers cannot be sent");
                    self.failed.insert(from, Instant::now());
                }
            }
        }
        self.open.get(&from)
    }
}

fn open(from: IpAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((from, 0))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// True if the network has no way to the other balancer.
fn is_unreachable(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable)
}
