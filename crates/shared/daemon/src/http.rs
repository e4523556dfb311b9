//! Servers of HTTP/1.1.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use hyper::body::{Body, Incoming as RequestBody};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::{HttpService, Service, service_fn};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};

use crate::listener::{self, Incoming, Limits, Place};

/// The most bytes of a request's head.
const MOST_HEAD_BYTES: usize = 16 << 10;
/// Of clients that anybody may be, in the daemon's network.
const STRANGERS: Limits = Limits { connections: 64, of_source: 8 };
/// The longest time for a request's head from them.
const STRANGERS_HEAD_TIMEOUT: Duration = Duration::from_secs(1);
/// Text for people.
const PLAIN: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// Rules for a connection.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The longest time for a request's head, the wait for the next request included.
    pub head_timeout: Duration,
    /// A client that has closed its own direction only, as `nc -N` does, is answered.
    pub half_close: bool,
}

/// Serves a connection until the client closes it, or until `stop` is ready and the request under
/// way is answered.
///
/// # Errors
/// If the client breaks HTTP or a rule, or is gone.
pub async fn attend<S>(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    service: S,
    rules: Rules,
    stop: impl Future<Output = ()>,
) -> hyper::Result<()>
where
    S: HttpService<RequestBody, Error: Into<Box<dyn std::error::Error + Send + Sync>>>,
    S::ResBody: Body<Error: Into<Box<dyn std::error::Error + Send + Sync>>> + 'static,
{
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .half_close(rules.half_close)
        .header_read_timeout(rules.head_timeout)
        .max_buf_size(MOST_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    }
}

/// Serves a connection until the client closes it, or until the connection gives way to another one
/// while no request is under way.
///
/// # Errors
/// If the client breaks HTTP or a rule, or is gone.
pub async fn attend_in<S, B>(
    place: Place,
    stream: impl AsyncRead + AsyncWrite + Unpin,
    service: S,
    rules: Rules,
) -> hyper::Result<()>
where
    S: Service<Request<RequestBody>, Response = Response<B>>,
    S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    B: Body<Error: Into<Box<dyn std::error::Error + Send + Sync>>> + 'static,
{
    let (displaced, place) = (place.displaced(), &place);
    let service = service_fn(move |request| {
        let under_way = place.begin();
        let answer = service.call(request);
        async move {
            let answer = answer.await;
            drop(under_way);
            answer
        }
    });
    tokio::select! {
        ended = attend(stream, service, rules, std::future::pending()) => ended,
        () = displaced => Ok(()),
    }
}

/// Listens at an address. The socket can be given to a runtime again and again, for a server that
/// starts again.
///
/// # Errors
/// The system's.
pub fn bind(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    let socket = std::net::TcpListener::bind(address)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Serves texts, each from a request's head alone, to anybody, until it is dropped. Limits are per
/// source, heads have to come within a second, and connections without a request give way to new
/// ones.
pub async fn serve_texts<F>(
    listener: TcpListener,
    answer: impl Fn(Parts) -> F + Clone + Send + 'static,
) where
    F: Future<Output = Response<String>> + Send + 'static,
{
    serve_texts_within(STRANGERS_HEAD_TIMEOUT, listener, answer).await;
}

async fn serve_texts_within<F>(
    head_timeout: Duration,
    listener: TcpListener,
    answer: impl Fn(Parts) -> F + Clone + Send + 'static,
) where
    F: Future<Output = Response<String>> + Send + 'static,
{
    let handler = |stream: TcpStream, place: Place| {
        let answer = answer.clone();
        let service = service_fn(move |request: Request<RequestBody>| {
            let answered = answer(request.into_parts().0);
            async move { Ok::<_, Infallible>(answered.await) }
        });
        let rules = Rules { head_timeout, half_close: false };
        async move {
            if let Err(error) = attend_in(place, stream, service, rules).await {
                tracing::debug!(%error, "a connection was closed");
            }
        }
    };
    listener::serve(Incoming::new(listener, STRANGERS), std::future::pending(), handler).await;
}

/// A response of plain text.
pub fn plain(status: StatusCode, text: impl Into<String>) -> Response<String> {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, PLAIN);
    response
}

#[cfg(test)]
mod tests;
