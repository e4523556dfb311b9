//! The raw sockets of probes. Sending a frame to an interface, and socket filters, have no safe wrapper.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, ipproto, recvfrom, sendto,
    socket_with,
};
use tokio::io::unix::AsyncFd;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::packet::{self, Kind};
use crate::health::Failure;

/// The most bytes of an answer that are read.
const MOST_BYTES: usize = 256;

/// The sockets, and the probes that wait for answers.
#[derive(Debug)]
pub struct Sockets {
    /// Frames; receives none.
    frames: OwnedFd,
    /// IPv4 and IPv6 packets with their headers; receive none.
    packets: [OwnedFd; 2],
    waiting: Arc<Mutex<Waiting>>,
    receivers: Mutex<Receivers>,
}

/// The sockets that receive the answers.
#[derive(Debug)]
enum Receivers {
    /// Nothing: there was no probe yet, and the sockets let nothing in.
    Shut([OwnedFd; 2]),
    /// A task for each socket, of IPv4 and IPv6.
    Running { _tasks: JoinSet<()> },
}

/// Probes by the service that is to answer, and the own port.
type Waiting = BTreeMap<(SocketAddr, u16), Expected>;

#[derive(Debug)]
struct Expected {
    ack: u32,
    to: oneshot::Sender<Result<(), Failure>>,
}

/// An answer that is waited for. Dropped, it is not any more.
pub(super) struct Expecting {
    key: (SocketAddr, u16),
    answer: oneshot::Receiver<Result<(), Failure>>,
    waiting: Arc<Mutex<Waiting>>,
}

impl Sockets {
    /// Opens them, with CAP_NET_RAW. Until the first probe they receive nothing.
    ///
    /// # Errors
    /// The system's.
    pub fn open() -> io::Result<Sockets> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let raw = |family, protocol| socket_with(family, SocketType::RAW, flags, Some(protocol));
        let shut = |family| -> io::Result<OwnedFd> {
            let socket = raw(family, ipproto::TCP)?;
            shut(&socket)?;
            Ok(socket)
        };
        let receivers = [shut(AddressFamily::INET)?, shut(AddressFamily::INET6)?];
        Ok(Sockets {
            // Protocol 0: no frame comes here.
            frames: socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None)?,
            packets: [
                raw(AddressFamily::INET, ipproto::RAW)?,
                raw(AddressFamily::INET6, ipproto::RAW)?,
            ],
            waiting: Arc::default(),
            receivers: Mutex::new(Receivers::Shut(receivers)),
        })
    }

    /// Begins to receive, with the first probe. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn listen(&self) -> io::Result<()> {
        let mut receivers = self.receivers.lock().unwrap_or_else(PoisonError::into_inner);
        let Receivers::Shut(sockets) = &*receivers else { return Ok(()) };
        let mut tasks = JoinSet::new();
        for socket in sockets {
            let own = socket.try_clone()?;
            // SAFETY: the descriptor is owned by what is registered, and closes with it.
            let own = unsafe { AsyncFd::register(own)? };
            tasks.spawn(receive(own, self.waiting.clone()));
            open(socket)?;
        }
        *receivers = Receivers::Running { _tasks: tasks };
        Ok(())
    }

    /// The answer of a service to a port, with this acknowledgement.
    pub(super) fn expect(&self, vip: SocketAddr, port: u16, ack: u32) -> Expecting {
        let (to, answer) = oneshot::channel();
        let key = (vip, port);
        lock(&self.waiting).insert(key, Expected { ack, to });
        Expecting { key, answer, waiting: self.waiting.clone() }
    }

    /// Sends an IP packet with its header.
    pub(super) fn send_ip(&self, to: IpAddr, packet: &[u8]) -> io::Result<()> {
        let socket = &self.packets[usize::from(to.is_ipv6())];
        sendto(socket, packet, SendFlags::empty(), &SocketAddr::new(to, 0))?;
        Ok(())
    }

    /// Sends a frame out of an interface.
    pub(super) fn send_frame(&self, interface: u32, frame: &[u8]) -> io::Result<()> {
        // SAFETY: all of its fields are integers, for which 0 is a value.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_ifindex = interface as i32;
        // SAFETY: both pointers are of living values of the lengths that are given.
        let sent = unsafe {
            libc::sendto(
                self.frames.as_raw_fd(),
                frame.as_ptr().cast(),
                frame.len(),
                0,
                (&raw const address).cast(),
                size_of::<libc::sockaddr_ll>() as u32,
            )
        };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// Lets nothing into a socket.
fn shut(socket: &OwnedFd) -> io::Result<()> {
    let mut nothing =
        [libc::sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k: 0 }];
    let program = libc::sock_fprog { len: 1, filter: nothing.as_mut_ptr() };
    // SAFETY: the program and its instruction live until the call returns, and the kernel copies them.
    unsafe { set_option(socket, libc::SO_ATTACH_FILTER, &program) }
}

