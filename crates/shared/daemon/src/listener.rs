//! The accept loop of every server here: a limit of connections, back-off on errors, graceful stop.
//!
//! [`Incoming`] accepts connections, each with a [`Place`] under its [`Limits`]. At a limit the
//! connection that has had no request for the longest time gives way to the new one, if its server
//! lets it ([`Place::displaced`]): clients that say nothing keep nobody out. Where none gives way,
//! further clients wait in the kernel's backlog until a place is free. A failure to accept, such as
//! having no file descriptors left (EMFILE), is logged and tried again after a delay that doubles
//! from 100 ms to 1.6 s. [`serve`] runs a handler for each connection in a task of its own;
//! a server that wants a stream of connections instead, such as tonic's, calls [`Incoming::next`]
//! itself.

mod places;
mod serve;
#[cfg(test)]
mod tests;

pub use places::{Limits, Place, Source, UnderWay};
pub use serve::serve;

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};

use places::{Admission, Places};

/// The delay after the first failure to accept.
const SHORTEST_DELAY: Duration = Duration::from_millis(100);
/// The longest delay.
const LONGEST_DELAY: Duration = Duration::from_millis(1600);

/// A listening socket.
pub trait Listener: Send {
    /// An accepted connection.
    type Stream: Send + 'static;

    /// Accepts one connection, and says where it comes from. Cancel safe: a connection is not lost
    /// if the future is dropped.
    ///
    /// # Errors
    /// The system's, such as EMFILE.
    fn accept(&self) -> impl Future<Output = io::Result<(Self::Stream, Source)>> + Send;
}

/// TCP connections have Nagle's algorithm off.
impl Listener for TcpListener {
    type Stream = TcpStream;

    async fn accept(&self) -> io::Result<(TcpStream, Source)> {
        let (stream, client) = TcpListener::accept(self).await?;
        // Fails if the client has reset the connection already: its first read says so.
        let _ = stream.set_nodelay(true);
        Ok((stream, Source::of(client.ip())))
    }
}

#[cfg(unix)]
impl Listener for UnixListener {
    type Stream = UnixStream;

    async fn accept(&self) -> io::Result<(UnixStream, Source)> {
        Ok((UnixListener::accept(self).await?.0, Source::LOCAL))
    }
}

/// Connections as they come, under limits.
#[derive(Debug)]
pub struct Incoming<L: Listener> {
    listener: L,
    places: Arc<Places>,
    delay: Duration,
    /// One that is accepted and has no place yet.
    accepted: Option<(L::Stream, Source)>,
}

impl<L: Listener> Incoming<L> {
    /// Connections of `listener`.
    pub fn new(listener: L, limits: impl Into<Limits>) -> Incoming<L> {
        let places = Places::new(limits.into());
        Incoming { listener, places, delay: SHORTEST_DELAY, accepted: None }
    }

    /// The next connection, as soon as the limits allow one. One that they refuse is closed. Errors
    /// are logged and tried again. Cancel safe.
    pub async fn next(&mut self) -> (L::Stream, Place) {
        loop {
            self.places.room().await;
            if self.accepted.is_none() {
                match self.listener.accept().await {
                    Ok(accepted) => {
                        self.delay = SHORTEST_DELAY;
                        self.accepted = Some(accepted);
                    }
                    Err(error) => self.back_off(&error).await,
                }
            }
            let Some((stream, source)) = self.accepted.take() else { continue };
            match self.places.admit(source) {
                Admission::Admitted(place) => return (stream, place),
                Admission::Full => self.accepted = Some((stream, source)),
                Admission::Refused => tracing::debug!(?source, "too many connections"),
            }
        }
    }

    async fn back_off(&mut self, error: &io::Error) {
        tracing::warn!(%error, delay = ?self.delay, "a connection could not be accepted");
        let delay = self.delay;
        self.delay = (2 * delay).min(LONGEST_DELAY);
        tokio::time::sleep(delay).await;
    }
}
