//! JSON over HTTP/1.1: the same operations as gRPC's, health, and metrics.

mod problem;
mod routes;

use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;

use crate::Service;
use crate::serve::Stop;
use crate::sockets::{Socket, Sockets};

/// How long a socket may take to send a request's head, the first one and the next.
const HEAD: Duration = Duration::from_secs(30);
/// The most bytes of a request's head.
const MOST_HEAD_BYTES: usize = 16 << 10;

/// Serves until told to stop, and then until the requests under way are answered.
pub async fn serve(service: Arc<Service>, mut sockets: Sockets, mut stop: Stop) {
    let (router, graceful) = (routes::router(service), GracefulShutdown::new());
    loop {
        tokio::select! {
            () = stop.wait() => break,
            Some(socket) = sockets.recv() => attend(socket, router.clone(), &graceful),
        }
    }
    drop(sockets);
    graceful.shutdown().await;
}

/// Serves one socket in a task of its own.
fn attend(socket: Socket, router: axum::Router, graceful: &GracefulShutdown) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(MOST_HEAD_BYTES)
        .serve_connection(TokioIo::new(socket), TowerToHyperService::new(router));
    let watched = graceful.watch(connection);
    tokio::spawn(async move {
        if let Err(error) = watched.await {
            tracing::debug!(%error, "a socket was closed");
        }
    });
}
