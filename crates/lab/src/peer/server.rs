//! The server: sends its name, and sends and receives payloads.

use std::io::{self, Read, Write};
use std::net::{Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle, Scope};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::{Domain, Socket, Type};

use super::Transport;
use super::payload::{self, Damage};
use super::protocol::{INTACT, REQUEST, Request, encode_verdict};
use super::timed_socket::TimedSocket;

/// Time without a byte after which the server closes a connection.
const IDLE_TIMEOUT: Duration = Duration::from_secs(120);

/// Time between two looks at the stop flag.
const INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// A server on a thread of its own, and one for each connection. Dropping it closes them all.
#[derive(Debug)]
pub struct Server {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens on all addresses, IPv4 and IPv6, of the host that the calling thread is on; clients
    /// receive `name`, at most 255 bytes of it.
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
        let service = Service { name: name.to_string(), stop: stop.clone() };
        let thread =
            thread::Builder::new().name(name.into()).spawn(move || service.accept(&socket))?;
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

struct Service {
    name: String,
    stop: Arc<AtomicBool>,
}

impl Service {
    fn accept(&self, listener: &Socket) {
        thread::scope(|scope| {
            while !self.stop.load(Ordering::Relaxed) {
                let mut ready = [PollFd::new(listener, PollFlags::IN)];
                if matches!(poll(&mut ready, Some(&INTERVAL)), Ok(1..)) {
                    self.accept_one(listener, scope);
                }
            }
        });
    }

    /// Ignores a connection that was closed before it was accepted.
    fn accept_one<'s>(&'s self, listener: &Socket, scope: &'s Scope<'s, '_>) {
        let Ok((socket, _)) = listener.accept() else { return };
        if let Ok(socket) = TimedSocket::new(socket, IDLE_TIMEOUT, self.stop.clone()) {
            scope.spawn(|| self.serve(socket));
        }
    }

    /// Answers requests until the connection or the server ends. The client reports errors.
    fn serve(&self, mut socket: TimedSocket) {
        while !self.stop.load(Ordering::Relaxed) && self.answer(&mut socket).is_ok() {}
    }

    fn answer(&self, socket: &mut TimedSocket) -> io::Result<()> {
        let mut request = [0; REQUEST];
        socket.read_exact(&mut request)?;
        match Request::decode(request) {
            Some(Request::Name) => self.send_name(socket),
            Some(Request::Ping) => socket.write_all(&[INTACT]),
            Some(Request::Download { bytes, seed }) => {
                payload::send(socket, bytes, seed, &mut |_| ())
            }
            Some(Request::Upload { bytes, seed }) => receive_upload(socket, bytes, seed),
            Some(Request::Exchange { up, down, seed }) => exchange(socket, up, down, seed),
            None => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    fn send_name(&self, socket: &mut TimedSocket) -> io::Result<()> {
        let name = self.name.as_bytes();
        let length = u8::try_from(name.len()).unwrap_or(u8::MAX);
        let mut answer = vec![length];
        answer.extend(name.iter().take(length.into()));
        socket.write_all(&answer)
    }
}

/// Checks what came, and answers by one write.
fn exchange(socket: &mut TimedSocket, up: u32, down: u32, seed: u64) -> io::Result<()> {
    let mut answer = receive(socket, up.into(), seed)?;
    payload::send(&mut answer, down.into(), !seed, &mut |_| ())?;
    socket.write_all(&answer)
}

fn receive_upload(socket: &mut TimedSocket, bytes: u64, seed: u64) -> io::Result<()> {
    let verdict = receive(socket, bytes, seed)?;
    socket.write_all(&verdict)
}

/// Receives a payload; returns the verdict on it.
fn receive(socket: &mut TimedSocket, bytes: u64, seed: u64) -> io::Result<Vec<u8>> {
    let verdict = match payload::check(socket, bytes, seed, &mut |_| ()) {
        Ok(()) => Ok(()),
        Err(error) => Err(Damage::of(&error).ok_or(error)?),
    };
    Ok(encode_verdict(verdict))
}
