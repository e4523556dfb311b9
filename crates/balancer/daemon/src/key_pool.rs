//! Keys made ahead of connections, for `mptcp = "assign"` (RomanRoads, section V-B): a thread keeps
//! the balancer's queue full, so that no packet waits for the several tries that a key takes.
//!
//! A key is eight random bytes of the operating system whose token (RFC 6824: SHA-1, RFC 8684:
//! SHA-256) is in this balancer's own part of the ring. After a change of the ring the queue begins
//! anew; the balancer's program looks at each key's token itself, so what it takes in between does
//! no harm. While there are no keys, for whatever reason, it makes them on demand.

mod generator;

pub use generator::{Generator, KeyError, Owns, Queue, Random};

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use heddle_wire::Version;

/// The interval at which the queue is filled: with 4096 places, 400,000 connections a second find
/// keys there.
const PERIOD: Duration = Duration::from_millis(10);

/// The counters of a [`KeyPool`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyCounts {
    /// Keys in the queue, or taken from there.
    pub made: u64,
    /// Random bytes that were looked at for them.
    pub tried: u64,
}

#[derive(Debug, Default)]
struct Counters {
    made: AtomicU64,
    tried: AtomicU64,
}

/// Keeps a queue of keys full until it is dropped.
#[derive(Debug)]
pub struct KeyPool {
    rings: Option<Sender<Owns>>,
    thread: Option<JoinHandle<()>>,
    counters: Arc<Counters>,
}

impl KeyPool {
    /// Starts, with an empty queue, for connections of this version; `owns` says of a token whether
    /// it is this balancer's.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn start(version: Version, queue: impl Queue + 'static, owns: Owns) -> io::Result<KeyPool> {
        let (sender, receiver) = channel();
        let counters = Arc::new(Counters::default());
        let shared = Arc::clone(&counters);
        let thread = Builder::new()
            .name("keys".into())
            .spawn(move || work(version, queue, &receiver, &shared))?;
        let keys = KeyPool { rings: Some(sender), thread: Some(thread), counters };
        keys.set_ring(owns);
        Ok(keys)
    }

    /// The ring has changed: the queue is emptied, and filled with keys for whose tokens `owns`
    /// says yes.
    pub fn set_ring(&self, owns: Owns) {
        if let Some(rings) = &self.rings {
            // The thread ends with this sender, not before.
            let _ = rings.send(owns);
        }
    }

    /// The counters so far.
    pub fn counts(&self) -> KeyCounts {
        let Counters { made, tried } = &*self.counters;
        KeyCounts { made: made.load(Ordering::Relaxed), tried: tried.load(Ordering::Relaxed) }
    }
}

impl Drop for KeyPool {
    fn drop(&mut self) {
        self.rings = None;
        if let Some(thread) = self.thread.take() {
            // It does not panic; if it did, the panic could not be reported here.
            let _ = thread.join();
        }
    }
}

fn work(version: Version, mut queue: impl Queue, rings: &Receiver<Owns>, counters: &Counters) {
    let mut generator = Generator::new(version, Box::new(getrandom::fill), Box::new(|_| false));
    let mut failing = false;
    loop {
        let done = match rings.recv_timeout(PERIOD) {
            Ok(owns) => generator.set_ring(owns, &mut queue),
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let done = done.and_then(|()| generator.fill(&mut queue));
        if let (Err(error), false) = (&done, failing) {
            tracing::warn!(%error, "no keys can be made ahead; they are made on demand");
        }
        failing = done.is_err();
        counters.made.store(generator.made(), Ordering::Relaxed);
        counters.tried.store(generator.tried(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
