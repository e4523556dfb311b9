//! Streams: connections that last, each with its exchanges on a thread of its own.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::stalls::Stall;
use super::{Broken, Pattern};
use crate::{Connection, Deadline, Lab, LabError, Status, StatusReader, Transport, eventually};

/// Time between two looks at the subflows of MPTCP streams.
const SAMPLING: Duration = Duration::from_millis(10);

/// Time without an answer after which a stream counts as broken.
const LIMIT: Duration = Duration::from_secs(60);

/// A stream so far.
#[derive(Clone, Debug, Serialize)]
pub struct StreamReport {
    /// The client's address and port.
    pub local: SocketAddr,
    /// The server that answered first.
    pub backend: String,
    /// Complete exchanges.
    pub exchanges: u64,
    /// The longest time from a request to its answer since the last [`Streams::forget`].
    pub longest_stall: Duration,
    /// The reason why it ended, if it did.
    pub broken: Option<Broken>,
    /// Its subflows, also those that are gone; none with plain TCP.
    pub subflows: Vec<SubflowReport>,
}

/// A subflow so far.
#[derive(Clone, Debug, Serialize)]
pub struct SubflowReport {
    /// The client's address and port.
    pub local: SocketAddr,
    /// The longest time with segments under way and none acknowledged since the last
    /// [`Streams::forget`].
    pub longest_stall: Duration,
    /// The time for which such a stall goes on already.
    pub stalled_for: Duration,
    /// False if it was established once and is no more.
    pub established: bool,
    /// Bytes that the server has acknowledged.
    pub bytes_acked: u64,
}

/// Streams to one service. Dropping it ends them.
#[derive(Debug)]
pub struct Streams {
    stop: Arc<AtomicBool>,
    streams: Vec<Arc<Stream>>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Stream {
    local: SocketAddr,
    backend: String,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    exchanges: u64,
    stall: Stall,
    broken: Option<Broken>,
    subflows: BTreeMap<SocketAddr, Subflow>,
}

#[derive(Debug, Default)]
struct Subflow {
    stall: Stall,
    established: bool,
    bytes_acked: u64,
}

impl State {
    fn look_at_subflows(&mut self, status: &Status, now: Instant) {
        for (local, known) in &mut self.subflows {
            known.established = status.has(*local);
            if !known.established {
                // It stalls no more: what was under way is sent on the others.
                known.stall.end(now);
            }
        }
        for flow in status.subflows.iter().filter(|flow| flow.established) {
            let known = self.subflows.entry(flow.local).or_default();
            known.established = true;
            let progress = flow.bytes_acked != known.bytes_acked;
            known.bytes_acked = flow.bytes_acked;
            match (flow.unacknowledged > 0, progress) {
                (false, _) => known.stall.end(now),
                (true, true) => known.stall.progress(now),
                (true, false) => known.stall.begin(now),
            }
        }
    }
}

impl Streams {
    /// Opens `count` connections from the client, and begins with their exchanges.
    ///
    /// # Errors
    /// If a connection cannot be opened, or (MPTCP) does not get a subflow from each of the
    /// client's addresses.
    pub fn open(
        lab: &Lab,
        transport: Transport,
        to: SocketAddr,
        count: usize,
        pattern: Pattern,
    ) -> Result<Streams, LabError> {
        let connections: Vec<Connection> =
            (0..count).map(|_| whole(lab, transport, to)).collect::<Result<_, _>>()?;
        Streams::over(connections, transport, pattern).map_err(opened(to))
    }

