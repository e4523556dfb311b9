//! A client's connection.

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use socket2::{Domain, Socket, Type};

use super::protocol::{INTACT, PLACES, Request, decode_damage};
use super::timed_socket::TimedSocket;
use super::{Status, Transport, payload, subflows};
use crate::Deadline;

/// Limit on the time until a connection is established, and, unless set otherwise, until the next
/// byte.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Time between two looks at the subflows.
const INTERVAL: Duration = Duration::from_millis(5);

/// A second handle on a [`Connection`]'s socket, for its status while a transfer borrows the
/// connection.
#[derive(Debug)]
pub struct StatusReader {
    socket: Socket,
}

impl StatusReader {
    /// As [`Connection::status`].
    ///
    /// # Errors
    /// As that.
    pub fn status(&self) -> io::Result<Status> {
        subflows::status(&self.socket)
    }
}

/// A connection to a [`Server`](crate::Server). An error of any of its methods means that it broke.
#[derive(Debug)]
pub struct Connection {
    socket: TimedSocket,
    backend: String,
}

impl Connection {
    /// Connects from the host that the calling thread is on, and requests the server's name: after
    /// that first exchange the kernel opens further subflows.
    ///
    /// # Errors
    /// If there is no connection within 30 s, or the peer is not a [`Server`](crate::Server).
    pub fn open(transport: Transport, to: SocketAddr) -> io::Result<Connection> {
        let domain = Domain::for_address(to);
        let socket = Socket::new(domain, Type::STREAM, Some(transport.protocol()))?;
        socket.connect_timeout(&to.into(), TIMEOUT)?;
        let mut socket = TimedSocket::new(socket, TIMEOUT, Arc::new(AtomicBool::new(false)))?;
        let backend = request_name(&mut socket)?;
        Ok(Connection { socket, backend })
    }

    /// The name of the server.
    #[must_use]
    pub fn backend(&self) -> &str {
        &self.backend
    }

    /// The client's address and port of the first subflow.
    ///
    /// # Errors
    /// If the socket has no address any more.
    pub fn local(&self) -> io::Result<SocketAddr> {
        self.socket.socket.local_addr()?.as_socket().ok_or(io::ErrorKind::InvalidData.into())
    }

    /// Sets the time without a byte after which the connection counts as broken; 30 s unless set.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.socket.set_timeout(timeout);
    }

    /// Ends waits of this connection once `stop` is set.
    pub(crate) fn set_stop(&mut self, stop: Arc<AtomicBool>) {
        self.socket.set_stop(stop);
    }

    /// Sends a request and receives one byte; returns the round-trip time.
    ///
    /// # Errors
    /// If the connection broke.
    pub fn ping(&mut self) -> io::Result<Duration> {
        let begun = Instant::now();
        self.send(Request::Ping)?;
        self.receive_verdict()?;
        Ok(begun.elapsed())
    }

    /// Receives the payload of `seed` and checks each byte; `progress` is called with the bytes
    /// received so far. Returns the duration.
    ///
    /// # Errors
    /// If the connection broke, or (`InvalidData`) if a byte was wrong.
    pub fn download(
        &mut self,
        bytes: u64,
        seed: u64,
        mut progress: impl FnMut(u64),
    ) -> io::Result<Duration> {
        let begun = Instant::now();
        self.send(Request::Download { bytes, seed })?;
        payload::check(&mut self.socket, bytes, seed, &mut progress)?;
        Ok(begun.elapsed())
    }

    /// Requests a payload and closes the connection with the first bytes of it unread: a kernel
    /// with MPTCP then sends MP_FASTCLOSE (RFC 8684 section 3.5).
    ///
    /// # Errors
    /// If the connection broke before.
    pub fn give_up(mut self, bytes: u64, seed: u64) -> io::Result<()> {
        self.send(Request::Download { bytes, seed })?;
        self.socket.wait_until_readable()
    }

    /// Sends the payload of `seed`, which the server checks; `progress` is called with the bytes
    /// written so far. Returns the duration, the server's verdict included.
    ///
    /// # Errors
    /// If the connection broke, or (`InvalidData`) if a byte arrived wrong.
    pub fn upload(
        &mut self,
        bytes: u64,
        seed: u64,
        mut progress: impl FnMut(u64),
    ) -> io::Result<Duration> {
        let begun = Instant::now();
        let request = Request::Upload { bytes, seed }.encode();
        payload::send_after(&request, &mut self.socket, bytes, seed, &mut progress)?;
        self.receive_verdict()?;
        Ok(begun.elapsed())
    }

    /// Sends a payload of `up` bytes, which the server checks, and receives and checks one of
    /// `down` bytes; both follow from the seed. Returns the time from the first byte to the last.
    ///
    /// # Errors
    /// If the connection broke, or (`InvalidData`) if a byte was wrong in either direction.
    pub fn exchange(&mut self, up: u32, down: u32, seed: u64) -> io::Result<Duration> {
        let begun = Instant::now();
        let mut request = Request::Exchange { up, down, seed }.encode().to_vec();
        payload::send(&mut request, up.into(), seed, &mut |_| ())?;
        self.socket.write_all(&request)?;
        self.receive_verdict()?;
        payload::check(&mut self.socket, down.into(), !seed, &mut |_| ())?;
        Ok(begun.elapsed())
    }

    /// The kernel's state of the connection and its subflows.
    ///
    /// # Errors
    /// If it is not an MPTCP socket, or Linux is older than 6.5.
    pub fn status(&self) -> io::Result<Status> {
        subflows::status(&self.socket.socket)
    }

    /// Waits until `subflows` (the first included) are established, or until `deadline`, which a
    /// busy machine moves as [`Deadline`] does; returns the number of those established.
    ///
    /// # Errors
    /// As [`Connection::status`].
    pub fn wait_for_subflows(&self, subflows: usize, deadline: Instant) -> io::Result<usize> {
        let mut deadline = Deadline::new(deadline.saturating_duration_since(Instant::now()));
        loop {
            let established = self.status()?.established();
            if established >= subflows || deadline.has_passed() {
                return Ok(established);
            }
            thread::sleep(INTERVAL);
        }
    }

    /// A second handle on the socket, for its status during a transfer.
    ///
    /// # Errors
    /// If the system gives no second handle on the socket.
    pub fn status_reader(&self) -> io::Result<StatusReader> {
        Ok(StatusReader { socket: self.socket.socket.try_clone()? })
    }

    fn send(&mut self, request: Request) -> io::Result<()> {
        self.socket.write_all(&request.encode())
    }

    fn receive_verdict(&mut self) -> io::Result<()> {
        let mut verdict = [0];
        self.socket.read_exact(&mut verdict)?;
        if verdict == [INTACT] {
            return Ok(());
        }
        let mut places = [0; PLACES];
        self.socket.read_exact(&mut places)?;
        Err(decode_damage(places).into())
    }
}

fn request_name(socket: &mut TimedSocket) -> io::Result<String> {
    socket.write_all(&Request::Name.encode())?;
    let mut length = [0];
    socket.read_exact(&mut length)?;
    let mut name = vec![0; length[0].into()];
    socket.read_exact(&mut name)?;
    String::from_utf8(name).map_err(|_| io::ErrorKind::InvalidData.into())
}
