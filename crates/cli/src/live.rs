//! Figures of runs while they go on, and of runs that were interrupted.

use std::time::Duration;

use heddle_report::Report;
use heddle_study::grid::GridError;
use heddle_study::live::{SoFar, remark};

use crate::failure::Failure;
use crate::table::short;

/// Time between two looks.
const EVERY: Duration = Duration::from_secs(1);

/// Seconds after which browsers load the report anew.
const RELOAD: u32 = 5;

/// Time between two looks, where they are wanted.
pub(crate) fn every(is_wanted: bool) -> Option<Duration> {
    is_wanted.then_some(EVERY)
}

/// A report of figures so far, which says so.
pub(crate) fn marked(report: Report, runs: &[Option<SoFar>]) -> Report {
    remark(runs).into_iter().fold(report, Report::warning)
}

/// The same while runs go on.
pub(crate) fn reloading(report: Report, runs: &[Option<SoFar>]) -> Report {
    marked(report, runs).reload(RELOAD)
}

/// The figures so far of a run that goes on, in a line.
pub(crate) fn line(run: &SoFar) -> String {
    let SoFar { part, summary } = run;
    let under_way = summary.totals.unfinished;
    let times = summary.fct.all.as_ref().map_or_else(
        || ": no flow measured yet".to_owned(),
        |all| {
            let [mean, p99] = [all.seconds.mean, all.seconds.p99].map(|time| short(1e3 * time));
            let (flows, slowdown) = (all.flows, short(all.slowdown.mean));
            format!(
                ": {flows} flows finished, {under_way} under way, mean FCT {mean} ms, p99 {p99} ms, slowdown {slowdown}"
            )
        },
    );
    format!("seed {}, {:.0} %{times}", summary.seed, 100.0 * part)
}

/// The figures so far, if runs were interrupted; other errors as they are.
pub(crate) fn interrupted(error: GridError, show: impl FnOnce() -> Result<(), Failure>) -> Failure {
    if matches!(error, GridError::Interrupted { .. })
        && let Err(failure) = show()
    {
        return failure;
    }
    error.into()
}
