//! The status socket: who connects is sent the status as one line of JSON. It is root's, or the
//! agent's own user's.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use heddle_daemon::listener::Place;
use heddle_daemon::mailbox;
use heddle_daemon::socket::{self, Listener};
use tokio::net::UnixStream;
use tokio::sync::{mpsc, oneshot};

use crate::Status;

/// The longest time that a client takes to read.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A request for the status, with the way back.
pub type Request = oneshot::Sender<Status>;

/// Serves until it is dropped.
///
/// # Errors
/// If the runtime does not take the socket.
pub async fn serve(listener: Arc<Listener>, to: mpsc::Sender<Request>) -> io::Result<()> {
    let answered = |stream, place: Place| {
        let displaced = place.displaced();
        let answered = answer(stream, to.clone());
        async move {
            let _place = place;
            tokio::select! {
                answered = answered => answered,
                () = displaced => Ok(()),
            }
        }
    };
    listener.serve(answered).await
}

async fn answer(mut stream: UnixStream, to: mpsc::Sender<Request>) -> io::Result<()> {
    let status = mailbox::ask(&to, |back| back).await;
    let status = status.ok_or_else(|| io::Error::other("the agent is stopping"))?;
    socket::write_line(&mut stream, &status, TIMEOUT).await
}

/// The status of the agent at a socket.
///
/// # Errors
/// If none answers there.
pub fn status(socket: &Path) -> io::Result<Status> {
    socket::exchange(socket, None::<&()>, TIMEOUT)
}