    /// Begins with the exchanges of open connections, all of this transport.
    ///
    /// # Errors
    /// If one of them has no address, or is closed already.
    pub fn over(
        connections: Vec<Connection>,
        transport: Transport,
        pattern: Pattern,
    ) -> io::Result<Streams> {
        let mut streams =
            Streams { stop: Arc::default(), streams: Vec::new(), threads: Vec::new() };
        let mut readers = Vec::new();
        for (connection, seed) in connections.into_iter().zip(0..) {
            let stream = Arc::new(Stream::new(&connection)?);
            if transport == Transport::Mptcp {
                readers.push((stream.clone(), connection.status_reader()?));
            }
            streams.start(stream, connection, pattern, seed);
        }
        let stop = streams.stop.clone();
        if !readers.is_empty() {
            streams.threads.push(thread::spawn(move || sample(&readers, &stop)));
        }
        Ok(streams)
    }

    fn start(&mut self, stream: Arc<Stream>, connection: Connection, pattern: Pattern, seed: u64) {
        let stop = self.stop.clone();
        self.streams.push(stream.clone());
        self.threads.push(thread::spawn(move || stream.run(connection, pattern, seed, &stop)));
    }

    /// All streams so far.
    #[must_use]
    pub fn reports(&self) -> Vec<StreamReport> {
        self.streams.iter().map(|stream| stream.report(Instant::now())).collect()
    }

    /// Measures stalls anew from now on.
    fn forget_stalls(&self) {
        let now = Instant::now();
        for stream in &self.streams {
            let mut state = stream.state();
            state.stall.forget(now);
            state.subflows.values_mut().for_each(|subflow| subflow.stall.forget(now));
        }
    }

    /// Forgets all that was reported so far: stalls, exchanges, and the subflows that are gone.
    pub fn forget(&self) {
        self.forget_stalls();
        for stream in &self.streams {
            let mut state = stream.state();
            state.exchanges = 0;
            state.subflows.retain(|_, subflow| subflow.established);
        }
    }

    /// Waits until each stream has had `exchanges` more, or is broken.
    ///
    /// # Errors
    /// If one has neither within `limit`.
    pub fn wait_for_exchanges(&self, exchanges: u64, limit: Duration) -> Result<(), LabError> {
        let goals: Vec<u64> =
            self.streams.iter().map(|stream| stream.state().exchanges + exchanges).collect();
        eventually(limit, || {
            let waiting = |(stream, goal): &(&Arc<Stream>, &u64)| {
                let state = stream.state();
                state.exchanges < **goal && state.broken.is_none()
            };
            let left = self.streams.iter().zip(&goals).filter(waiting).count();
            if left == 0 {
                Ok(())
            } else {
                Err(format!("{left} of {} streams have no answer", self.streams.len()))
            }
        })
    }

    /// Waits until the server has acknowledged something more on each subflow of each stream that
    /// is not broken. With [`Pattern::BULK`] all subflows have something to send.
    ///
    /// # Errors
    /// If one has no progress within `limit`.
    pub fn wait_for_subflows(&self, limit: Duration) -> Result<(), LabError> {
        let progress = || -> Vec<BTreeMap<SocketAddr, u64>> {
            let acked = |stream: &Arc<Stream>| {
                let state = stream.state();
                let live = state.subflows.iter().filter(|_| state.broken.is_none());
                live.map(|(local, subflow)| (*local, subflow.bytes_acked)).collect()
            };
            self.streams.iter().map(acked).collect()
        };
        let before = progress();
        eventually(limit, || {
            let now = progress();
            let still = before.iter().zip(&now).flat_map(|(before, now)| {
                now.iter().filter(|(local, bytes)| before.get(local) == Some(bytes))
            });
            let still: Vec<_> = still.map(|(local, _)| *local).collect();
            if still.is_empty() {
                Ok(())
            } else {
                Err(format!("no further byte was acknowledged on the subflows from {still:?}"))
            }
        })
    }

    /// Ends all streams; their reports.
    #[must_use]
    pub fn finish(mut self) -> Vec<StreamReport> {
        self.end();
        self.reports()
    }

    fn end(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // Its panic, if any, was printed.
            let _ = thread.join();
        }
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        self.end();
    }
}

