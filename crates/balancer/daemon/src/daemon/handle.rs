//! The way of requests from outside to the daemon's task.

use tokio::sync::{mpsc, oneshot};

use crate::admin::{self, Handler, Problem, ProblemKind, Reply};
use crate::metrics::{Health, Snapshot, Source};

/// A request to the daemon's task, and the channel for its answer.
pub(super) enum Message {
    /// Of the admin socket.
    Admin(admin::Request, oneshot::Sender<Result<Reply, Problem>>),
    /// For `/metrics`.
    Snapshot(oneshot::Sender<Snapshot>),
    /// For `/healthz`.
    Health(oneshot::Sender<Health>),
}

/// Passes requests to the daemon's task, and its answers back.
pub struct Handle {
    to: mpsc::Sender<Message>,
}

impl Handle {
    pub(super) fn new(to: mpsc::Sender<Message>) -> Handle {
        Handle { to }
    }

    /// The answer to a message; none if the daemon stops.
    async fn request<T>(&self, message: impl FnOnce(oneshot::Sender<T>) -> Message) -> Option<T> {
        let (to, answer) = oneshot::channel();
        self.to.send(message(to)).await.ok()?;
        answer.await.ok()
    }
}

impl Handler for Handle {
    async fn handle(&self, request: admin::Request) -> Result<Reply, Problem> {
        let answer = self.request(|to| Message::Admin(request, to)).await;
        answer.unwrap_or_else(|| {
            Err(Problem::new(ProblemKind::Unavailable, "the daemon is stopping"))
        })
    }
}

impl Source for Handle {
    async fn snapshot(&self) -> Option<Snapshot> {
        self.request(Message::Snapshot).await
    }

    async fn health(&self) -> Option<Health> {
        self.request(Message::Health).await
    }
}
