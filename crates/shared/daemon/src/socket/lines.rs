//! Lines of JSON: a value in each.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

/// Writes a value as a line.
///
/// # Errors
/// The socket's; [`io::ErrorKind::TimedOut`] if the client does not read within that time.
pub async fn write_line(
    to: &mut (impl AsyncWrite + Unpin),
    value: &impl Serialize,
    within: Duration,
) -> io::Result<()> {
    timeout(within, to.write_all(&line(value)?)).await?
}

/// Connects to the daemon at a socket, sends a request if there is one, and blocks until its answer
/// has come.
///
/// # Errors
/// If no daemon answers there within that time, or its answer is not understood.
pub fn exchange<T: DeserializeOwned>(
    socket: &Path,
    request: Option<&impl Serialize>,
    within: Duration,
) -> io::Result<T> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(within))?;
    if let Some(request) = request {
        stream.write_all(&line(request)?)?;
    }
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer)?;
    Ok(serde_json::from_str(&answer)?)
}

fn line(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}
