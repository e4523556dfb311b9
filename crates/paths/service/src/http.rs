//! JSON over HTTP/1.1: the same operations as gRPC's, health, and metrics.

mod limit;
mod problem;
mod problem_type;
mod routes;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use heddle_listener::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;

use crate::Service;
use crate::shutdown::Shutdown;
use crate::tls::{Security, Socket};

/// The time in which a connection must send the header of each request, the first one included.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);
/// The largest header of a request, in bytes.
const MAX_HEADER_BYTES: usize = 16 << 10;

/// Serves until the shutdown, and then until the requests under way are answered.
pub async fn serve(
    service: Arc<Service>,
    incoming: Incoming<TcpListener>,
    security: Security,
    shutdown: Shutdown,
) {
    let router = routes::router(service);
    let mut stop = shutdown.clone();
    let handler = |stream| {
        let (security, router, shutdown) = (security.clone(), router.clone(), shutdown.clone());
        async move {
            match security.accept(stream).await {
                Ok(socket) => serve_connection(socket, router, shutdown).await,
                Err(error) => tracing::debug!(%error, "a handshake failed"),
            }
        }
    };
    heddle_listener::serve(incoming, async move { stop.wait().await }, handler).await;
}

/// Serves one connection, until the client closes it, or until the shutdown and the end of the request under way.
async fn serve_connection(socket: Box<dyn Socket>, router: axum::Router, mut shutdown: Shutdown) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(MAX_HEADER_BYTES)
        .serve_connection(TokioIo::new(socket), TowerToHyperService::new(router));
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = shutdown.wait() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection was closed");
    }
}
