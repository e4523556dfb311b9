//! The client's end: blocks, and needs no runtime.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::protocol::{Answer, Envelope, Problem, Reply, Request, VERSION};

/// The longest wait for an answer.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The most bytes of an answer.
const MOST_BYTES: u64 = 256 << 20;

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
    /// The connection failed.
    #[error("the daemon does not answer: {0}")]
    Io(#[from] io::Error),
    /// The answer cannot be read.
    #[error("the daemon's answer is not understood: {0}")]
    Answer(#[from] serde_json::Error),
    /// The daemon speaks another version.
    #[error("the daemon speaks version {0} of the admin protocol, this program {VERSION}")]
    Version(u32),
    /// The daemon has answered that it cannot.
    #[error(transparent)]
    Problem(#[from] Problem),
}

/// A connection to a daemon.
#[derive(Debug)]
pub struct Client {
    stream: BufReader<UnixStream>,
}

impl Client {
    /// Connects to the socket at `path`.
    ///
    /// # Errors
    /// If no daemon listens there, or the user may not connect.
    pub fn connect(path: &Path) -> Result<Client, AskError> {
        let stream = UnixStream::connect(path)
            .map_err(|error| AskError::Connect { path: path.into(), error })?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        Ok(Client { stream: BufReader::new(stream) })
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// See [`AskError`]. After any but a [`Problem`] the connection is of no more use.
    pub fn ask(&mut self, request: &Request) -> Result<Reply, AskError> {
        let mut line = serde_json::to_vec(&Envelope::new(request))?;
        line.push(b'\n');
        self.stream.get_mut().write_all(&line)?;
        let mut answer = Vec::new();
        self.stream.by_ref().take(MOST_BYTES).read_until(b'\n', &mut answer)?;
        if answer.is_empty() {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        let said: Envelope<serde_json::Value> = serde_json::from_slice(&answer)?;
        if said.version != VERSION {
            return Err(AskError::Version(said.version));
        }
        match serde_json::from_value(said.body)? {
            Answer::Ok(reply) => Ok(reply),
            Answer::Error(problem) => Err(problem.into()),
        }
    }
}
