//! Operations that compute for too long for an asynchronous task.

use crate::{Code, Problem};

/// Runs an operation on a thread for blocking work.
///
/// # Errors
/// Those of the operation; [`Code::Internal`] if it panics.
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let ended = tokio::task::spawn_blocking(work).await;
    ended.unwrap_or_else(|_| {
        Err(Problem::new(Code::Internal, "the service has failed", "see the service's log"))
    })
}
