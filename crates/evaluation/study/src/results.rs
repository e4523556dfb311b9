//! Files of `heddle run`: one JSON summary and CSV files of the raw data.

use std::fmt::Write as _;
use std::path::Path;

use heddle_claims::files::{FileError, write_atomically};
use heddle_claims::stats::Estimate;
use heddle_scenario::Scenario;
use heddle_sim::Outcome;
use serde::Serialize;

use crate::summary::{ClassSummary, RunSummary};

/// A scenario's runs, one a seed.
#[derive(Debug, Serialize)]
pub struct ScenarioResult<'a> {
    /// Heddle's version.
    pub heddle: &'static str,
    /// The resolved scenario.
    pub scenario: &'a Scenario,
    /// Means over the seeds with their confidence intervals.
    pub over_seeds: OverSeeds,
    /// Each seed's run.
    pub runs: &'a [RunSummary],
}

/// Means over the seeds. Times are in seconds.
#[derive(Clone, Debug, Serialize)]
pub struct OverSeeds {
    /// Mean flow completion time of all flows.
    pub fct_mean: Option<Estimate>,
    /// Median.
    pub fct_p50: Option<Estimate>,
    /// 95th percentile.
    pub fct_p95: Option<Estimate>,
    /// 99th percentile.
    pub fct_p99: Option<Estimate>,
    /// Mean of flows under 100 KB.
    pub fct_mean_small: Option<Estimate>,
    /// Mean of flows of 100 KB to 10 MB.
    pub fct_mean_medium: Option<Estimate>,
    /// Mean of flows over 10 MB.
    pub fct_mean_large: Option<Estimate>,
    /// Mean slowdown of all flows.
    pub slowdown_mean: Option<Estimate>,
    /// Application bits received per second of the measuring window.
    pub goodput_bps: Option<Estimate>,
}

impl OverSeeds {
    /// Sums up some runs of one scenario.
    pub fn new(runs: &[RunSummary]) -> OverSeeds {
        let over = |figure: &dyn Fn(&RunSummary) -> Option<f64>| {
            Estimate::of(&runs.iter().filter_map(figure).collect::<Vec<_>>())
        };
        let mean = |class: &Option<ClassSummary>| class.as_ref().map(|c| c.seconds.mean);
        let all = |figure: fn(&ClassSummary) -> f64| over(&move |r| r.fct.all.as_ref().map(figure));
        OverSeeds {
            fct_mean: all(|c| c.seconds.mean),
            fct_p50: all(|c| c.seconds.p50),
            fct_p95: all(|c| c.seconds.p95),
            fct_p99: all(|c| c.seconds.p99),
            fct_mean_small: over(&|r| mean(&r.fct.small)),
            fct_mean_medium: over(&|r| mean(&r.fct.medium)),
            fct_mean_large: over(&|r| mean(&r.fct.large)),
            slowdown_mean: all(|c| c.slowdown.mean),
            goodput_bps: over(&|r| Some(r.totals.goodput_bps)),
        }
    }
}

/// Writes `summary.json`, `flows.csv` and, where the scenario samples, `links.csv` into a folder that exists.
///
/// # Errors
/// The first file that cannot be written.
pub fn write(
    folder: &Path,
    result: &ScenarioResult,
    outcomes: &[(u64, Outcome)],
) -> Result<(), FileError> {
    let summary = folder.join("summary.json");
    let json = serde_json::to_string_pretty(result).map_err(std::io::Error::other);
    keep(&summary, &json.map_err(FileError::at(&summary))?)?;
    keep(&folder.join("flows.csv"), &flows_csv(outcomes))?;
    let links = folder.join("links.csv");
    if outcomes.iter().any(|(_, outcome)| !outcome.samples.times.is_empty()) {
        return keep(&links, &links_csv(outcomes));
    }
    // One that an earlier run left there would not belong to this one.
    match std::fs::remove_file(&links) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(FileError::at(&links)(error))
        }
        _ => Ok(()),
    }
}

fn keep(path: &Path, text: &str) -> Result<(), FileError> {
    write_atomically(path, text.as_bytes())
}

/// One line a flow: times in seconds, sizes in bytes.
fn flows_csv(outcomes: &[(u64, Outcome)]) -> String {
    let mut csv = String::from("seed,start_s,from,to,bytes,fct_s,ideal_fct_s\n");
    for (seed, outcome) in outcomes {
        for f in &outcome.flows {
            let (start, fct) = (f.start.as_secs_f64(), f.fct.as_secs_f64());
            let (from, to, bytes) = (f.from, f.to, f.size.0);
            let ideal_fct = f.ideal_fct.as_secs_f64();
            let _ = writeln!(csv, "{seed},{start:.9},{from},{to},{bytes},{fct:.9},{ideal_fct:.9}");
        }
    }
    csv
}

/// One line a sample and port.
fn links_csv(outcomes: &[(u64, Outcome)]) -> String {
    let mut csv = String::from("seed,time_s,from,to,sent_bytes,queued_bytes\n");
    for (seed, outcome) in outcomes {
        let samples = &outcome.samples;
        let width = samples.ports.len().max(1);
        for (row, at) in samples.times.iter().enumerate() {
            for (port, name) in samples.ports.iter().enumerate() {
                let (sent, queued) =
                    (samples.sent[row * width + port], samples.queued[row * width + port]);
                let (at, from, to) = (at.as_secs_f64(), &name.from, &name.to);
                let _ = writeln!(csv, "{seed},{at:.9},{from},{to},{sent},{queued}");
            }
        }
    }
    csv
}
