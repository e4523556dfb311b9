//! Many runs on all cores, each kept as soon as it is done, so that interrupted work goes on where
//! it stopped.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use heddle_claims::files::FileError;
use heddle_claims::{Monitor, Progress};
use heddle_scenario::Scenario;
use heddle_sim::{Next, Outcome, SimError};
use rayon::prelude::*;

use crate::cell::Cell;
use crate::cpu_time::{process_seconds, thread_seconds};
use crate::external;
use crate::live::{Live, SoFar};
use crate::results::{KEPT_FLOWS, KEPT_LINKS, flow_lines, link_lines};
use crate::store::Store;
use crate::summary::RunSummary;

/// An unfinished grid.
#[derive(Debug, thiserror::Error)]
pub enum GridError {
    /// A scenario cannot be run.
    #[error("{label}: {error}")]
    Run {
        /// The cell.
        label: String,
        /// The error.
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
    /// A flow that is to be traced does not start.
    #[error("{label}: there is no flow {flow} to trace: {started} flows started")]
    NoFlow {
        /// The cell.
        label: String,
        /// The flow's number.
        flow: u32,
        /// Flows that started.
        started: u64,
    },
    /// A result cannot be kept.
    #[error(transparent)]
    Store(#[from] FileError),
}

/// Runs every cell that `store` does not hold yet, on all cores of the current thread pool; results
/// in the cells' order.
///
/// # Errors
/// The first cell that fails, or the interruption; all cells finished until then are in the store.
pub fn run(
    cells: &[Cell],
    store: &Store,
    keep: Keep,
    monitor: &dyn Monitor,
) -> Result<Vec<RunSummary>, GridError> {
    let grid = Grid::new(cells, store, keep, monitor);
    cells.par_iter().enumerate().map(|(index, cell)| grid.cell(index, cell)).collect()
}

/// Runs them as [`run`] does, and shows their figures so far.
///
/// # Errors
/// As [`run`].
pub fn run_live(
    cells: &[Cell],
    (store, keep): (&Store, Keep),
    monitor: &dyn Monitor,
    live: &Live<'_>,
) -> Result<Vec<RunSummary>, GridError> {
    let grid = Grid { live: Some(live), ..Grid::new(cells, store, keep, monitor) };
    cells.par_iter().enumerate().map(|(index, cell)| grid.cell(index, cell)).collect()
}

/// Runs every cell that `store` does not hold yet, one after another, each on as many threads.
///
/// # Errors
/// As [`run`]; a cell that cannot be divided among threads ([`heddle_sim::indivisible`]).
pub fn run_on(
    threads: u16,
    cells: &[Cell],
    store: &Store,
    keep: Keep,
    monitor: &dyn Monitor,
) -> Result<Vec<RunSummary>, GridError> {
    let grid = Grid { threads: threads.into(), ..Grid::new(cells, store, keep, monitor) };
    cells.iter().enumerate().map(|(index, cell)| grid.cell(index, cell)).collect()
}

/// Runs every cell that the folder `runs/` below another one does not hold yet, as [`run`] does.
///
/// # Errors
/// As [`run`]; if the folder cannot be made.
pub fn run_in(
    folder: &Path,
    cells: &[Cell],
    monitor: &dyn Monitor,
) -> Result<Vec<RunSummary>, GridError> {
    run(cells, &Store::open(&folder.join("runs"))?, Keep::Summaries, monitor)
}

/// The part of each run that a store keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Its summary.
    Summaries,
    /// Its summary, a table of its flows, and one of its samples if it takes any.
    Tables,
}

/// The result of a cell, if a store has of it what is to be kept.
///
/// # Errors
/// If a file is there and cannot be read.
pub fn kept(cell: &Cell, store: &Store, keep: Keep) -> Result<Option<RunSummary>, FileError> {
    let has = |name| Ok::<_, FileError>(store.load_table(cell, name)?.is_some());
    let samples = cell.scenario.measure.sample_every.is_some();
    let has_tables =
        keep == Keep::Summaries || (has(KEPT_FLOWS)? && (!samples || has(KEPT_LINKS)?));
    if has_tables { store.load(cell) } else { Ok(None) }
}

struct Grid<'a> {
    cells: &'a [Cell],
    store: &'a Store,
    keep: Keep,
    monitor: &'a dyn Monitor,
    /// Threads of a run.
    threads: usize,
    live: Option<&'a Live<'a>>,
    done: AtomicUsize,
    stopped: AtomicBool,
}

