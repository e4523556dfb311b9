//! The server: tells its name, and serves and takes streams.

use std::io::{self, Read, Write};
use std::net::{Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle, Scope};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::{Domain, Socket, Type};

use super::Transport;
use super::link::Link;
use super::protocol::{DAMAGED, INTACT, REQUEST, Request};
use super::stream;

/// How long a connection may be silent before the server forgets it.
const PATIENCE: Duration = Duration::from_secs(120);

/// How often a waiting server looks whether to stop.
const LOOK_UP: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// A server on a thread of its own, and one for each connection. Dropping it closes them all.
#[derive(Debug)]
pub struct Server {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens on all addresses, IPv4 and IPv6, of the host that the calling thread is on; answers to `name`, of which clients
    /// are told at most 255 bytes.
    ///
    /// # Errors
    /// If the port is taken, or the kernel has no MPTCP.
    pub fn start(name: &str, transport: Transport, port: u16) -> io::Result<Server> {
        let socket = Socket::new(Domain::IPV6, Type::STREAM, Some(transport.protocol()))?;
        socket.set_only_v6(false)?;
        socket.set_reuse_address(true)?;
        socket.bind(&SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)).into())?;
        socket.listen(1024)?;
        socket.set_nonblocking(true)?;
        let stop = Arc::new(AtomicBool::new(false));
        let host = Host { name: name.to_string(), stop: stop.clone() };
        let thread =
            thread::Builder::new().name(name.into()).spawn(move || host.accept(&socket))?;
        Ok(Server { stop, thread: Some(thread) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Its panic, if any, was printed.
            let _ = thread.join();
        }
    }
}

struct Host {
    name: String,
    stop: Arc<AtomicBool>,
}

impl Host {
    fn accept(&self, listener: &Socket) {
        thread::scope(|scope| {
            while !self.stop.load(Ordering::Relaxed) {
                let mut ready = [PollFd::new(listener, PollFlags::IN)];
                if matches!(poll(&mut ready, Some(&LOOK_UP)), Ok(1..)) {
                    self.take_one(listener, scope);
                }
            }
        });
    }

    /// A connection that went before it was taken is none.
    fn take_one<'s>(&'s self, listener: &Socket, scope: &'s Scope<'s, '_>) {
        let Ok((socket, _)) = listener.accept() else { return };
        if let Ok(link) = Link::new(socket, PATIENCE, self.stop.clone()) {
            scope.spawn(|| self.serve(link));
        }
    }

    /// Until the client has gone, for whatever reason: how it ended is for the client to say.
    fn serve(&self, mut link: Link) {
        while self.answer(&mut link).is_ok() {}
    }

    fn answer(&self, link: &mut Link) -> io::Result<()> {
        let mut request = [0; REQUEST];
        link.read_exact(&mut request)?;
        match Request::decode(request) {
            Some(Request::Name) => self.tell_name(link),
            Some(Request::Ping) => link.write_all(&[INTACT]),
            Some(Request::Download { bytes, seed }) => stream::send(link, bytes, seed, &mut |_| ()),
            Some(Request::Upload { bytes, seed }) => take_upload(link, bytes, seed),
            None => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    fn tell_name(&self, link: &mut Link) -> io::Result<()> {
        let name = self.name.as_bytes();
        let length = u8::try_from(name.len()).unwrap_or(u8::MAX);
        let mut answer = vec![length];
        answer.extend(name.iter().take(length.into()));
        link.write_all(&answer)
    }
}

fn take_upload(link: &mut Link, bytes: u64, seed: u64) -> io::Result<()> {
    match stream::check(link, bytes, seed, &mut |_| ()) {
        Ok(()) => link.write_all(&[INTACT]),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => link.write_all(&[DAMAGED]),
        Err(error) => Err(error),
    }
}