impl Stream {
    fn new(connection: &Connection) -> io::Result<Stream> {
        let backend = connection.backend().to_string();
        Ok(Stream { local: connection.local()?, backend, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, mut connection: Connection, pattern: Pattern, seed: u64, stop: &Arc<AtomicBool>) {
        connection.set_timeout(LIMIT);
        connection.set_stop(stop.clone());
        for round in 0_u64.. {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            self.state().stall.begin(Instant::now());
            let answer = connection.exchange(pattern.up, pattern.down, seed << 32 | round);
            let mut state = self.state();
            match answer {
                Ok(_) => state.exchanges += 1,
                Err(_) if stop.load(Ordering::Relaxed) => return,
                Err(error) => state.broken = Some(Broken::new(&error)),
            }
            state.stall.end(Instant::now());
            if state.broken.is_some() {
                return;
            }
            drop(state);
            thread::sleep(pattern.pause);
        }
    }

    fn sample(&self, reader: &StatusReader) {
        let Ok(status) = reader.status() else { return };
        self.state().look_at_subflows(&status, Instant::now());
    }

    fn report(&self, now: Instant) -> StreamReport {
        let state = self.state();
        let subflow = |(local, subflow): (&SocketAddr, &Subflow)| SubflowReport {
            local: *local,
            longest_stall: subflow.stall.longest(now),
            stalled_for: subflow.stall.current(now),
            established: subflow.established,
            bytes_acked: subflow.bytes_acked,
        };
        StreamReport {
            local: self.local,
            backend: self.backend.clone(),
            exchanges: state.exchanges,
            longest_stall: state.stall.longest(now),
            broken: state.broken.clone(),
            subflows: state.subflows.iter().map(subflow).collect(),
        }
    }
}

/// A connection with a subflow from each of the client's addresses, if it is one of MPTCP.
fn whole(lab: &Lab, transport: Transport, to: SocketAddr) -> Result<Connection, LabError> {
    let connection = lab.connect(transport, to)?;
    if transport == Transport::Mptcp {
        let wanted = lab.client_addresses(to.ip()).len();
        let deadline = Deadline::new(LIMIT);
        let got =
            connection.wait_for_subflows(wanted, Instant::now() + LIMIT).map_err(opened(to))?;
        if got < wanted {
            let observed = format!("a connection to {to} with {got} of {wanted} subflows");
            return Err(deadline.timeout(observed));
        }
    }
    Ok(connection)
}

fn opened(to: SocketAddr) -> impl Fn(io::Error) -> LabError {
    move |source| LabError::System { what: format!("a stream to {to}"), source }
}

/// Looks at the subflows of all streams until `stop` is set.
fn sample(streams: &[(Arc<Stream>, StatusReader)], stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        for (stream, reader) in streams {
            stream.sample(reader);
        }
        thread::sleep(SAMPLING);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Subflow;

    /// A connection whose only subflow has something under way.
    fn under_way(established: bool) -> Status {
        let local = SocketAddr::from(([192, 0, 2, 1], 20041));
        let remote = SocketAddr::from(([192, 0, 2, 2], 8080));
        let (bytes_acked, bytes_received, unacknowledged) = (0, 0, 1);
        let subflow =
            Subflow { local, remote, established, bytes_acked, bytes_received, unacknowledged };
        Status { fallback: false, subflows: vec![subflow], addresses_used: 1 }
    }

    #[test]
    fn the_stall_of_a_subflow_ends_with_it() {
        let zero = Instant::now();
        let at = |ms| zero + Duration::from_millis(ms);
        let mut state = State::default();
        state.look_at_subflows(&under_way(true), at(0));
        state.look_at_subflows(&under_way(true), at(10));
        state.look_at_subflows(&under_way(false), at(20));
        state.look_at_subflows(&under_way(false), at(900));
        let longest: Vec<_> =
            state.subflows.values().map(|flow| flow.stall.longest(at(900))).collect();
        assert_eq!(longest, [Duration::from_millis(20)]);
    }
}
