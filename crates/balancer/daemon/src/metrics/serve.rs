//! `/metrics` and `/healthz` over HTTP/1.1.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use heddle_listener::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};

use super::{Snapshot, text};

/// How long a socket may take to send a request's head, the first one and the next.
const HEAD: Duration = Duration::from_secs(10);
/// The most bytes of a request's head.
const MOST_HEAD_BYTES: usize = 16 << 10;
/// The most sockets at once; more wait to be accepted.
const MOST_SOCKETS: usize = 64;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";

/// Where the numbers come from.
pub trait Source: Send + Sync + 'static {
    /// What is true now; none if the daemon cannot say.
    fn snapshot(&self) -> impl Future<Output = Option<Snapshot>> + Send;

    /// Whether this balancer does its work; else why not. The other balancers may take it out of the ring by this.
    fn healthy(&self) -> Result<(), String>;
}

/// Serves until it is dropped.
pub async fn serve(listener: TcpListener, source: Arc<impl Source>) {
    let incoming = Incoming::new(listener, MOST_SOCKETS);
    let handler = |stream| attend(stream, source.clone());
    heddle_listener::serve(incoming, std::future::pending(), handler).await;
}

async fn attend(stream: TcpStream, source: Arc<impl Source>) {
    let service = service_fn(|request| {
        let source = source.clone();
        async move { Ok::<_, Infallible>(answer(&request, &*source).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(MOST_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = connection.await {
        tracing::debug!(%error, "a socket for metrics was closed");
    }
}

async fn answer<B>(request: &Request<B>, source: &impl Source) -> Response<String> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut refused = respond(StatusCode::METHOD_NOT_ALLOWED, PLAIN, "GET only\n".into());
        refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refused;
    }
    match request.uri().path() {
        "/metrics" => metrics(source).await,
        "/healthz" => match source.healthy() {
            Ok(()) => respond(StatusCode::OK, PLAIN, "ok\n".into()),
            Err(why) => respond(StatusCode::SERVICE_UNAVAILABLE, PLAIN, format!("{why}\n")),
        },
        _ => respond(StatusCode::NOT_FOUND, PLAIN, "see /metrics and /healthz\n".into()),
    }
}

async fn metrics(source: &impl Source) -> Response<String> {
    match source.snapshot().await.map(text) {
        Some(Ok(text)) => respond(StatusCode::OK, OPEN_METRICS, text),
        _ => respond(StatusCode::SERVICE_UNAVAILABLE, PLAIN, "no numbers now\n".into()),
    }
}

fn respond(status: StatusCode, kind: &'static str, body: String) -> Response<String> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

#[cfg(test)]
mod tests;
