//! The gate at which threads wait between two windows.
//!
//! A window takes some ten microseconds, so threads look at a counter for a while, and then give
//! their core to others between looks.

use std::hint;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;

use heddle_units::Time;

/// Looks at a counter before a thread gives its core to others.
const LOOKS: u32 = 2_000;

/// Opened by the first thread, passed by all others.
pub(super) struct Gate {
    others: usize,
    /// Number of the window that is open.
    round: AtomicU64,
    /// Its end, in picoseconds.
    end: AtomicU64,
    is_closed: AtomicBool,
    /// Threads that have not ended the window.
    running: AtomicUsize,
    /// True once a thread has gone before the gate was closed.
    has_lost: AtomicBool,
}

/// A thread's way through the gate.
pub(super) struct Pass<'a> {
    gate: &'a Gate,
    round: u64,
}

/// Closes a gate, also where the first thread panics.
pub(super) struct Closer<'a>(&'a Gate);

impl Gate {
    /// A gate for `others` threads beside the first.
    pub(super) fn new(others: usize) -> Gate {
        Gate {
            others,
            round: AtomicU64::new(0),
            end: AtomicU64::new(0),
            is_closed: AtomicBool::new(false),
            running: AtomicUsize::new(0),
            has_lost: AtomicBool::new(false),
        }
    }

    pub(super) fn pass(&self) -> Pass<'_> {
        Pass { gate: self, round: 0 }
    }

    /// Opens the window up to `end`.
    pub(super) fn open(&self, end: Time) {
        self.end.store(end.0, Ordering::Relaxed);
        self.running.store(self.others, Ordering::Relaxed);
        self.round.fetch_add(1, Ordering::Release);
    }

    /// Waits until all other threads have ended the window; returns false if one is gone.
    pub(super) fn wait(&self) -> bool {
        look(|| self.running.load(Ordering::Acquire) == 0 || self.has_lost.load(Ordering::Acquire));
        !self.has_lost.load(Ordering::Acquire)
    }

    /// Lets all threads go when it is dropped.
    pub(super) fn closer(&self) -> Closer<'_> {
        Closer(self)
    }
}

impl Drop for Closer<'_> {
    fn drop(&mut self) {
        self.0.is_closed.store(true, Ordering::Relaxed);
        self.0.round.fetch_add(1, Ordering::Release);
    }
}

impl Pass<'_> {
    /// Waits for the next window; returns its end, or `None` if the gate is closed.
    pub(super) fn wait(&mut self) -> Option<Time> {
        look(|| self.gate.round.load(Ordering::Acquire) != self.round);
        self.round += 1;
        let is_closed = self.gate.is_closed.load(Ordering::Relaxed);
        (!is_closed).then(|| Time(self.gate.end.load(Ordering::Relaxed)))
    }

    /// Ends the window.
    pub(super) fn done(&self) {
        self.gate.running.fetch_sub(1, Ordering::Release);
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if !self.gate.is_closed.load(Ordering::Relaxed) {
            self.gate.has_lost.store(true, Ordering::Release);
        }
    }
}

fn look(mut is_over: impl FnMut() -> bool) {
    let mut looks = 0;
    while !is_over() {
        looks += 1;
        if looks < LOOKS {
            hint::spin_loop();
        } else {
            thread::yield_now();
        }
    }
}
