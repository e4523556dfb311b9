//! Following connections: each is to have further subflows on paths of their own.
//!
//! Events of the kernel start and end what is done at once; a look at all sockets in regular intervals finds the connections that were there
//! before, subflows whose packets time out, and whatever an event that was lost had said.

mod connection;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use heddle_path_service::v1;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::admin::Request;
use crate::diag::{self, Role};
use crate::paths::{PathError, Paths};
use crate::pm::{Event, Events, PathManager};
use crate::requirements::default_ttl;
use crate::{Counters, State, Status};
use connection::{Connection, Further, Lease};

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

    /// Follows connections until `stop` is done, then gives all leases back. Subflows stay as they are.
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
            // Its place is filled at the next look: the connection itself may be ending.
            Event::SubflowClosed { token, local, error } => {
                self.fail(token, local.port(), &format!("it ended with error {error}"));
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
        let Some(subflow) = connection.open_subflow(port) else { return };
        (subflow.state, subflow.since) = (State::Failed, Instant::now());
        self.counters.failed += 1;
        tracing::info!(to = %connection.remote, port, why, "a subflow is no more");
    }

    /// Compares what is followed with the sockets that there are.
    async fn look(&mut self) -> io::Result<()> {
        let sockets = match diag::subflows().await {
            Ok(sockets) => sockets,
            Err(error) => {
                tracing::warn!(%error, "sockets cannot be listed");
                return Ok(());
            }
        };
        self.ports = sockets.iter().map(|one| one.local.port()).collect();
        for one in sockets.iter().filter(|one| one.role == Role::First) {
            self.follow(one.token, one.local, one.remote);
        }
        for token in self.connections.keys().copied().collect::<Vec<_>>() {
            let own: Vec<diag::Subflow> =
                sockets.iter().filter(|one| one.token == token).copied().collect();
            let Some(connection) = self.connections.get_mut(&token) else { continue };
            if own.is_empty() {
                connection.unseen += 1;
                if connection.unseen >= UNSEEN {
                    self.end(token).await;
                }
                continue;
            }
            connection.unseen = 0;
            connection.count_foreign(&own);
            self.renew(token).await;
            let failed = self.find_failed(token, &own);
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

    /// Marks the subflows that time out while others of the connection do not, those that are gone, and those that were never established.
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

    /// Opens what a connection lacks, and gives back paths that failed long enough ago.
    async fn maintain(&mut self, token: u32) {
        let Some(mut connection) = self.connections.remove(&token) else { return };
        self.release_held(&mut connection).await;
        if connection.may_retry() {
            match self.fill(token, &mut connection).await {
                Ok(()) => connection.succeed(),
                Err(Fill::Outside) => {
                    self.counters.outside += 1;
                    connection.is_outside = true;
                }
                Err(Fill::Problem(why)) => {
                    tracing::warn!(to = %connection.remote, why, "a subflow is missing");
                    connection.fail(why);
                }
            }
        }
        self.connections.insert(token, connection);
    }

    async fn release_held(&mut self, connection: &mut Connection) {
        let Some(lease) = connection.lease.as_ref().map(|lease| lease.number) else { return };
        for number in connection.take_released(self.settings.hold_down) {
            if let Err(error) = self.paths.close_subflow(lease, number).await {
                tracing::debug!(%error, "a path was not given back");
            }
        }
    }

    async fn fill(&mut self, token: u32, connection: &mut Connection) -> Result<(), Fill> {
        let wanted = usize::from(self.settings.subflows.saturating_sub(1));
        let missing = connection.missing(wanted);
        if missing == 0 {
            return Ok(());
        }
        let Some(lease) = &connection.lease else {
            return self.open_all(token, connection, missing).await;
        };
        let number = lease.number;
        for _ in 0..missing {
            let request = v1::AddSubflowRequest {
                connection: number,
                destination_port: Some(connection.remote.port().into()),
                taken_ports: self.taken(connection),
                ..Default::default()
            };
            let placed = self.paths.add(request).await.map_err(|error| self.no_path(&error))?;
            self.create(token, connection, placed).await?;
        }
        Ok(())
    }

    /// Places as many subflows as are missing, and the first one, whose port the kernel has chosen: the placed one that has its path is left out.
    async fn open_all(
        &mut self,
        token: u32,
        connection: &mut Connection,
        missing: usize,
    ) -> Result<(), Fill> {
        let first = self.first_path(connection).await;
        let request = v1::OpenConnectionRequest {
            from: connection.local.ip().to_string(),
            to: connection.remote.ip().to_string(),
            subflows: missing as u32 + 1,
            destination_port: Some(connection.remote.port().into()),
            taken_ports: self.taken(connection),
            ..Default::default()
        };
        let opened = match self.paths.open(request).await {
            Ok(opened) => opened,
            Err(PathError::NoSuchHost(_)) => return Err(Fill::Outside),
            Err(error) => return Err(self.no_path(&error)),
        };
        connection.lease = Some(Lease::new(opened.connection, opened.lease_seconds));
        let mut placed = opened.subflows;
        let hops = |one: &v1::Subflow| one.path.as_ref().map(|path| path.next_hops.clone());
        let same = placed.iter().position(|one| hops(one).is_some() && hops(one) == first);
        let spare = placed.remove(same.unwrap_or(placed.len().saturating_sub(1)));
        let given_back = self.paths.close_subflow(opened.connection, spare.subflow).await;
        given_back.map_err(|error| self.no_path(&error))?;
        let mut result = Ok(());
        for one in placed {
            // Each is tried, or else its path would be held for nothing.
            result = self.create(token, connection, one).await.and(result);
        }
        result
    }

    /// The next hops of the first subflow, which are noted.
    async fn first_path(&mut self, connection: &mut Connection) -> Option<Vec<u32>> {
        let header = v1::Header {
            source: connection.local.ip().to_string(),
            destination: connection.remote.ip().to_string(),
            source_port: connection.local.port().into(),
            destination_port: connection.remote.port().into(),
            ttl: self.ttl,
            ..Default::default()
        };
        let decoded = self.paths.decode(header).await.ok()?;
        connection.first_path = decoded.hops.iter().map(|hop| hop.router.clone()).collect();
        Some(decoded.hops.iter().map(|hop| hop.next_hop).collect())
    }

    /// Tells the kernel to open a subflow that has been placed.
    async fn create(
        &mut self,
        token: u32,
        connection: &mut Connection,
        placed: v1::Subflow,
    ) -> Result<(), Fill> {
        let result = self.create_at(token, connection, &placed).await;
        if let (Err(_), Some(lease)) = (&result, &connection.lease) {
            let given_back = self.paths.close_subflow(lease.number, placed.subflow).await;
            given_back.map_err(|error| self.no_path(&error))?;
        }
        result
    }

    async fn create_at(
        &mut self,
        token: u32,
        connection: &mut Connection,
        placed: &v1::Subflow,
    ) -> Result<(), Fill> {
        let header = placed.header.clone().unwrap_or_default();
        if header.destination_port != u32::from(connection.remote.port()) {
            let why = "the network encodes paths in the destination port too, where no server listens: it needs field = \"source-port\"";
            return Err(Fill::Problem(why.to_owned()));
        }
        if header.ttl != self.ttl {
            let why =
                format!("the path needs a TTL of {}, and this host sends {}", header.ttl, self.ttl);
            return Err(Fill::Problem(why));
        }
        let subflow = connection.place(placed, header.source_port as u16);
        self.counters.opened += 1;
        match self.kernel.create(token, &subflow).await {
            Ok(()) => Ok(()),
            Err(error) => {
                self.counters.refused += 1;
                self.ports.insert(subflow.local.port());
                connection.unplace();
                Err(Fill::Problem(format!("the kernel does not open it: {error}")))
            }
        }
    }

    fn no_path(&mut self, error: &PathError) -> Fill {
        self.counters.no_path += 1;
        Fill::Problem(error.to_string())
    }

    /// Source ports in use that the agent has not been given itself.
    fn taken(&self, connection: &Connection) -> Vec<u32> {
        let own =
            |port: &&u16| !connection.subflows.iter().any(|one| one.at.local.port() == **port);
        self.ports.iter().filter(own).take(MOST_TAKEN).map(|&port| port.into()).collect()
    }
}

/// The most ports that a request may name.
const MOST_TAKEN: usize = 4096;

/// The reasons for which a connection has too few subflows.
#[derive(Debug)]
enum Fill {
    /// It does not cross the fabric.
    Outside,
    /// In a sentence.
    Problem(String),
}
