//! The signals that end a daemon.

use std::io;

/// Is ready once SIGINT or SIGTERM comes. They are caught from now on: before that they end the
/// daemon at once, also while the kernel works for it.
///
/// # Errors
/// If the system does not let them be caught.
#[cfg(unix)]
pub fn end() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Is ready once Ctrl-C is pressed, or catching it fails.
///
/// # Errors
/// None here.
#[cfg(not(unix))]
pub fn end() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        if let Err(error) = tokio::signal::ctrl_c().await {
            tracing::warn!(%error, "Ctrl-C cannot be caught");
        }
    })
}
