//! The client's end: blocks, on a runtime of its own.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{sleep, timeout};

use super::calls::{self, Call};
use super::problem::{Members, Problem};
use super::protocol::{Reply, Request};

/// The longest wait for an answer.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Between two tries to connect.
const PAUSE: Duration = Duration::from_millis(10);
/// The most bytes of an answer.
const MAX_BYTES: usize = 256 << 20;

/// The reasons for a missing reply.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// No daemon answers at the socket.
    #[error("no daemon answers at {path}: {error}")]
    Connect {
        /// The socket.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The runtime of the client cannot start, or the answer takes too long.
    #[error("the daemon does not answer: {0}")]
    Io(#[from] io::Error),
    /// The connection failed.
    #[error("the daemon does not answer: {0}")]
    Http(#[from] hyper::Error),
    /// The answer cannot be received: it breaks off, or is too long.
    #[error("the daemon's answer is incomplete: {0}")]
    Incomplete(#[from] axum::Error),
    /// The answer cannot be read.
    #[error("the daemon's answer is not understood: {0}")]
    Answer(#[from] serde_json::Error),
    /// The daemon has answered that it cannot.
    #[error(transparent)]
    Problem(#[from] Problem),
}

/// Asks a daemon. Between two questions there is no connection, so that a client that waits takes no
/// place from others.
#[derive(Debug)]
pub struct Client {
    runtime: Runtime,
    path: PathBuf,
    /// The first question's.
    connection: Option<SendRequest<Body>>,
}

impl Client {
    /// Connects to the socket at `path`. Not inside another tokio runtime.
    ///
    /// # Errors
    /// If no daemon listens there, or the user may not connect.
    pub fn connect(path: &Path) -> Result<Client, AskError> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let connection = runtime.block_on(open(path))?;
        Ok(Client { runtime, path: path.into(), connection: Some(connection) })
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn ask(&mut self, request: &Request) -> Result<Reply, AskError> {
        let call = Call::of(request)?;
        let (status, body) = self.runtime.block_on(async {
            let exchange = async {
                let mut connection = match self.connection.take() {
                    Some(connection) => connection,
                    None => open(&self.path).await?,
                };
                exchange(&mut connection, &call).await
            };
            timeout(TIMEOUT, exchange)
                .await
                .map_err(|_| AskError::Io(io::ErrorKind::TimedOut.into()))?
        })?;
        if status.is_success() {
            return Ok(calls::reply(request, &body)?);
        }
        let members: Members = serde_json::from_slice(&body)?;
        Err(Problem::from(members).into())
    }
}

/// Waits while as many connections as the socket takes wait to be accepted (connect(2): EAGAIN).
async fn connect(path: &Path) -> io::Result<UnixStream> {
    let accepted = async {
        loop {
            match UnixStream::connect(path).await {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => sleep(PAUSE).await,
                other => return other,
            }
        }
    };
    timeout(TIMEOUT, accepted).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
}

async fn open(path: &Path) -> Result<SendRequest<Body>, AskError> {
    let stream =
        connect(path).await.map_err(|error| AskError::Connect { path: path.into(), error })?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender)
}

/// Sends a call, and receives its answer.
async fn exchange(
    connection: &mut SendRequest<Body>,
    call: &Call,
) -> Result<(StatusCode, Bytes), AskError> {
    let mut request = hyper::Request::new(Body::empty());
    *request.method_mut() = call.method.clone();
    *request.uri_mut() =
        call.target.parse().map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    let headers = request.headers_mut();
    headers.insert(HOST, hyper::header::HeaderValue::from_static("localhost"));
    if let Some(body) = &call.body {
        headers.insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static("application/json"));
        *request.body_mut() = Body::from(serde_json::to_vec(body)?);
    }
    connection.ready().await?;
    let response: Response<_> = connection.send_request(request).await?;
    let (head, body) = response.into_parts();
    Ok((head.status, to_bytes(Body::new(body), MAX_BYTES).await?))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::thread;

    use super::*;

    /// Connections to a socket until as many wait as it takes.
    async fn crowd(path: &Path) -> Vec<UnixStream> {
        let mut waiting = Vec::new();
        while let Ok(stream) = UnixStream::connect(path).await {
            waiting.push(stream);
        }
        waiting
    }

    #[test]
    fn a_client_waits_for_its_turn_at_a_crowded_socket() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("admin");
        let listener = UnixListener::bind(&path).unwrap();
        rustix::net::listen(&listener, 2).unwrap();
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let waiting = runtime.block_on(crowd(&path));
        let accepts = thread::spawn(move || {
            thread::sleep(3 * PAUSE);
            (0..=waiting.len()).for_each(|_| drop(listener.accept().unwrap()));
        });
        runtime.block_on(connect(&path)).unwrap();
        accepts.join().unwrap();
    }
}
