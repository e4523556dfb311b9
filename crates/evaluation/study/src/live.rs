//! Figures of runs while they go on.
//!
//! A run is looked at where it reports its progress: its results so far are summed up as those of a
//! finished one, and change nothing in it. They are of the flows that have finished until then, so
//! that long flows are under-represented.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use heddle_claims::files::FileError;
use heddle_sim::Next;

use crate::summary::RunSummary;

/// A run until now.
#[derive(Clone, Debug, PartialEq)]
pub struct SoFar {
    /// The part of its work that is done; 1 of a finished run.
    pub part: f64,
    /// Its figures.
    pub summary: RunSummary,
}

impl SoFar {
    /// A finished run.
    pub fn whole(summary: RunSummary) -> SoFar {
        SoFar { part: 1.0, summary }
    }

    /// True of a finished run.
    pub fn is_whole(&self) -> bool {
        self.part >= 1.0
    }
}

/// Shows runs, each at its place, where it has figures.
pub type Show<'a> = dyn Fn(&[Option<SoFar>]) -> Result<(), FileError> + Send + Sync + 'a;

/// Keeps the newest figures of some runs, and shows them now and then.
pub struct Live<'a> {
    every: Option<Duration>,
    is_within: bool,
    show: Box<Show<'a>>,
    state: Mutex<State>,
}

struct State {
    runs: Vec<Option<SoFar>>,
    last: Instant,
    /// Time that the last look and its showing took.
    cost: Duration,
    /// The first file that could not be written.
    error: Option<FileError>,
}

/// The share of time that looks may take is the inverse.
const COST: u32 = 20;

impl<'a> Live<'a> {
    /// Of so many runs: shows them every so often, or keeps what they have when they are stopped.
    pub fn new(runs: usize, every: Option<Duration>, show: Box<Show<'a>>) -> Live<'a> {
        let runs = vec![None; runs];
        let state = State { runs, last: Instant::now(), cost: Duration::ZERO, error: None };
        Live { every, is_within: true, show, state: Mutex::new(state) }
    }

    /// The same for finished runs alone.
    #[must_use]
    pub fn of_finished(self) -> Live<'a> {
        Live { is_within: false, ..self }
    }

    /// True if the figures so far of a run that goes on, or stops, are wanted now.
    pub(crate) fn wants(&self, next: Next) -> bool {
        let is_due = || self.state.try_lock().is_ok_and(|state| self.is_due(&state));
        self.is_within && (next == Next::Stop || is_due())
    }

    fn is_due(&self, state: &State) -> bool {
        self.every.is_some_and(|every| state.last.elapsed() >= every.max(COST * state.cost))
    }

    /// Takes the newest figures of a run, whose making began at a time.
    pub(crate) fn note(&self, run: usize, so_far: SoFar, began: Instant) {
        let Ok(mut state) = self.state.lock() else { return };
        if let Some(place) = state.runs.get_mut(run) {
            *place = Some(so_far);
        }
        if self.is_due(&state) {
            let shown = (self.show)(&state.runs);
            state.error = state.error.take().or(shown.err());
            (state.last, state.cost) = (Instant::now(), began.elapsed());
        }
    }

    /// The newest figures of each run that has any.
    ///
    /// # Errors
    /// The first file that could not be written.
    pub fn finish(self) -> Result<Vec<Option<SoFar>>, FileError> {
        let state = self.state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        state.error.map_or(Ok(state.runs), Err)
    }
}

/// A sentence for readers of figures so far; `None` if all runs are finished.
pub fn remark(runs: &[Option<SoFar>]) -> Option<String> {
    let finished = runs.iter().flatten().filter(|run| run.is_whole()).count();
    let under_way = runs.iter().flatten().filter(|run| !run.is_whole());
    let parts: Vec<String> = under_way
        .map(|run| format!("seed {} at {:.0} %", run.summary.seed, 100.0 * run.part))
        .collect();
    let parts = match parts.is_empty() {
        true => String::new(),
        false => format!(
            " ({}: figures are of the flows that have finished, of long ones too few)",
            parts.join(", ")
        ),
    };
    let of = runs.len();
    (finished < of).then(|| format!("so far: {finished} of {of} runs are finished{parts}"))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::testing::{cell, run};

    #[test]
    fn figures_are_shown_as_often_as_wanted() {
        let shown = AtomicUsize::new(0);
        let count = |runs: &[Option<SoFar>]| {
            shown.fetch_add(runs.iter().flatten().count(), Ordering::Relaxed);
            Ok(())
        };
        let summary = run(&cell(1, &[]));
        let note = |live: &Live<'_>| {
            live.note(1, SoFar { part: 0.5, summary: summary.clone() }, Instant::now());
        };
        let always = Live::new(2, Some(Duration::ZERO), Box::new(count));
        assert!(always.wants(Next::Continue));
        note(&always);
        assert_eq!(shown.load(Ordering::Relaxed), 1);
        assert!(!always.of_finished().wants(Next::Stop));
        let at_the_end = Live::new(2, None, Box::new(count));
        note(&at_the_end);
        assert_eq!((shown.load(Ordering::Relaxed), at_the_end.wants(Next::Continue)), (1, false));
        assert!(at_the_end.wants(Next::Stop), "what there is when it stops");
        let runs = at_the_end.finish().unwrap();
        assert_eq!((runs[0].is_none(), runs[1].as_ref().map(|run| run.part)), (true, Some(0.5)));
        assert!(
            remark(&runs).unwrap().starts_with("so far: 0 of 2 runs are finished (seed 1 at 50 %")
        );
        let whole = [Some(SoFar::whole(summary))];
        assert_eq!(remark(&whole), None);
    }

    #[test]
    fn a_file_that_cannot_be_written_is_told_at_the_end() {
        let fails = |_: &[Option<SoFar>]| {
            Err(FileError { path: "a".into(), error: std::io::Error::other("full") })
        };
        let live = Live::new(1, Some(Duration::ZERO), Box::new(fails));
        live.note(0, SoFar::whole(run(&cell(1, &[]))), Instant::now());
        assert_eq!(live.finish().unwrap_err().to_string(), "a: full");
    }
}
