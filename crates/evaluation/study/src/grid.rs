//! Many runs on all cores, each kept as soon as it is done, so that interrupted work goes on where it stopped.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use heddle_scenario::Scenario;
use heddle_sim::{Next, Outcome, Progress, SimError, simulate};
use rayon::prelude::*;
use rustix::time::{ClockId, clock_gettime};

use crate::store::Store;
use crate::summary::RunSummary;

/// One run to do.
#[derive(Clone, Debug)]
pub struct Cell {
    /// What to call it in progress messages and results, as in `scheme=hula load=0.6`.
    pub label: String,
    /// The scenario.
    pub scenario: Scenario,
    /// The seed.
    pub seed: u64,
}

/// How far a grid has come.
#[derive(Clone, Copy, Debug)]
pub struct GridProgress<'a> {
    /// Cells that are done.
    pub done: usize,
    /// All cells.
    pub cells: usize,
    /// The cell that moved.
    pub label: &'a str,
    /// How much of that cell is done, 0 to 1.
    pub cell_done: f64,
    /// The cell's number.
    pub cell: usize,
}

/// Why a grid stopped.
#[derive(Debug, thiserror::Error)]
pub enum GridError {
    /// A scenario cannot be run.
    #[error("{label}: {error}")]
    Run {
        /// The cell.
        label: String,
        /// Why.
        error: SimError,
    },
    /// Stopped by the caller; what is done is kept.
    #[error("interrupted: {done} of {cells} runs are done and kept")]
    Interrupted {
        /// Cells that are done.
        done: usize,
        /// All cells.
        cells: usize,
    },
    /// A result cannot be kept.
    #[error(transparent)]
    Store(#[from] crate::store::StoreError),
}

/// Called with progress from any thread; says whether to go on.
pub type Watch<'a> = dyn Fn(GridProgress<'_>) -> Next + Sync + 'a;

/// Runs every cell that `store` does not hold yet, on all cores of the current thread pool; results in the cells' order.
///
/// # Errors
/// The first cell that fails, or the interruption; all cells finished until then are in the store.
pub fn run(cells: &[Cell], store: &Store, watch: &Watch) -> Result<Vec<RunSummary>, GridError> {
    let grid =
        Grid { cells, store, watch, done: AtomicUsize::new(0), stopped: AtomicBool::new(false) };
    cells.par_iter().enumerate().map(|(index, cell)| grid.cell(index, cell)).collect()
}

struct Grid<'a> {
    cells: &'a [Cell],
    store: &'a Store,
    watch: &'a Watch<'a>,
    done: AtomicUsize,
    stopped: AtomicBool,
}

impl Grid<'_> {
    fn cell(&self, index: usize, cell: &Cell) -> Result<RunSummary, GridError> {
        let summary = match self.store.load(cell)? {
            Some(summary) => summary,
            None => self.compute(index, cell)?,
        };
        self.done.fetch_add(1, Ordering::Relaxed);
        self.report(index, cell, 1.0);
        Ok(summary)
    }

    fn compute(&self, index: usize, cell: &Cell) -> Result<RunSummary, GridError> {
        let mut watch = |progress: Progress| self.report(index, cell, progress.done);
        let (outcome, seconds) = timed(&cell.scenario, cell.seed, &mut watch)
            .map_err(|error| self.explain(cell, error))?;
        let summary = RunSummary::new(&cell.scenario, cell.seed, &outcome, seconds);
        self.store.save(cell, &summary)?;
        Ok(summary)
    }

    fn report(&self, index: usize, cell: &Cell, cell_done: f64) -> Next {
        let done = self.done.load(Ordering::Relaxed);
        let cells = self.cells.len();
        let progress = GridProgress { done, cells, label: &cell.label, cell_done, cell: index };
        if (self.watch)(progress) == Next::Stop {
            self.stopped.store(true, Ordering::Relaxed);
        }
        if self.stopped.load(Ordering::Relaxed) { Next::Stop } else { Next::Continue }
    }

    fn explain(&self, cell: &Cell, error: SimError) -> GridError {
        match error {
            SimError::Interrupted => GridError::Interrupted {
                done: self.done.load(Ordering::Relaxed),
                cells: self.cells.len(),
            },
            error => GridError::Run { label: cell.label.clone(), error },
        }
    }
}

/// Runs a scenario and tells how much processor time it took, in seconds.
///
/// # Errors
/// As [`simulate`].
pub fn timed(
    scenario: &Scenario,
    seed: u64,
    watch: &mut dyn FnMut(Progress) -> Next,
) -> Result<(Outcome, f64), SimError> {
    let start = thread_seconds();
    let outcome = simulate(scenario, seed, watch)?;
    Ok((outcome, thread_seconds() - start))
}

/// Processor time that this thread has used, in seconds.
fn thread_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

#[cfg(test)]
mod tests;
