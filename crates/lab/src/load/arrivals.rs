//! Connections that come and go: each is opened, takes all its subflows, exchanges bytes, and is
//! closed.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::io::Errno;

use super::Broken;
use crate::{Connection, Lab, LabError, Status, Transport, eventually};

/// Bytes in each direction.
const BYTES: u32 = 20_000;

/// Limit on the time until a connection has all its subflows: four attempts of a SYN take 7 s.
const SUBFLOWS_LIMIT: Duration = Duration::from_secs(20);

/// Connections so far.
#[derive(Clone, Debug, Default)]
pub struct ArrivalsReport {
    /// Connections that were begun and have ended.
    pub connections: u64,
    /// Subflows, besides the first, that whole connections would have had.
    pub joins: u64,
    /// Those of them that were never established.
    pub joins_missing: u64,
    /// Those of the missing that the client never tried, since the handshake had fallen back to
    /// TCP: the kernel sends a SYN without MPTCP when those with it had no answer
    /// (`net.mptcp.syn_retrans_before_tcp_fallback`).
    pub joins_of_fallbacks: u64,
    /// The longest time until a connection was open.
    pub longest_open: Duration,
    /// The connections to which joins were missing, in words.
    pub incomplete: Vec<String>,
    /// Connections that broke, with their backends, if those were known.
    pub broken: Vec<(Broken, Option<String>)>,
}

/// Connections to one service, one after the other on each of some threads. Dropping it ends them.
#[derive(Debug)]
pub struct Arrivals {
    stop: Arc<AtomicBool>,
    report: Arc<Mutex<ArrivalsReport>>,
    threads: Vec<JoinHandle<()>>,
}

/// The same for all threads.
#[derive(Clone)]
struct Client {
    transport: Transport,
    to: SocketAddr,
    subflows: usize,
    pause: Duration,
    stop: Arc<AtomicBool>,
    report: Arc<Mutex<ArrivalsReport>>,
}

impl Arrivals {
    /// Begins with `at_once` connections from the client; each is followed by another after
    /// `pause`.
    ///
    /// # Errors
    /// If the client's namespace cannot be entered.
    pub fn start(
        lab: &Lab,
        transport: Transport,
        to: SocketAddr,
        at_once: usize,
        pause: Duration,
    ) -> Result<Arrivals, LabError> {
        let subflows = match transport {
            Transport::Tcp => 1,
            Transport::Mptcp => lab.client_addresses(to.ip()).len(),
        };
        let (stop, report) = (Arc::default(), Arc::default());
        let client = Client { transport, to, subflows, pause, stop, report };
        let start = |seed| {
            let client = client.clone();
            thread::spawn(move || client.run(seed))
        };
        // Threads begin in the namespace of the one that starts them.
        let threads = lab.client().enter(|| (0..at_once as u64).map(start).collect())?;
        Ok(Arrivals { stop: client.stop, report: client.report, threads })
    }

    /// The connections that have ended so far.
    #[must_use]
    pub fn report(&self) -> ArrivalsReport {
        lock(&self.report).clone()
    }

    /// The connections that have ended since the last call.
    #[must_use]
    pub fn take(&self) -> ArrivalsReport {
        std::mem::take(&mut *lock(&self.report))
    }

    /// Waits until `connections` more have ended.
    ///
    /// # Errors
    /// If they have not within `limit`.
    pub fn wait_for(&self, connections: u64, limit: Duration) -> Result<(), LabError> {
        let goal = lock(&self.report).connections + connections;
        eventually(limit, || match lock(&self.report).connections {
            so_far if so_far >= goal => Ok(()),
            so_far => Err(format!("{so_far} of {goal} connections")),
        })
    }

    /// Ends it, when the connections that are open have had their exchange.
    #[must_use]
    pub fn finish(mut self) -> ArrivalsReport {
        self.end();
        self.report()
    }

    fn end(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // Its panic, if any, was printed.
            let _ = thread.join();
        }
    }
}

impl Drop for Arrivals {
    fn drop(&mut self) {
        self.end();
    }
}

impl Client {
    fn run(&self, thread: u64) {
        let seeds = (0_u64..).map(|round| thread << 32 | round);
        for seed in seeds.take_while(|_| !self.stop.load(Ordering::Relaxed)) {
            self.one(seed);
            thread::sleep(self.pause);
        }
    }

    fn one(&self, seed: u64) {
        let begun = Instant::now();
        let opened = Connection::open(self.transport, self.to);
        let took = begun.elapsed();
        let (mut incomplete, mut fallback) = (None, false);
        let (backend, missing, outcome) = match opened {
            Ok(mut connection) => {
                let missing = self.missing(&connection);
                incomplete = (missing > 0).then(|| described(&connection, missing));
                fallback = missing > 0 && fell_back(&connection);
                let exchanged = connection.exchange(BYTES, BYTES, seed);
                (Some(connection.backend().to_string()), missing, exchanged.map(drop))
            }
            Err(error) => (None, 0, Err(error)),
        };
        let mut report = lock(&self.report);
        report.connections += 1;
        report.joins += self.subflows as u64 - 1;
        report.joins_missing += missing;
        report.joins_of_fallbacks += if fallback { missing } else { 0 };
        report.incomplete.extend(incomplete);
        report.longest_open = report.longest_open.max(took);
        if let Err(error) = outcome {
            report.broken.push((Broken::new(&error), backend));
        }
    }

    /// The subflows that a connection does not get.
    fn missing(&self, connection: &Connection) -> u64 {
        if self.subflows == 1 {
            return 0;
        }
        let got = connection.wait_for_subflows(self.subflows, Instant::now() + SUBFLOWS_LIMIT);
        self.subflows.saturating_sub(got.unwrap_or(1).max(1)) as u64
    }
}

/// True of a connection that is TCP's. Before the kernel has made it one it has MPTCP's
/// information, afterwards none.
fn fell_back(connection: &Connection) -> bool {
    match connection.status() {
        Ok(status) => status.fallback,
        Err(error) => {
            matches!(Errno::from_io_error(&error), Some(Errno::OPNOTSUPP | Errno::NOPROTOOPT))
        }
    }
}

fn described(connection: &Connection, missing: u64) -> String {
    let state = match connection.status() {
        _ if fell_back(connection) => "it fell back to TCP".into(),
        Ok(status) => {
            let Status { subflows, addresses_used, .. } = status;
            format!("the kernel has tried {addresses_used} addresses; it has {subflows:?}")
        }
        Err(error) => error.to_string(),
    };
    format!("{missing} joins missing to {}: {state}", connection.backend())
}

fn lock(report: &Mutex<ArrivalsReport>) -> MutexGuard<'_, ArrivalsReport> {
    report.lock().unwrap_or_else(PoisonError::into_inner)
}
