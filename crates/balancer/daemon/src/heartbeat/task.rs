//! The thread that sends heartbeats and looks for their answers.
//!
//! A thread of its own: no reload, scrape or slow log delays it. It needs no privilege but an
//! ordinary UDP socket, and reads the program's notes from shared memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use heddle_balancer_maps::abi::{FLOWS_UNEXPLAINED, PeerState, TABLES_CHANGED};
use heddle_balancer_maps::maps::PeerStates;
use heddle_balancer_maps::steering::{Message, SteeringKey};
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::watch;

use super::carrier::{self, Carrier};
use super::sockets::Sockets;
use super::{Conclusion, Conclusions, Heard, INTERVAL, Judge, Liveness};

/// The time without a round after which heartbeats count as stopped.
const STALL: Duration = Duration::from_secs(5);
/// The time for which a refused message is news.
const RECENT: Duration = Duration::from_secs(10);

/// The balancers to send heartbeats to, and their content.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Probed {
    /// The other balancers, by address, and their targets' indices.
    pub peers: BTreeMap<IpAddr, u16>,
    /// This balancer's own addresses, one of a family.
    pub own: Vec<IpAddr>,
    /// Its interfaces.
    pub interfaces: BTreeSet<String>,
    /// The steering port.
    pub port: u16,
    /// The key that signs.
    pub key: SteeringKey,
    /// This balancer's fingerprint.
    pub fingerprint: u32,
}

/// Without the key.
impl fmt::Debug for Probed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probed").field("peers", &self.peers).finish_non_exhaustive()
    }
}

/// The heartbeats' results for a balancer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The conclusion.
    pub liveness: Liveness,
    /// The time between the last answered heartbeat and its answer.
    pub round_trip: Option<Duration>,
    /// Heartbeats that were missed, of those that prove something.
    pub missed: u64,
    /// Messages from its address with another secret.
    pub refused: u64,
    /// True if one of them came within the last ten seconds.
    pub refused_recently: bool,
    /// True if its seed, services or backends are not this balancer's.
    pub differs: bool,
}

/// The running thread. Dropped, it ends.
#[derive(Debug)]
pub struct Heartbeats {
    probed: watch::Sender<Probed>,
    shared: Arc<Mutex<Shared>>,
    thread: JoinHandle<()>,
}

/// The results, and the time of the last round.
#[derive(Debug)]
struct Shared {
    reports: BTreeMap<IpAddr, Report>,
    round: Instant,
}

/// Starts the thread, which sends to nobody yet. Changes of conclusions go to `changes`.
///
/// # Errors
/// If the system has no thread.
pub fn start(states: PeerStates, changes: watch::Sender<Conclusions>) -> io::Result<Heartbeats> {
    let (probed, wanted) = watch::channel(Probed::default());
    let shared = Shared { reports: BTreeMap::new(), round: Instant::now() };
    let shared = Arc::new(Mutex::new(shared));
    let task = Task {
        states,
        changes,
        wanted,
        shared: shared.clone(),
        peers: BTreeMap::new(),
        carrier: Carrier::default(),
        sockets: Sockets::default(),
        sequence: 0,
    };
    let thread = thread::Builder::new().name("heartbeats".into()).spawn(move || task.run())?;
    Ok(Heartbeats { probed, shared, thread })
}

impl Heartbeats {
    /// Sends heartbeats to these balancers from now on, and no others.
    pub fn set(&self, probed: Probed) {
        self.probed.send_if_modified(|old| {
            let changed = *old != probed;
            *old = probed;
            changed
        });
    }

    /// The state of each balancer.
    pub fn reports(&self) -> BTreeMap<IpAddr, Report> {
        lock(&self.shared).reports.clone()
    }

    /// False if the thread has ended, or has done nothing for 5 s.
    pub fn is_running(&self) -> bool {
        !self.thread.is_finished() && lock(&self.shared).round.elapsed() < STALL
    }
}

/// The thread's state.
struct Task {
    states: PeerStates,
    changes: watch::Sender<Conclusions>,
    wanted: watch::Receiver<Probed>,
    shared: Arc<Mutex<Shared>>,
    peers: BTreeMap<IpAddr, Peer>,
    carrier: Carrier,
    sockets: Sockets,
    sequence: u32,
}

/// Another balancer.
struct Peer {
    index: u16,
    judge: Judge,
    missed: u64,
    /// The program's count of refused messages at the start, now, and when it has last changed.
    refused: (u32, u32, Option<Instant>),
    /// Of its answers since the start; none: it has not answered.
    fingerprint: Option<u32>,
    /// Of its last answer: `TABLES_CHANGED`, `FLOWS_UNEXPLAINED`.
    changes: u32,
}

impl Task {
    /// Rounds at fixed times; those that were missed are left out.
    fn run(mut self) {
        let mut due = now();
        // An error: there is nobody any more who wants the results.
        while self.wanted.has_changed().is_ok() {
            self.round(due);
            due = (due + INTERVAL).max(now());
            thread::sleep(due.saturating_sub(now()));
        }
    }

