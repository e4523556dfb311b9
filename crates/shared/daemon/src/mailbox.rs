//! Requests to the one task that a daemon's state belongs to, each with the way back.

use tokio::sync::{mpsc, oneshot};

/// The answer to a message; none if the task has ended.
pub async fn ask<M, T>(
    to: &mpsc::Sender<M>,
    message: impl FnOnce(oneshot::Sender<T>) -> M,
) -> Option<T> {
    let (back, answer) = oneshot::channel();
    to.send(message(back)).await.ok()?;
    answer.await.ok()
}
