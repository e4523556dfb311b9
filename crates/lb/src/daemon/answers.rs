//! Answers to the admin socket.

use super::Core;
use super::wiring::Checks;
use crate::admin::{Problem, ProblemKind, Reply, Request};

impl Core {
    /// Carries a request out.
    pub(super) fn answer(&mut self, request: Request, checks: &Checks) -> Result<Reply, Problem> {
        match request {
            Request::Counters => Ok(Reply::Counters(Box::new(self.snapshot(checks)))),
            Request::Reload => self.reload().map(Reply::Reloaded).map_err(refused),
            _ => Err(refused("not yet".into())),
        }
    }
}

fn refused(message: String) -> Problem {
    Problem { kind: ProblemKind::Refused, message }
}
