//! A client's connection.

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use socket2::{Domain, Socket, Type};

use super::link::Link;
use super::protocol::{INTACT, Request};
use super::{Status, Transport, stream, subflows};

/// How long to wait for a connection, and, unless told otherwise, for the next byte.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often the kernel is asked whether subflows have come up.
const LOOK_UP: Duration = Duration::from_millis(5);

/// Sees what the kernel knows of a [`Connection`].
#[derive(Debug)]
pub struct Watcher {
    socket: Socket,
}

impl Watcher {
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
    link: Link,
    backend: String,
}

impl Connection {
    /// Connects from the host that the calling thread is on, and asks for the server's name: after that first exchange the
    /// kernel opens further subflows.
    ///
    /// # Errors
    /// If nobody answers within 10 s, or it is not a [`Server`](crate::Server).
    pub fn open(transport: Transport, to: SocketAddr) -> io::Result<Connection> {
        let domain = Domain::for_address(to);
        let socket = Socket::new(domain, Type::STREAM, Some(transport.protocol()))?;
        socket.connect_timeout(&to.into(), PATIENCE)?;
        let mut link = Link::new(socket, PATIENCE, Arc::new(AtomicBool::new(false)))?;
        let backend = ask_name(&mut link)?;
        Ok(Connection { link, backend })
    }

    /// Who answered.
    #[must_use]
    pub fn backend(&self) -> &str {
        &self.backend
    }

    /// The client's address and port of the first subflow.
    ///
    /// # Errors
    /// If the system has forgotten it.
    pub fn local(&self) -> io::Result<SocketAddr> {
        self.link.socket.local_addr()?.as_socket().ok_or(io::ErrorKind::InvalidData.into())
    }

    /// How long to wait for the next byte before the connection counts as broken; 10 s unless set.
    pub fn set_patience(&mut self, patience: Duration) {
        self.link.set_patience(patience);
    }

    /// A byte there and back; returns how long that took.
    ///
    /// # Errors
    /// If the connection broke.
    pub fn ping(&mut self) -> io::Result<Duration> {
        let begun = Instant::now();
        self.ask(Request::Ping)?;
        self.hear_intact()?;
        Ok(begun.elapsed())
    }

    /// Receives the stream of `seed` and checks each byte; `progress` hears how many have come. Returns how long it took.
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
        self.ask(Request::Download { bytes, seed })?;
        stream::check(&mut self.link, bytes, seed, &mut progress)?;
        Ok(begun.elapsed())
    }

    /// Sends the stream of `seed`, which the server checks; `progress` hears how many bytes were written.
    /// Returns how long it took, the server's verdict included.
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
        self.ask(Request::Upload { bytes, seed })?;
        stream::send(&mut self.link, bytes, seed, &mut progress)?;
        self.hear_intact()?;
        Ok(begun.elapsed())
    }

    /// What the kernel knows of the connection and its subflows.
    ///
    /// # Errors
    /// If it is not an MPTCP socket, or Linux is older than 6.5.
    pub fn status(&self) -> io::Result<Status> {
        subflows::status(&self.link.socket)
    }

    /// Waits until `subflows` (the first included) are established, or until `deadline`; returns how many are.
    ///
    /// # Errors
    /// As [`Connection::status`].
    pub fn wait_for_subflows(&self, subflows: usize, deadline: Instant) -> io::Result<usize> {
        loop {
            let established = self.status()?.established();
            if established >= subflows || Instant::now() >= deadline {
                return Ok(established);
            }
            thread::sleep(LOOK_UP);
        }
    }

    /// Looks at the connection while something else goes on in it.
    ///
    /// # Errors
    /// If the system gives no second handle on the socket.
    pub fn watcher(&self) -> io::Result<Watcher> {
        Ok(Watcher { socket: self.link.socket.try_clone()? })
    }

    fn ask(&mut self, request: Request) -> io::Result<()> {
        self.link.write_all(&request.encode())
    }

    fn hear_intact(&mut self) -> io::Result<()> {
        let mut verdict = [0];
        self.link.read_exact(&mut verdict)?;
        let damaged =
            || io::Error::new(io::ErrorKind::InvalidData, "it did not arrive as it was sent");
        if verdict == [INTACT] { Ok(()) } else { Err(damaged()) }
    }
}

fn ask_name(link: &mut Link) -> io::Result<String> {
    link.write_all(&Request::Name.encode())?;
    let mut length = [0];
    link.read_exact(&mut length)?;
    let mut name = vec![0; length[0].into()];
    link.read_exact(&mut name)?;
    String::from_utf8(name).map_err(|_| io::ErrorKind::InvalidData.into())
}
