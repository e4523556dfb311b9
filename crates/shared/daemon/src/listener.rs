//! The accept loop of every server here: a limit of connections, back-off on errors, graceful stop.
//!
//! [`Incoming`] accepts connections, each with a [`Permit`]. At the limit it accepts no more, and
//! further clients wait in the kernel's backlog until a permit is dropped. A failure to accept,
//! such as having no file descriptors left (EMFILE), is logged and tried again after a delay that
//! doubles from 100 ms to 1.6 s. [`serve`] runs a handler for each connection in a task of its own;
//! a server that wants a stream of connections instead, such as tonic's, calls [`Incoming::next`]
//! itself.

mod serve;
#[cfg(test)]
mod tests;

pub use serve::serve;

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The delay after the first failure to accept.
const SHORTEST_DELAY: Duration = Duration::from_millis(100);
/// The longest delay.
const LONGEST_DELAY: Duration = Duration::from_millis(1600);

/// A listening socket.
pub trait Listener: Send {
    /// An accepted connection.
    type Stream: Send + 'static;

    /// Accepts one connection. Cancel safe: a connection is not lost if the future is dropped.
    ///
    /// # Errors
    /// The system's, such as EMFILE.
    fn accept(&self) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

/// TCP connections have Nagle's algorithm off.
impl Listener for TcpListener {
    type Stream = TcpStream;

    async fn accept(&self) -> io::Result<TcpStream> {
        let (stream, _) = TcpListener::accept(self).await?;
        // Fails if the client has reset the connection already: its first read says so.
        let _ = stream.set_nodelay(true);
        Ok(stream)
    }
}

#[cfg(unix)]
impl Listener for UnixListener {
    type Stream = UnixStream;

    async fn accept(&self) -> io::Result<UnixStream> {
        Ok(UnixListener::accept(self).await?.0)
    }
}

/// The right to one of the connections under the limit. Dropped, it makes place for another
/// connection.
#[derive(Debug)]
pub struct Permit {
    _permit: OwnedSemaphorePermit,
}

/// Connections as they come, up to a limit at once.
#[derive(Debug)]
pub struct Incoming<L> {
    listener: L,
    permits: Arc<Semaphore>,
    delay: Duration,
}

impl<L: Listener> Incoming<L> {
    /// Connections of `listener`, `limit` at once; a limit of 0 is taken as 1.
    pub fn new(listener: L, limit: usize) -> Incoming<L> {
        let permits = Arc::new(Semaphore::new(limit.clamp(1, Semaphore::MAX_PERMITS)));
        Incoming { listener, permits, delay: SHORTEST_DELAY }
    }

    /// The next connection, as soon as the limit allows one. Errors are logged and tried again.
    /// Cancel safe.
    pub async fn next(&mut self) -> (L::Stream, Permit) {
        let permit = self.permit().await;
        loop {
            match self.listener.accept().await {
                Ok(stream) => {
                    self.delay = SHORTEST_DELAY;
                    return (stream, permit);
                }
                Err(error) => self.back_off(&error).await,
            }
        }
    }

    async fn permit(&self) -> Permit {
        match self.permits.clone().acquire_owned().await {
            Ok(permit) => Permit { _permit: permit },
            // The semaphore is private and never closed.
            Err(_) => std::future::pending().await,
        }
    }

    async fn back_off(&mut self, error: &io::Error) {
        tracing::warn!(%error, delay = ?self.delay, "a connection could not be accepted");
        let delay = self.delay;
        self.delay = (2 * delay).min(LONGEST_DELAY);
        tokio::time::sleep(delay).await;
    }
}
