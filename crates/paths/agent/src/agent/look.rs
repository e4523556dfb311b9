//! Looks at all sockets: they find connections that were there before the agent, subflows whose
//! packets time out, and what a lost event had said.

use std::io;

use heddle_path_service::v1;

use super::connection::{Further, Lease};
use super::{Agent, ESTABLISHED_WITHIN, UNSEEN};
use crate::State;
use crate::diag::{self, Role};
use crate::paths::PathError;

impl Agent {
    /// Compares what is followed with the sockets that there are.
    pub(super) async fn look(&mut self) -> io::Result<()> {
        let sockets = match diag::subflows().await {
            Ok(sockets) => sockets,
            Err(error) => {
                tracing::warn!(%error, "sockets cannot be listed");
                return Ok(());
            }
        };
        self.ports = sockets.iter().map(|one| one.local.port()).collect();
        // One that is closing gets no further subflows.
        for one in sockets.iter().filter(|one| one.role == Role::First && one.is_established) {
            self.follow(one.token, one.local, one.remote);
        }
        for token in self.connections.keys().copied().collect::<Vec<_>>() {
            let subflows: Vec<diag::Subflow> =
                sockets.iter().filter(|one| one.token == token).copied().collect();
            let Some(connection) = self.connections.get_mut(&token) else { continue };
            if subflows.is_empty() {
                connection.unseen += 1;
                if connection.unseen >= UNSEEN {
                    self.end(token).await;
                }
                continue;
            }
            connection.unseen = 0;
            connection.count_foreign(&subflows);
            connection.first_works = first_works(&subflows, self.settings.timeouts);
            self.renew(token).await;
            let failed = self.find_failed(token, &subflows);
            self.maintain(token).await;
            // The replacement is there before the subflow is taken away.
            for subflow in failed {
                if let Err(error) = self.kernel.destroy(token, &subflow.at).await {
                    tracing::debug!(%error, "the kernel does not end a subflow");
                }
            }
        }
        Ok(())
    }

    /// Marks the subflows that time out while others of the connection do not, those that are gone,
    /// and those that were never established.
    fn find_failed(&mut self, token: u32, own: &[diag::Subflow]) -> Vec<Further> {
        let Some(connection) = self.connections.get(&token) else { return Vec::new() };
        let works = own.iter().any(|one| one.timeouts == 0);
        let reason = |subflow: &Further| {
            let socket = own.iter().find(|one| one.local == subflow.at.local);
            let age = subflow.since.elapsed();
            match socket {
                Some(socket) if works && socket.timeouts >= self.settings.timeouts => {
                    Some("its packets time out")
                }
                Some(_) if subflow.state == State::Opening && age > ESTABLISHED_WITHIN => {
                    Some("it was not established")
                }
                None if age > 2 * self.settings.interval => Some("it is gone"),
                _ => None,
            }
        };
        let open = connection.subflows.iter().filter(|one| one.state != State::Failed);
        let failed: Vec<(Further, &str)> =
            open.filter_map(|one| Some((one.clone(), reason(one)?))).collect();
        for (subflow, why) in &failed {
            self.fail(token, subflow.at.local.port(), why);
        }
        failed.into_iter().map(|(subflow, _)| subflow).collect()
    }

    async fn renew(&mut self, token: u32) {
        let Some(connection) = self.connections.get_mut(&token) else { return };
        let Some(lease) = connection.lease.as_mut().filter(|one| one.is_due()) else { return };
        match self.paths.renew(lease.number).await {
            Ok(renewed) => {
                *lease = Lease::new(lease.number, renewed.lease_seconds);
                let down = renewed
                    .affected
                    .iter()
                    .filter(|one| one.link_impact == i32::from(v1::LinkImpact::LinkDown));
                let ports: Vec<u16> =
                    down.filter_map(|one| connection.port_of(one.subflow)).collect();
                for port in ports {
                    self.fail(token, port, "a link of its path is down");
                }
            }
            Err(PathError::NoLease(_)) => connection.forget_lease(),
            Err(error) => connection.problem = Some(error.to_string()),
        }
    }
}

/// False if the first subflow is gone, or its packets time out while those of another do not.
fn first_works(own: &[diag::Subflow], timeouts: u8) -> bool {
    let is_up = own.iter().any(|one| one.timeouts == 0);
    let works = |one: &&diag::Subflow| !is_up || one.timeouts < timeouts;
    own.iter().filter(works).any(|one| one.role == Role::First)
}
