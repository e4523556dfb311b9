//! JSON over HTTP/1.1: the same operations as gRPC's, health, and metrics.

mod limit;
mod problem;
mod problem_type;
mod routes;

use std::sync::Arc;
use std::time::Duration;

use heddle_daemon::http::{Rules, attend};
use heddle_daemon::listener::{self, Incoming};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;

use crate::Service;
use crate::shutdown::Shutdown;
use crate::tls::{Security, Socket};

/// A connection must send the head of each request in this time, the first one included.
const RULES: Rules = Rules { head_timeout: Duration::from_secs(30), half_close: false };

/// The address of the service's health.
const HEALTH: &str = "/healthz";
/// The address of the OpenAPI document.
const OPENAPI: &str = "/openapi.json";

/// Serves until the shutdown, and then until the requests under way are answered.
pub async fn serve(
    service: Arc<Service>,
    incoming: Incoming<TcpListener>,
    security: Security,
    shutdown: Shutdown,
) {
    let router = routes::router(service);
    let mut stop = shutdown.clone();
    let handler = |stream, place| {
        let (security, router, shutdown) = (security.clone(), router.clone(), shutdown.clone());
        async move {
            let _place = place;
            match security.accept(stream).await {
                Ok(socket) => serve_connection(socket, router, shutdown).await,
                Err(error) => tracing::debug!(%error, "a handshake failed"),
            }
        }
    };
    listener::serve(incoming, async move { stop.wait().await }, handler).await;
}

/// Serves one connection, until the client closes it, or until the shutdown and the end of the
/// request under way.
async fn serve_connection(socket: Box<dyn Socket>, router: axum::Router, mut shutdown: Shutdown) {
    let service = TowerToHyperService::new(router);
    if let Err(error) = attend(socket, service, RULES, shutdown.wait()).await {
        tracing::debug!(%error, "a connection was closed");
    }
}
