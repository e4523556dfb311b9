//! The status socket: who connects is sent the status as one line of JSON. It is root's, or the agent's own user's.

use std::io::{self, Read as _};
use std::os::unix::net::UnixStream as Connection;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use heddle_daemon::socket::Listener;
use heddle_listener::Incoming;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::Status;

/// The longest time that a client takes to read.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The most connections at once.
const MOST_CONNECTIONS: usize = 8;

/// A request for the status, with the way back.
pub type Request = oneshot::Sender<Status>;

/// Serves until it is dropped.
///
/// # Errors
/// If the runtime does not take the socket.
pub async fn serve(listener: Arc<Listener>, to: mpsc::Sender<Request>) -> io::Result<()> {
    let socket = UnixListener::from_std(listener.socket().try_clone()?)?;
    let incoming = Incoming::new(socket, MOST_CONNECTIONS);
    heddle_listener::serve(incoming, std::future::pending(), |stream| {
        let to = to.clone();
        async move {
            if let Err(error) = answer(stream, to).await {
                tracing::debug!(%error, "a status was not sent");
            }
        }
    })
    .await;
    Ok(())
}

async fn answer(mut stream: UnixStream, to: mpsc::Sender<Request>) -> io::Result<()> {
    let (back, status) = oneshot::channel();
    to.send(back).await.map_err(io::Error::other)?;
    let mut line = serde_json::to_vec(&status.await.map_err(io::Error::other)?)?;
    line.push(b'\n');
    timeout(TIMEOUT, stream.write_all(&line)).await?
}

/// The status of the agent at a socket.
///
/// # Errors
/// If none answers there.
pub fn status(socket: &Path) -> io::Result<Status> {
    let mut stream = Connection::connect(socket)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    Ok(serde_json::from_str(&text)?)
}
