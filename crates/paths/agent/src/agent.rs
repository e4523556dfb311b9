//! Following connections: each is to have further subflows on paths of their own.
//!
//! Events of the kernel start and end what is done at once; a look at all sockets in regular
//! intervals finds the connections that were there before, subflows whose packets time out, and
//! whatever an event that was lost had said.

mod connection;
mod fill;
mod look;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use crate::admin::Request;
use crate::paths::Paths;
use crate::pm::{Event, Events, PathManager};
use crate::requirements::default_ttl;
use crate::{Counters, State, Status};
use connection::Connection;

/// The agent's parameters.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Subflows of each connection, the first one included: 2 to 16.
    pub subflows: u16,
    /// Time between two looks at all sockets.
    pub interval: Duration,
    /// Retransmission timeouts in a row after which a subflow's path counts as failed.
    pub timeouts: u8,
    /// Time for which a path that failed is not taken again.
    pub hold_down: Duration,
}

/// Four subflows, a look a second, 3 timeouts (1.4 s at the kernel's least timeout), 30 s.
impl Default for Settings {
    fn default() -> Settings {
        Settings {
            subflows: 4,
            interval: Duration::from_secs(1),
            timeouts: 3,
            hold_down: Duration::from_secs(30),
        }
    }
}

/// Time in which a subflow has to be established.
const ESTABLISHED_WITHIN: Duration = Duration::from_secs(10);
/// Looks in a row that do not find a connection, after which it counts as ended.
const UNSEEN: u8 = 2;

/// A path manager for the connections of a network namespace.
#[derive(Debug)]
pub struct Agent {
    kernel: PathManager,
    paths: Paths,
    settings: Settings,
    ttl: u32,
    connections: BTreeMap<u32, Connection>,
    /// Source ports in use at the last look.
    ports: BTreeSet<u16>,
    counters: Counters,
}

impl Agent {
    /// An agent that follows no connection yet.
    #[must_use]
    pub fn new(kernel: PathManager, paths: Paths, settings: Settings) -> Agent {
        Agent {
            kernel,
            paths,
            settings,
            ttl: default_ttl(),
            connections: BTreeMap::new(),
            ports: BTreeSet::new(),
            counters: Counters::default(),
        }
    }

    /// Follows connections until `stop` is done, then gives all leases back. Subflows stay as they
    /// are.
    ///
    /// # Errors
    /// If the connection to the kernel fails.
    pub async fn run(
        mut self,
        mut events: Events,
        mut requests: mpsc::Receiver<Request>,
        stop: impl Future<Output = ()>,
    ) -> io::Result<()> {
        tokio::pin!(stop);
        let mut looks = interval(self.settings.interval);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = &mut stop => break,
                event = events.next() => self.take(event?).await,
                _ = looks.tick() => self.look().await?,
                Some(back) = requests.recv() => {
                    // Who has asked may be gone.
                    let _ = back.send(self.status());
                }
            }
        }
        for (_, connection) in std::mem::take(&mut self.connections) {
            self.give_back(&connection).await;
        }
        Ok(())
    }

    /// The present state.
    #[must_use]
    pub fn status(&self) -> Status {
        let connections = self.connections.iter();
        Status {
            counters: self.counters,
            connections: connections.map(|(token, one)| one.status(*token)).collect(),
        }
    }

    async fn take(&mut self, event: Event) {
        match event {
            Event::Established { token, local, remote, is_server: false } => {
                self.follow(token, local, remote);
                self.maintain(token).await;
            }
            Event::Established { .. } => {}
            Event::Closed { token } => self.end(token).await,
            Event::SubflowEstablished { token, local } => {
                let found =
                    self.connections.get_mut(&token).and_then(|one| one.open_subflow(local.port()));
                if let Some(subflow) = found {
                    subflow.state = State::Established;
                    self.counters.established += 1;
                }
            }
            Event::SubflowClosed { token, local, error } => {
                self.fail(token, local.port(), &format!("it ended with error {error}"));
                // Without an error the connection itself may be ending: a place is then filled at
                // the next look.
                if error != 0 {
                    self.maintain(token).await;
                }
            }
            Event::SubflowPriority { token, local, backup } => {
                if let Some(connection) = self.connections.get_mut(&token) {
                    connection.set_backup(local.port(), backup);
                }
            }
        }
    }

    fn follow(&mut self, token: u32, local: SocketAddr, remote: SocketAddr) {
        if self.connections.contains_key(&token) {
            return;
        }
        self.connections.insert(token, Connection::new(local, remote));
        self.counters.connections += 1;
    }

    async fn end(&mut self, token: u32) {
        if let Some(connection) = self.connections.remove(&token) {
            self.give_back(&connection).await;
        }
    }

    async fn give_back(&mut self, connection: &Connection) {
        let Some(lease) = &connection.lease else { return };
        if let Err(error) = self.paths.close(lease.number).await {
            tracing::debug!(%error, "a lease was not given back: it will expire");
        }
    }

    /// Marks a subflow as failed.
    fn fail(&mut self, token: u32, port: u16, why: &str) {
        let Some(connection) = self.connections.get_mut(&token) else { return };
        if !connection.fail_subflow(port) {
            return;
        }
        self.counters.failed += 1;
        tracing::info!(to = %connection.remote, port, why, "a subflow is no more");
    }
}
