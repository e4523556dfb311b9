//! The daemon's end of the admin socket.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use heddle_daemon::socket::Listener;
use heddle_listener::Incoming;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::timeout;

use super::protocol::{Answer, Envelope, Problem, ProblemKind, Reply, Request, VERSION};

/// The most bytes of a request's line.
const MOST_BYTES: usize = 64 << 10;
/// The most connections at once.
const MOST_CONNECTIONS: usize = 16;
/// The longest time without a request, and for the client to read an answer.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// A handler of requests.
pub trait Handler: Send + Sync + 'static {
    /// Carries out one request.
    fn handle(&self, request: Request) -> impl Future<Output = Result<Reply, Problem>> + Send;
}

/// Serves until it is dropped.
///
/// # Errors
/// If the runtime does not take the socket.
pub async fn serve(listener: Arc<Listener>, handler: Arc<impl Handler>) -> io::Result<()> {
    let socket = UnixListener::from_std(listener.socket().try_clone()?)?;
    let incoming = Incoming::new(socket, MOST_CONNECTIONS);
    heddle_listener::serve(incoming, std::future::pending(), |stream| {
        let handler = handler.clone();
        async move {
            if let Err(error) = attend(stream, &*handler).await {
                tracing::debug!(%error, "an admin connection was closed");
            }
        }
    })
    .await;
    Ok(())
}

/// One client, until it closes.
async fn attend(stream: UnixStream, handler: &impl Handler) -> io::Result<()> {
    let user = stream.peer_cred()?.uid();
    let (from, mut to) = stream.into_split();
    if !allowed(user) {
        let message = format!("user {user} may not: only root and the daemon's own user");
        return say(&mut to, Err(problem(ProblemKind::Forbidden, message))).await;
    }
    let mut lines = BufReader::new(from);
    while let Some(line) = timeout(IDLE_TIMEOUT, line(&mut lines)).await?? {
        match line {
            Line::Whole(line) => {
                let result = match parse(&line) {
                    Ok(request) => handler.handle(request).await,
                    Err(problem) => Err(problem),
                };
                say(&mut to, result).await?;
            }
            Line::TooLong => {
                let message = format!("a request has at most {MOST_BYTES} bytes");
                return say(&mut to, Err(problem(ProblemKind::TooLong, message))).await;
            }
        }
    }
    Ok(())
}

fn allowed(user: u32) -> bool {
    user == 0 || user == rustix::process::geteuid().as_raw()
}

enum Line {
    Whole(Vec<u8>),
    TooLong,
}

/// The next line; none at the end. A last line without its end counts.
async fn line(from: &mut (impl AsyncBufReadExt + Unpin)) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let read = from.take(MOST_BYTES as u64 + 1).read_until(b'\n', &mut line).await?;
    Ok(match read {
        0 => None,
        n if n > MOST_BYTES => Some(Line::TooLong),
        _ => Some(Line::Whole(line)),
    })
}

fn parse(line: &[u8]) -> Result<Request, Problem> {
    let malformed = |error: serde_json::Error| problem(ProblemKind::Malformed, error.to_string());
    // The version first: a newer request need not be one that is understood here.
    let said: Envelope<serde_json::Value> = serde_json::from_slice(line).map_err(malformed)?;
    if said.version != VERSION {
        let message = format!("version {} was asked, this daemon speaks {VERSION}", said.version);
        return Err(problem(ProblemKind::Malformed, message));
    }
    serde_json::from_value(said.body).map_err(malformed)
}

fn problem(kind: ProblemKind, message: String) -> Problem {
    Problem { kind, message }
}

async fn say(
    to: &mut (impl AsyncWriteExt + Unpin),
    result: Result<Reply, Problem>,
) -> io::Result<()> {
    let answer = result.map_or_else(Answer::Error, Answer::Ok);
    let mut line = serde_json::to_vec(&Envelope::new(answer))?;
    line.push(b'\n');
    timeout(IDLE_TIMEOUT, to.write_all(&line)).await?
}

#[cfg(test)]
mod tests;
