//! `/metrics` and `/healthz` over HTTP/1.1.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use heddle_listener::Incoming;
use hyper::header::{ACCEPT, ALLOW, CONTENT_TYPE, HeaderMap, HeaderValue, VARY};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};

use super::{Format, Health, Snapshot, text};

/// The longest time for a request's head, the first one of a connection and the next.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// The most bytes of a request's head.
const MOST_HEAD_BYTES: usize = 16 << 10;
/// The most connections at once.
const MOST_CONNECTIONS: usize = 64;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";

/// The source of the numbers.
pub trait Source: Send + Sync + 'static {
    /// The metrics now; none if the daemon stops.
    fn snapshot(&self) -> impl Future<Output = Option<Snapshot>> + Send;

    /// The balancer's own health now; none if the daemon stops. The other balancers take this one out of the ring by it.
    fn health(&self) -> impl Future<Output = Option<Health>> + Send;
}

/// Serves until it is dropped.
pub async fn serve(listener: TcpListener, source: Arc<impl Source>) {
    let incoming = Incoming::new(listener, MOST_CONNECTIONS);
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
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MOST_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = connection.await {
        tracing::debug!(%error, "a connection for metrics was closed");
    }
}

async fn answer<B>(request: &Request<B>, source: &impl Source) -> Response<String> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut refused = respond(StatusCode::METHOD_NOT_ALLOWED, PLAIN, "GET only\n".into());
        refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refused;
    }
    match request.uri().path() {
        "/metrics" => metrics(source, accepted(request.headers())).await,
        "/healthz" => health(source).await,
        _ => respond(StatusCode::NOT_FOUND, PLAIN, "see /metrics and /healthz\n".into()),
    }
}

/// 200, or 503 with a line for each cause.
async fn health(source: &impl Source) -> Response<String> {
    let Some(health) = source.health().await else {
        return respond(StatusCode::SERVICE_UNAVAILABLE, PLAIN, "the daemon is stopping\n".into());
    };
    let causes: String = health.causes().map(|cause| format!("{cause}\n")).collect();
    match causes.is_empty() {
        true => respond(StatusCode::OK, PLAIN, "ok\n".into()),
        false => respond(StatusCode::SERVICE_UNAVAILABLE, PLAIN, causes),
    }
}

/// OpenMetrics for those that name it, as Prometheus does; Prometheus' format for all others.
fn accepted(headers: &HeaderMap) -> Format {
    let mut values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    match values.any(|value| value.contains("application/openmetrics-text")) {
        true => Format::OpenMetrics,
        false => Format::Prometheus,
    }
}

async fn metrics(source: &impl Source, format: Format) -> Response<String> {
    let kind = match format {
        Format::OpenMetrics => OPEN_METRICS,
        Format::Prometheus => PROMETHEUS,
    };
    match source.snapshot().await.map(|snapshot| text(snapshot, format)) {
        Some(Ok(text)) => {
            let mut response = respond(StatusCode::OK, kind, text);
            response.headers_mut().insert(VARY, HeaderValue::from_static("accept"));
            response
        }
        _ => respond(StatusCode::SERVICE_UNAVAILABLE, PLAIN, "the daemon is stopping\n".into()),
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