impl<'a> Grid<'a> {
    fn new(cells: &'a [Cell], store: &'a Store, keep: Keep, monitor: &'a dyn Monitor) -> Grid<'a> {
        let (done, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        Grid { cells, store, keep, monitor, threads: 1, live: None, done, stopped }
    }

    fn cell(&self, index: usize, cell: &Cell) -> Result<RunSummary, GridError> {
        let (summary, hops) = match kept(cell, self.store, self.keep)? {
            Some(summary) => (summary, 0),
            None => {
                let summary = self.compute(index, cell)?;
                let hops = summary.totals.packet_hops;
                (summary, hops)
            }
        };
        self.done.fetch_add(1, Ordering::Relaxed);
        if let Some(live) = self.live {
            live.note(index, SoFar::whole(summary.clone()), Instant::now());
        }
        self.report(index, cell, (1.0, hops));
        Ok(summary)
    }

    fn compute(&self, index: usize, cell: &Cell) -> Result<RunSummary, GridError> {
        let start = thread_seconds();
        let mut watch = |progress: heddle_sim::Progress<'_>| {
            let next = self.report(index, cell, (progress.done, progress.packet_hops));
            let began = Instant::now();
            if let Some(live) = self.live.filter(|live| live.wants(next))
                && let Some(outcome) = progress.so_far()
            {
                let seconds = thread_seconds() - start;
                let summary = RunSummary::new(&cell.scenario, cell.seed, &outcome, seconds);
                // The last report precedes the run's own summary.
                let part = progress.done.min(MOST_PART);
                live.note(index, SoFar { part, summary }, began);
            }
            next
        };
        let timed = match self.threads {
            1 => timed(&cell.scenario, cell.seed, &mut watch),
            threads => timed_on(threads, &cell.scenario, cell.seed, &mut watch),
        };
        let (outcome, seconds) = timed.map_err(|error| self.explain(cell, error))?;
        let summary = RunSummary::new(&cell.scenario, cell.seed, &outcome, seconds);
        if self.keep == Keep::Tables {
            let flows = flow_lines(&cell.scenario, cell.seed, &outcome);
            self.store.save_table(cell, KEPT_FLOWS, &flows)?;
            if cell.scenario.measure.sample_every.is_some() {
                self.store.save_table(cell, KEPT_LINKS, &link_lines(cell.seed, &outcome))?;
            }
        }
        self.store.save(cell, &summary)?;
        Ok(summary)
    }

    /// Reports a cell's progress, and whether the simulation goes on.
    fn report(&self, run: usize, cell: &Cell, (part, hops): (f64, u64)) -> Next {
        let (done, runs) = (self.done.load(Ordering::Relaxed), self.cells.len());
        self.monitor.progress(Progress { done, runs, run, label: &cell.label, part, hops });
        if self.monitor.stopped() {
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

/// The part of a run that is not finished.
const MOST_PART: f64 = 0.999;

/// Runs a scenario and measures the processor time that it takes, in seconds.
///
/// # Errors
/// As [`external::simulate`].
pub fn timed(
    scenario: &Scenario,
    seed: u64,
    watch: &mut dyn FnMut(heddle_sim::Progress<'_>) -> Next,
) -> Result<(Outcome, f64), SimError> {
    let start = thread_seconds();
    let outcome = external::simulate(scenario, seed, watch)?;
    Ok((outcome, thread_seconds() - start))
}

/// The same on several threads of a process that does nothing else.
fn timed_on(
    threads: usize,
    scenario: &Scenario,
    seed: u64,
    watch: &mut dyn FnMut(heddle_sim::Progress<'_>) -> Next,
) -> Result<(Outcome, f64), SimError> {
    let start = process_seconds();
    let outcome = heddle_sim::simulate_on(threads, scenario, seed, watch)?;
    Ok((outcome, process_seconds() - start))
}

#[cfg(test)]
mod tests;
