//! The head of an answer over HTTP/1.1 (RFC 9112).

use std::error::Error;
use std::io;

use hyper::client::conn::http1;
use hyper::header::{CONNECTION, HOST, USER_AGENT};
use hyper::{Request, Version};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::Failure;

/// The most bytes of an answer's head.
const MOST_HEAD_BYTES: usize = 16 << 10;

/// Sends `GET path` and returns the answer's status code.
pub async fn status(stream: TcpStream, path: &str, host: &str) -> Result<u16, Failure> {
    let question = Request::get(path)
        .version(Version::HTTP_11)
        .header(HOST, host)
        .header(USER_AGENT, "heddled")
        .header(CONNECTION, "close")
        .body(String::new())
        .map_err(|error| Failure::Local(error.to_string()))?;
    let mut builder = http1::Builder::new();
    builder.max_buf_size(MOST_HEAD_BYTES);
    let (mut sender, connection) =
        builder.handshake(TokioIo::new(stream)).await.map_err(|error| failure(&error))?;
    let answer = sender.send_request(question);
    tokio::pin!(answer, connection);
    tokio::select! {
        biased;
        answer = &mut answer => answer.map(|answer| answer.status().as_u16()).map_err(|error| failure(&error)),
        ended = &mut connection => match ended {
            // Both may be ready at once: the answer tells more.
            Ok(()) => answer.await.map(|answer| answer.status().as_u16()).map_err(|error| failure(&error)),
            Err(error) => Err(failure(&error)),
        },
    }
}

fn failure(error: &hyper::Error) -> Failure {
    if error.is_incomplete_message() || error.is_canceled() || error.is_closed() {
        return Failure::Closed;
    }
    if error.is_parse() {
        return Failure::NotHttp(error.to_string());
    }
    match error.source().and_then(|cause| cause.downcast_ref::<io::Error>()) {
        Some(cause) => io::Error::new(cause.kind(), cause.to_string()).into(),
        None => Failure::Local(error.to_string()),
    }
}