    fn round(&mut self, due: Duration) {
        let probed = self.wanted.borrow_and_update().clone();
        self.follow(&probed);
        self.see_carrier(&probed);
        for (address, peer) in &mut self.peers {
            let before = peer.judge.liveness();
            peer.look(due, &self.states.get(peer.index.into()), &self.carrier);
            let liveness = peer.judge.liveness();
            if liveness != before {
                tracing::info!(%address, ?liveness, "a balancer's answers to heartbeats have changed");
            }
        }
        self.publish(&probed);
        self.send(due, &probed);
    }

    /// Judges exactly the balancers that are wanted.
    fn follow(&mut self, probed: &Probed) {
        self.peers.retain(|address, peer| probed.peers.get(address) == Some(&peer.index));
        for (&address, &index) in &probed.peers {
            let states = &self.states;
            self.peers
                .entry(address)
                .or_insert_with(|| Peer::new(index, &states.get(index.into())));
        }
    }

    /// Reads the carrier's state if a balancer that is not dead has not answered. On an error the
    /// last state stays.
    fn see_carrier(&mut self, probed: &Probed) {
        let states = &self.states;
        let mut silent =
            self.peers.values().map(|peer| peer.is_silent(&states.get(peer.index.into())));
        if !silent.any(|silent| silent) {
            self.carrier.see(true, now());
            return;
        }
        match carrier::is_on(&probed.interfaces) {
            Ok(present) => self.carrier.see(present, now()),
            Err(error) => tracing::debug!(%error, "the kernel does not tell of interfaces"),
        }
    }

    fn publish(&self, probed: &Probed) {
        let reports = self.peers.iter().map(|(address, peer)| (*address, peer.report(probed)));
        *lock(&self.shared) = Shared { reports: reports.collect(), round: Instant::now() };
        let peers = self.peers.iter().map(|(address, peer)| (*address, peer.conclusion()));
        let has_carrier = self.carrier.is_present();
        let conclusions = Conclusions { peers: peers.collect(), has_carrier };
        self.changes.send_if_modified(|old| {
            let changed = *old != conclusions;
            *old = conclusions;
            changed
        });
    }

    fn send(&mut self, due: Duration, probed: &Probed) {
        self.sequence = self.sequence.wrapping_add(1);
        for (&address, peer) in &mut self.peers {
            let Some(own) = probed.own.iter().find(|own| own.is_ipv6() == address.is_ipv6()) else {
                continue;
            };
            let message = Message::heartbeat(self.sequence, probed.fingerprint);
            let message = message.signed(probed.key, *own, None);
            if self.sockets.send(*own, SocketAddr::new(address, probed.port), &message) {
                // After the call: a thread that was stopped before it has sent too late.
                peer.judge.sent(self.sequence, due, now());
            }
        }
    }
}

impl Peer {
    fn new(index: u16, state: &PeerState) -> Peer {
        let refused = (state.refused, state.refused, None);
        Peer {
            index,
            judge: Judge::new(heard(state)),
            missed: 0,
            refused,
            fingerprint: None,
            changes: 0,
        }
    }

    /// True if it is not dead, and nothing was heard since the last round.
    fn is_silent(&self, state: &PeerState) -> bool {
        self.judge.liveness() != Liveness::Dead && !self.judge.is_news(heard(state))
    }

    fn look(&mut self, due: Duration, state: &PeerState, carrier: &Carrier) {
        let heard = heard(state);
        // The time is read before the answer is used, and after it was noted.
        let now = now();
        let proves = || carrier.silence_proves(now);
        self.missed += u64::from(!self.judge.look(due, now, heard, proves));
        if self.judge.liveness() == Liveness::Alive {
            self.fingerprint = Some(state.fingerprint);
            self.changes = state.changes;
        }
        if state.refused != self.refused.1 {
            (self.refused.1, self.refused.2) = (state.refused, Some(Instant::now()));
        }
    }

    fn conclusion(&self) -> Conclusion {
        Conclusion {
            liveness: self.judge.liveness(),
            tables_changed: self.changes & TABLES_CHANGED != 0,
            flows_unexplained: self.changes & FLOWS_UNEXPLAINED != 0,
        }
    }

    fn report(&self, probed: &Probed) -> Report {
        let (before, refused, last) = self.refused;
        Report {
            liveness: self.judge.liveness(),
            round_trip: self.judge.round_trip(),
            missed: self.missed,
            refused: refused.wrapping_sub(before).into(),
            refused_recently: last.is_some_and(|last| last.elapsed() < RECENT),
            differs: self.fingerprint.is_some_and(|other| other != probed.fingerprint),
        }
    }
}

fn heard(state: &PeerState) -> Heard {
    Heard { at: Duration::from_nanos(state.heard), sequence: state.sequence }
}

/// The clock of the program's notes.
fn now() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// No thread panics while it holds the lock.
fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
