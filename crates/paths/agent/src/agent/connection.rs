//! A connection, its lease and its further subflows.

use std::net::SocketAddr;
use std::time::Duration;

use heddle_path_service::v1;
use tokio::time::Instant;

use crate::diag::{self, Role};
use crate::pm::SubflowAddress;
use crate::{ConnectionStatus, State, SubflowStatus};

/// Waits after problems double from the first to the last.
const RETRY: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(60));

/// The paths' lease.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lease {
    /// The connection's number at the path service.
    pub number: u64,
    renew_at: Instant,
}

impl Lease {
    /// A lease that is to be renewed after a third of its time.
    pub fn new(number: u64, seconds: u32) -> Lease {
        Lease { number, renew_at: Instant::now() + Duration::from_secs(seconds.into()) / 3 }
    }

    pub fn is_due(&self) -> bool {
        Instant::now() >= self.renew_at
    }
}

/// A further subflow that the agent opened.
#[derive(Clone, Debug)]
pub(super) struct Further {
    /// Its number at the path service.
    pub number: u32,
    pub at: SubflowAddress,
    pub state: State,
    /// The time of the state.
    pub since: Instant,
    /// One of the ends has marked it as a reserve.
    backup: bool,
    path: Vec<String>,
    disjoint: bool,
}

/// A connection that this host opened.
#[derive(Debug)]
pub(super) struct Connection {
    pub local: SocketAddr,
    pub remote: SocketAddr,
    pub lease: Option<Lease>,
    pub first_path: Vec<String>,
    /// False once the first subflow has ended or its packets time out: another takes its place.
    pub first_works: bool,
    pub subflows: Vec<Further>,
    pub problem: Option<String>,
    /// It does not cross the fabric.
    pub is_outside: bool,
    /// Looks in a row that found none of its sockets.
    pub unseen: u8,
    /// Further subflows of others, as of an agent before this one.
    foreign: usize,
    retry_at: Instant,
    wait: Duration,
    last_id: u8,
}

impl Connection {
    pub fn new(local: SocketAddr, remote: SocketAddr) -> Connection {
        Connection {
            local,
            remote,
            lease: None,
            first_path: Vec::new(),
            first_works: true,
            subflows: Vec::new(),
            problem: None,
            is_outside: false,
            unseen: 0,
            foreign: 0,
            retry_at: Instant::now(),
            wait: RETRY.0,
            last_id: 0,
        }
    }

    /// The subflow of a source port, unless it has failed.
    pub fn open_subflow(&mut self, port: u16) -> Option<&mut Further> {
        self.subflows
            .iter_mut()
            .find(|one| one.at.local.port() == port && one.state != State::Failed)
    }

    /// Marks the subflow of a source port as failed; false if there is none that works.
    pub fn fail_subflow(&mut self, port: u16) -> bool {
        if port == self.local.port() {
            return std::mem::replace(&mut self.first_works, false);
        }
        let Some(subflow) = self.open_subflow(port) else { return false };
        (subflow.state, subflow.since) = (State::Failed, Instant::now());
        true
    }

    /// Notes the priority of a subflow that the agent opened.
    pub fn set_backup(&mut self, port: u16, backup: bool) {
        if let Some(subflow) = self.open_subflow(port) {
            subflow.backup = backup;
        }
    }

    pub fn port_of(&self, number: u32) -> Option<u16> {
        self.subflows.iter().find(|one| one.number == number).map(|one| one.at.local.port())
    }

    /// The number of subflows to open.
    pub fn missing(&self, wanted: usize) -> usize {
        let open = self.subflows.iter().filter(|one| one.state != State::Failed).count();
        (wanted + usize::from(!self.first_works)).saturating_sub(open + self.foreign)
    }

    pub fn may_retry(&self) -> bool {
        !self.is_outside && Instant::now() >= self.retry_at
    }

    pub fn succeed(&mut self) {
        (self.problem, self.wait) = (None, RETRY.0);
    }

    pub fn fail(&mut self, why: String) {
        self.problem = Some(why);
        self.retry_at = Instant::now() + self.wait;
        self.wait = (self.wait * 2).min(RETRY.1);
    }

    /// Counts the further subflows that are not this agent's.
    pub fn count_foreign(&mut self, own: &[diag::Subflow]) {
        let is_known = |local: SocketAddr| self.subflows.iter().any(|one| one.at.local == local);
        let further = own.iter().filter(|one| one.role == Role::Further);
        self.foreign = further.filter(|one| !is_known(one.local)).count();
    }

    /// The service does not know the connection any more. Its subflows go on, as those of others.
    pub fn forget_lease(&mut self) {
        self.lease = None;
        self.foreign += self.subflows.iter().filter(|one| one.state != State::Failed).count();
        self.subflows.clear();
    }

    /// Notes a subflow that is about to be opened.
    pub fn place(&mut self, placed: &v1::Subflow, port: u16) -> SubflowAddress {
        let used = |id: u8| id == 0 || self.subflows.iter().any(|one| one.at.id == id);
        let mut id = self.last_id.wrapping_add(1);
        while used(id) {
            id = id.wrapping_add(1);
        }
        self.last_id = id;
        let local = SocketAddr::new(self.local.ip(), port);
        let at = SubflowAddress { local, id, remote: self.remote };
        self.subflows.push(Further {
            number: placed.subflow,
            at,
            state: State::Opening,
            since: Instant::now(),
            backup: false,
            path: placed.path.clone().unwrap_or_default().nodes,
            disjoint: placed.disjoint,
        });
        at
    }

    /// Forgets the subflow that was placed last, which the kernel refused.
    pub fn unplace(&mut self) {
        self.subflows.pop();
    }

    /// Removes the subflows that failed at least this long ago; their numbers.
    pub fn take_released(&mut self, hold_down: Duration) -> Vec<u32> {
        let is_released =
            |one: &Further| one.state == State::Failed && one.since.elapsed() >= hold_down;
        let numbers = self.subflows.iter().filter(|one| is_released(one)).map(|one| one.number);
        let numbers = numbers.collect();
        self.subflows.retain(|one| !is_released(one));
        numbers
    }

    pub fn status(&self, token: u32) -> ConnectionStatus {
        let subflow = |one: &Further| SubflowStatus {
            source_port: one.at.local.port(),
            state: one.state,
            path: one.path.clone(),
            disjoint: one.disjoint,
            backup: one.backup,
        };
        ConnectionStatus {
            token,
            local: self.local,
            remote: self.remote,
            first_path: self.first_path.clone(),
            first_works: self.first_works,
            lease: self.lease.map(|lease| lease.number),
            subflows: self.subflows.iter().map(subflow).collect(),
            problem: self.problem.clone(),
        }
    }
}
