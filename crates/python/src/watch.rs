//! Progress of a run, its results so far, and the wish to stop it, seen by several threads.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use heddle_claims::Monitor;
use heddle_sim::{Next, Outcome, Progress};
use pyo3::prelude::*;

use crate::made::Made;

/// Progress of one run: another thread reads `part` and `packet_hops`, may `look()` at it, and may
/// `stop()` it.
#[pyclass(frozen, module = "heddle._core")]
#[derive(Default)]
pub(crate) struct Watch {
    stopped: AtomicBool,
    part: AtomicU64,
    packet_hops: AtomicU64,
    is_wanted: AtomicBool,
    so_far: Mutex<Option<(f64, Made)>>,
}

#[pymethods]
impl Watch {
    #[new]
    fn new() -> Watch {
        Watch::default()
    }

    /// Stops the run within a fraction of a second: it raises `Interrupted`.
    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Asks for the results so far: `Scenario.so_far` has them once the run has moved on.
    fn look(&self) {
        self.is_wanted.store(true, Ordering::Relaxed);
    }

    /// Completed share of the run, 0 to 1.
    #[getter]
    fn part(&self) -> f64 {
        f64::from_bits(self.part.load(Ordering::Relaxed))
    }

    /// Packet hops so far.
    #[getter]
    fn packet_hops(&self) -> u64 {
        self.packet_hops.load(Ordering::Relaxed)
    }
}

impl Watch {
    /// True if the run is to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// The completed share of the run and its results so far, once they are there.
    pub(crate) fn take(&self) -> Option<(f64, Made)> {
        self.so_far.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Notes how far a run is, which makes its results of an outcome. Gives whether it goes on.
    pub(crate) fn note(&self, progress: Progress<'_>, made: &dyn Fn(&Outcome) -> Made) -> Next {
        if self.is_wanted.swap(false, Ordering::Relaxed)
            && let Some(outcome) = progress.so_far()
        {
            let so_far = (progress.done, made(&outcome));
            *self.so_far.lock().unwrap_or_else(PoisonError::into_inner) = Some(so_far);
        }
        self.part.store(progress.done.to_bits(), Ordering::Relaxed);
        self.packet_hops.store(progress.packet_hops, Ordering::Relaxed);
        if self.is_stopped() { Next::Stop } else { Next::Continue }
    }
}

/// Of an evaluation: all its runs together.
impl Monitor for Watch {
    fn stopped(&self) -> bool {
        self.is_stopped()
    }

    fn progress(&self, progress: heddle_claims::Progress<'_>) {
        let part = (progress.done as f64 / progress.runs.max(1) as f64).min(1.0);
        self.part.store(part.to_bits(), Ordering::Relaxed);
    }
}
