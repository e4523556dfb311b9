//! Where requests from outside come in.

use tokio::sync::{mpsc, oneshot};

use crate::admin::{Handler, Problem, ProblemKind, Reply, Request};
use crate::metrics::{Snapshot, Source};

/// What the daemon's task is asked.
pub(super) enum Ask {
    /// Over the admin socket.
    Admin(Request, oneshot::Sender<Result<Reply, Problem>>),
    /// For metrics.
    Snapshot(oneshot::Sender<Snapshot>),
}

/// Passes requests to the daemon's task, and its answers back.
pub struct Door {
    to: mpsc::Sender<Ask>,
}

impl Door {
    pub(super) fn new(to: mpsc::Sender<Ask>) -> Door {
        Door { to }
    }
}

impl Handler for Door {
    async fn handle(&self, request: Request) -> Result<Reply, Problem> {
        let gone =
            || Problem { kind: ProblemKind::Internal, message: "the daemon is stopping".into() };
        let (to, answer) = oneshot::channel();
        self.to.send(Ask::Admin(request, to)).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

impl Source for Door {
    async fn snapshot(&self) -> Option<Snapshot> {
        let (to, answer) = oneshot::channel();
        self.to.send(Ask::Snapshot(to)).await.ok()?;
        answer.await.ok()
    }

    fn healthy(&self) -> Result<(), String> {
        if self.to.is_closed() { Err("the daemon is stopping".into()) } else { Ok(()) }
    }
}
