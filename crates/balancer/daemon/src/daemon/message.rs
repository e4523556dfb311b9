//! Requests to the daemon's task.

use tokio::sync::oneshot;

use crate::admin::{self, Problem, Reply, SharedEdit};
use crate::metrics::{Health, Snapshot};
use crate::shared::Write;

/// A request to the daemon's task, and the channel for its answer.
pub(super) enum Message {
    /// Of the admin socket.
    Admin(admin::Request, oneshot::Sender<Result<Reply, Problem>>),
    /// The writes that a change of all balancers takes.
    Prepare(SharedEdit, oneshot::Sender<Result<Prepared, Problem>>),
    /// The answer to a change that etcd has at a revision; none until that has come back.
    Confirm(SharedEdit, i64, oneshot::Sender<Option<Result<Reply, Problem>>>),
    /// For `/metrics`.
    Snapshot(oneshot::Sender<Snapshot>),
    /// For `/healthz`.
    Health(oneshot::Sender<Health>),
}

/// The writes that a command takes.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) writes: Vec<Write>,
    /// The answer, if it tells how things were before.
    pub(super) reply: Option<Reply>,
}
