//! The way of requests from outside to the daemon's task.

use std::time::Duration;

use heddle_daemon::mailbox;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep};

use super::message::{Message, Prepared};
use crate::admin::{self, Handler, Problem, ProblemKind, Reply, SharedEdit};
use crate::members::etcd::{self, Store, WriteError};
use crate::metrics::{Health, Snapshot, Source};

/// Attempts to write a shared change while other balancers write the same keys.
const ATTEMPTS: u32 = 5;
/// The longest wait until a shared change that is written comes back.
const CONFIRMATION: Duration = Duration::from_secs(5);
/// The time between two looks whether it has.
const INTERVAL: Duration = Duration::from_millis(10);

/// Passes requests to the daemon's task, and its answers back. Changes of all balancers go through
/// etcd meanwhile, so that the daemon's task never waits for it.
pub struct Handle {
    to: mpsc::Sender<Message>,
    store: Option<Store>,
}

impl Handle {
    pub(super) fn new(to: mpsc::Sender<Message>, store: Option<Store>) -> Handle {
        Handle { to, store }
    }

    /// The answer to a message; none if the daemon stops.
    async fn request<T>(&self, message: impl FnOnce(oneshot::Sender<T>) -> Message) -> Option<T> {
        mailbox::ask(&self.to, message).await
    }

    /// Makes a change of all balancers. With the answer it is in etcd, and in the maps of this
    /// balancer.
    async fn share(&self, edit: SharedEdit) -> Result<Reply, Problem> {
        let Some(store) = &self.store else { return Err(no_store()) };
        for _ in 0..ATTEMPTS {
            let prepared = self.request(|to| Message::Prepare(edit.clone(), to)).await;
            let Prepared { writes, reply } = prepared.unwrap_or_else(|| Err(stopping()))?;
            let written = match etcd::write(store, &writes).await {
                // The other change has to come here before there is another attempt.
                Err(WriteError::Conflict) => {
                    sleep(INTERVAL).await;
                    continue;
                }
                other => other.map_err(|error| not_written(&error))?,
            };
            tracing::info!(?edit, revision = written, "changed on all balancers by command");
            let confirmed = self.confirmed(&edit, written).await?;
            return Ok(reply.unwrap_or(confirmed));
        }
        let message = "other balancers change the same backends all the time; try again";
        Err(Problem::new(ProblemKind::Refused, message))
    }

    /// The answer as soon as this balancer follows the change.
    async fn confirmed(&self, edit: &SharedEdit, revision: i64) -> Result<Reply, Problem> {
        let deadline = Instant::now() + CONFIRMATION;
        while Instant::now() < deadline {
            let answer = self.request(|to| Message::Confirm(edit.clone(), revision, to)).await;
            match answer.ok_or_else(stopping)? {
                Some(answer) => return answer,
                None => sleep(INTERVAL).await,
            }
        }
        let message = "the change is in etcd, and the other balancers follow it; this one has not read it back yet: heddle lb status tells why";
        Err(Problem::new(ProblemKind::Unavailable, message))
    }
}

fn stopping() -> Problem {
    Problem::new(ProblemKind::Unavailable, "the daemon is stopping")
}

/// The balancers have no etcd in common.
fn no_store() -> Problem {
    let message = "the configuration has no etcd that balancers share ([membership.etcd]); make the change on each balancer, without --all (scope=cluster)";
    Problem::new(ProblemKind::Refused, message)
}

/// The message about a write that etcd has not confirmed.
fn not_written(error: &WriteError) -> Problem {
    let message = match error {
        WriteError::NotWritten(_) | WriteError::Conflict => format!(
            "no balancer is changed, this one included; etcd: {error}. Without --all (scope=cluster) a change is made on this balancer alone"
        ),
        WriteError::Unconfirmed(_) => format!(
            "it is not known whether etcd has the change ({error}): heddle lb changes list shows it as soon as etcd answers"
        ),
    };
    Problem::new(ProblemKind::Unavailable, message)
}

impl Handler for Handle {
    async fn handle(&self, request: admin::Request) -> Result<Reply, Problem> {
        if let admin::Request::Shared(edit) = request {
            return self.share(edit).await;
        }
        let answer = self.request(|to| Message::Admin(request, to)).await;
        answer.unwrap_or_else(|| Err(stopping()))
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