/// Lets everything in.
fn open(socket: &OwnedFd) -> io::Result<()> {
    let ignored: libc::c_int = 0;
    // SAFETY: an integer, which the kernel does not read.
    unsafe { set_option(socket, libc::SO_DETACH_FILTER, &ignored) }
}

/// Sets an option of sockets in general.
///
/// # Safety
/// The value is the option's, with all that it points to.
unsafe fn set_option<T>(socket: &OwnedFd, option: libc::c_int, value: &T) -> io::Result<()> {
    let (value, length) = ((&raw const *value).cast(), size_of::<T>() as u32);
    // SAFETY: the pointer is of a living value of the length that is given.
    let set =
        unsafe { libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, option, value, length) };
    if set < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

impl Expecting {
    pub(super) async fn received(mut self) -> Result<(), Failure> {
        match (&mut self.answer).await {
            Ok(answer) => answer,
            // Never while this one waits: its sender is in the list.
            Err(_) => Err(Failure::Closed),
        }
    }
}

impl Drop for Expecting {
    fn drop(&mut self) {
        lock(&self.waiting).remove(&self.key);
    }
}

/// Reads answers until it is dropped.
async fn receive(socket: AsyncFd<OwnedFd>, waiting: Arc<Mutex<Waiting>>) {
    let mut buffer = [0; MOST_BYTES];
    loop {
        let Ok(mut ready) = socket.readable().await else { return };
        let read = ready.try_io(|socket| Ok(recvfrom(socket, &mut buffer[..], RecvFlags::TRUNC)?));
        match read {
            Ok(Ok((_, length, from))) => {
                let from = from.and_then(|from| SocketAddr::try_from(from).ok());
                if let Some(from) = from {
                    take_in(&waiting, from.ip(), &buffer[..length.min(MOST_BYTES)]);
                }
            }
            Ok(Err(error)) => {
                tracing::debug!(%error, "an answer to a probe cannot be received");
                tokio::task::yield_now().await;
            }
            Err(_not_ready) => {}
        }
    }
}

/// Raw sockets of IPv4 give the IP header, too.
fn take_in(waiting: &Mutex<Waiting>, from: IpAddr, bytes: &[u8]) {
    let segment = match from {
        IpAddr::V4(_) => packet::in_ipv4(bytes),
        IpAddr::V6(_) => Some(bytes),
    };
    let Some(answer) = segment.and_then(packet::answer) else { return };
    let key = (SocketAddr::new(from, answer.source_port), answer.destination_port);
    let result = match answer.kind {
        Kind::SynAck => Ok(()),
        Kind::Reset => Err(Failure::Refused),
        Kind::Other => return,
    };
    let mut waiting = lock(waiting);
    if waiting.get(&key).is_some_and(|expected| expected.ack == answer.ack)
        && let Some(expected) = waiting.remove(&key)
    {
        // The probe may have timed out.
        let _ = expected.to.send(result);
    }
}

/// No task panics while it holds the lock, so the list is whole.
fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}
