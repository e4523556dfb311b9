//! The daemon's end of the admin socket.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use heddle_daemon::http::{self, Rules};
use heddle_daemon::listener::Place;
use heddle_daemon::socket::{Listener, is_allowed};
use hyper_util::service::TowerToHyperService;
use tokio::net::UnixStream;

use super::handler::Handler;
use super::routes;

/// A client that has closed its own direction only, as `nc -N` does, is answered.
const RULES: Rules = Rules { head_timeout: Duration::from_secs(10), half_close: true };

/// Serves until it is dropped.
///
/// # Errors
/// If the runtime does not take the socket.
pub async fn serve(listener: Arc<Listener>, handler: Arc<impl Handler>) -> io::Result<()> {
    let router = routes::router(handler);
    listener.serve(|stream, place| attend(stream, place, router.clone())).await
}

async fn attend(
    stream: UnixStream,
    place: Place,
    router: axum::Router,
) -> Result<(), Box<dyn Error + Send>> {
    let boxed = |error: io::Error| -> Box<dyn Error + Send> { Box::new(error) };
    let user = stream.peer_cred().map_err(boxed)?.uid();
    let router = if is_allowed(user) { router } else { routes::forbidden(user) };
    let service = TowerToHyperService::new(router);
    let attended = http::attend_in(place, stream, service, RULES).await;
    attended.map_err(|error| -> Box<dyn Error + Send> { Box::new(error) })
}

#[cfg(test)]
mod tests;
