//! The signals that end the service.

use std::io;

/// Is ready once SIGINT or SIGTERM comes. They are caught from now on.
#[cfg(unix)]
pub(crate) fn signalled() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Is ready once Ctrl-C is pressed, or catching it fails.
#[cfg(not(unix))]
pub(crate) fn signalled() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        if let Err(error) = tokio::signal::ctrl_c().await {
            tracing::warn!(%error, "Ctrl-C cannot be caught");
        }
    })
}
