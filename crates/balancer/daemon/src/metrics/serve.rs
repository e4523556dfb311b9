//! `/metrics` and `/healthz` over HTTP/1.1.

use std::future::Future;
use std::sync::Arc;

use heddle_daemon::http::{plain, serve_texts};
use hyper::header::{ALLOW, HeaderValue, VARY};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};
use tokio::net::TcpListener;
use tokio::sync::Mutex;

use super::names::NAMES;
use super::text::Families;
use super::{Format, Health, Snapshot};

/// The source of the numbers.
pub trait Source: Send + Sync + 'static {
    /// The metrics now; none if the daemon stops.
    fn snapshot(&self) -> impl Future<Output = Option<Snapshot>> + Send;

    /// The balancer's own health now; none if the daemon stops. The other balancers take this one
    /// out of the ring by it.
    fn health(&self) -> impl Future<Output = Option<Health>> + Send;
}

/// Serves until it is dropped.
pub async fn serve(listener: TcpListener, source: Arc<impl Source>) {
    let scraped = Arc::new(Mutex::new(()));
    serve_texts(listener, move |head| {
        let (source, scraped) = (source.clone(), scraped.clone());
        async move { answer(&head, &*source, &scraped).await }
    })
    .await;
}

async fn answer(head: &Parts, source: &impl Source, scraped: &Mutex<()>) -> Response<String> {
    if !matches!(head.method, Method::GET | Method::HEAD) {
        let mut refused = plain(StatusCode::METHOD_NOT_ALLOWED, "GET only\n");
        refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refused;
    }
    match head.uri.path() {
        "/metrics" => {
            // One at a time: questions for health wait for one walk over the tables at most.
            let _one = scraped.lock().await;
            metrics(source, Format::accepted(&head.headers)).await
        }
        "/healthz" => health(source).await,
        _ => plain(StatusCode::NOT_FOUND, "see /metrics and /healthz\n"),
    }
}

/// 200, or 503 with a line for each cause.
async fn health(source: &impl Source) -> Response<String> {
    let Some(health) = source.health().await else { return stopping() };
    let causes: String = health.causes().map(|cause| format!("{cause}\n")).collect();
    match causes.is_empty() {
        true => plain(StatusCode::OK, "ok\n"),
        false => plain(StatusCode::SERVICE_UNAVAILABLE, causes),
    }
}

async fn metrics(source: &impl Source, format: Format) -> Response<String> {
    let Some(snapshot) = source.snapshot().await else { return stopping() };
    let mut response = NAMES.response(Families(snapshot), format);
    response.headers_mut().insert(VARY, HeaderValue::from_static("accept"));
    response
}

fn stopping() -> Response<String> {
    plain(StatusCode::SERVICE_UNAVAILABLE, "the daemon is stopping\n")
}

#[cfg(test)]
mod tests;
