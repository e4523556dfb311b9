//! The daemon's end of the admin socket.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use heddle_daemon::socket::Listener;
use heddle_listener::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{UnixListener, UnixStream};

use super::problem::Problem;
use super::protocol::{Reply, Request};
use super::routes;

/// The most connections at once.
const MAX_CONNECTIONS: usize = 16;
/// The longest time for a request's head, the wait for the next request included.
const HEAD_TIMEOUT: Duration = Duration::from_secs(120);
/// The most bytes of a request's head.
const MAX_HEAD_BYTES: usize = 16 << 10;

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
    let incoming = Incoming::new(socket, MAX_CONNECTIONS);
    let router = routes::router(handler);
    heddle_listener::serve(incoming, std::future::pending(), |stream| {
        let router = router.clone();
        async move {
            if let Err(error) = attend(stream, router).await {
                tracing::debug!(%error, "an admin connection was closed");
            }
        }
    })
    .await;
    Ok(())
}

/// One client, until it closes; one that has closed its own direction only, as `nc -N` does, is answered.
async fn attend(
    stream: UnixStream,
    router: axum::Router,
) -> Result<(), Box<dyn std::error::Error>> {
    let user = stream.peer_cred()?.uid();
    let router = if allowed(user) { router } else { routes::forbidden(user) };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .half_close(true)
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    Ok(connection.await?)
}

fn allowed(user: u32) -> bool {
    user == 0 || user == rustix::process::geteuid().as_raw()
}

#[cfg(test)]
mod tests;
