//! The admin socket: one JSON object a line, each request with one answer, in order. The socket is
//! root's, or the daemon's own user's.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use heddle_daemon::listener::Place;
use heddle_daemon::mailbox;
use heddle_daemon::socket::{self, Listener};
use heddle_program::Failure;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::explain::{Explanation, Packet};
use crate::status::Status;

/// The most bytes of a request's line.
const MOST_BYTES: u64 = 64 << 10;
/// The longest time without a request, and for an answer.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// A request to the daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// The switch's state.
    Status,
    /// A packet's way, and its reasons.
    Explain(Packet),
    /// A link anywhere in the fabric goes down or comes back, as a control plane would tell: routes
    /// follow after the convergence time.
    Link {
        /// The nodes at its ends.
        ends: (String, String),
        /// It works.
        up: bool,
    },
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// To [`Request::Status`].
    Status(Box<Status>),
    /// To [`Request::Explain`].
    Explained(Explanation),
    /// To [`Request::Link`]: links that are down now.
    Links(Vec<(String, String)>),
    /// It was not done.
    Refused(String),
}

/// A request with the way back.
pub type Message = (Request, oneshot::Sender<Answer>);

/// Serves until it is dropped.
///
/// # Errors
/// If the runtime does not take the socket.
pub async fn serve(listener: Arc<Listener>, to: mpsc::Sender<Message>) -> io::Result<()> {
    listener.serve(|stream, place| attend(stream, place, to.clone())).await
}

async fn attend(stream: UnixStream, place: Place, to: mpsc::Sender<Message>) -> io::Result<()> {
    let displaced = place.displaced();
    tokio::select! {
        ended = converse(stream, &place, &to) => ended,
        () = displaced => Ok(()),
    }
}

async fn converse(stream: UnixStream, place: &Place, to: &mpsc::Sender<Message>) -> io::Result<()> {
    let user = stream.peer_cred()?.uid();
    let (from, mut back) = stream.into_split();
    let mut lines = BufReader::new(from);
    loop {
        let mut line = Vec::new();
        let mut limited = (&mut lines).take(MOST_BYTES);
        if timeout(IDLE_TIMEOUT, limited.read_until(b'\n', &mut line)).await?? == 0 {
            return Ok(());
        }
        let under_way = place.begin();
        let answer = match serde_json::from_slice(&line) {
            _ if !socket::is_allowed(user) => {
                Answer::Refused("only root and the daemon's own user may ask".into())
            }
            Err(error) => Answer::Refused(error.to_string()),
            Ok(request) => ask(to, request).await,
        };
        drop(under_way);
        socket::write_line(&mut back, &answer, IDLE_TIMEOUT).await?;
    }
}

/// Asks the daemon's task.
pub async fn ask(to: &mpsc::Sender<Message>, request: Request) -> Answer {
    let answer = mailbox::ask(to, |back| (request, back)).await;
    answer.unwrap_or_else(|| Answer::Refused("the daemon is stopping".into()))
}

/// Asks the daemon at a socket, and waits for its answer.
///
/// # Errors
/// If no daemon answers there, or it refuses.
pub fn call(socket: &Path, request: &Request) -> Result<Answer, Failure> {
    match socket::exchange(socket, Some(request), IDLE_TIMEOUT) {
        Ok(Answer::Refused(why)) => Err(anyhow::Error::msg(why).into()),
        Ok(answer) => Ok(answer),
        Err(error) => {
            let message = format!("no daemon answers at {}: {error}", socket.display());
            Err(Failure::advised(message, fix(&error)))
        }
    }
}

fn fix(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "the socket is root's alone: try it with sudo",
        _ => "heddle-switch run CONFIG starts it",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hundred clients that say nothing, and one that has begun its request.
    #[test]
    fn idle_clients_keep_no_request_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("switch.sock");
        let listener = Arc::new(socket::bind(&path).unwrap());
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.unwrap();
        let (to, mut requests) = mpsc::channel::<Message>(1);
        runtime.spawn(serve(listener, to));
        runtime.spawn(async move {
            while let Some((_, back)) = requests.recv().await {
                back.send(Answer::Links(vec![])).unwrap();
            }
        });
        let connect = || std::os::unix::net::UnixStream::connect(&path).unwrap();
        let idle: Vec<_> = (0..100).map(|_| connect()).collect();
        std::io::Write::write_all(&mut &idle[99], b"{").unwrap();
        let request = Request::Link { ends: ("a".into(), "b".into()), up: true };
        assert_eq!(call(&path, &request).ok(), Some(Answer::Links(vec![])));
    }
}
