//! One MPTCP connection over seven paths, many times (section 4.2.2; claims C6 and C7).

use heddle_scenario::{Source, load};
use heddle_sim::{Next, Outcome, simulate};
use rayon::prelude::*;
use serde::Serialize;

use super::points::Choice;
use heddle_claims::stats::mean;
use heddle_study::paper::EvaluationError;

const SEVEN_LINKS: &str = include_str!("../../../../../scenarios/cflb-seven-links.toml");
const TWO_INTERFACES: &str = include_str!("../../../../../scenarios/cflb-two-interfaces.toml");
const TWO_INTERFACES_GRAPH: &str =
    include_str!("../../../../../scenarios/graphs/two-interfaces.toml");

/// The paper's runs of each.
const SEVEN_LINKS_RUNS: u64 = 400;
const TWO_INTERFACES_RUNS: u64 = 100;

/// Different paths that the seven subflows of a connection used (figure 10).
#[derive(Clone, Debug, Serialize)]
pub struct PathsUsed {
    /// Numbers of runs that used one path, two, and so on to seven.
    pub runs: [u32; 7],
    /// Mean goodput, in bits per second.
    pub goodput: f64,
}

impl PathsUsed {
    /// Runs the experiment.
    ///
    /// # Errors
    /// None that a caller can cause.
    pub fn run(choice: Choice, seed: u64) -> Result<PathsUsed, EvaluationError> {
        let source = chosen(Source::new("cflb-seven-links.toml", SEVEN_LINKS), choice);
        let outcomes = outcomes(&source, SEVEN_LINKS_RUNS, seed)?;
        let mut runs = [0; 7];
        for paths in outcomes.iter().filter_map(paths_used) {
            runs[paths.clamp(1, 7) - 1] += 1;
        }
        Ok(PathsUsed { runs, goodput: mean_goodput(&outcomes) })
    }

    /// Share of the runs that used so many paths, in percent.
    pub fn percent(&self, paths: usize) -> f64 {
        let all: u32 = self.runs.iter().sum();
        100.0 * f64::from(self.runs[paths - 1]) / f64::from(all.max(1))
    }
}

/// The probability that n subflows at random use exactly k of l paths (section 4.2.2's formula): l!
/// / ((l - k)! l^n) times the ways to part n things into k sets.
pub fn chance(subflows: u32, used: u32, paths: u32) -> f64 {
    let falling: f64 = (0..used).map(|taken| f64::from(paths - taken)).product();
    let all: f64 = (0..subflows).map(|_| f64::from(paths)).product();
    falling * partitions(subflows, used) / all
}

/// Stirling's number of the second kind.
fn partitions(things: u32, sets: u32) -> f64 {
    match (things, sets) {
        (0, 0) => 1.0,
        (0, _) | (_, 0) => 0.0,
        _ => f64::from(sets) * partitions(things - 1, sets) + partitions(things - 1, sets - 1),
    }
}

/// Goodput into two interfaces, by number of subflows (figure 11), in bits per second.
#[derive(Clone, Debug, Serialize)]
pub struct Saturation {
    /// Subflows and mean goodput.
    pub points: Vec<(u8, f64)>,
}

impl Saturation {
    /// Runs the experiment, for each number of subflows.
    ///
    /// # Errors
    /// None that a caller can cause.
    pub fn run(choice: Choice, subflows: &[u8], seed: u64) -> Result<Saturation, EvaluationError> {
        let point = |&subflows: &u8| {
            let source = Source::new("cflb-two-interfaces.toml", TWO_INTERFACES)
                .with("transport.subflows", subflows.to_string());
            let outcomes = outcomes(&chosen(source, choice), TWO_INTERFACES_RUNS, seed)?;
            Ok((subflows, mean_goodput(&outcomes)))
        };
        let points: Result<Vec<_>, EvaluationError> = subflows.iter().map(point).collect();
        Ok(Saturation { points: points? })
    }

    /// Goodput with so many subflows.
    pub fn with(&self, subflows: u8) -> Option<f64> {
        self.points.iter().find(|(count, _)| *count == subflows).map(|(_, goodput)| *goodput)
    }
}

fn chosen(source: Source, choice: Choice) -> Source {
    match choice {
        Choice::Hash => source.with("scheme", "ecmp"),
        Choice::Scheduler => source,
        Choice::Ideal => source.with("scheme", "ideal"),
    }
}

/// So many runs, each with a seed of its own: of the evaluation's seed 1 those from 1 on, of its
/// seed 2 those that follow.
fn outcomes(source: &Source, runs: u64, seed: u64) -> Result<Vec<Outcome>, EvaluationError> {
    let files = |path: &str| match path {
        "graphs/two-interfaces.toml" => Ok(TWO_INTERFACES_GRAPH.to_owned()),
        _ => heddle_study::point::no_files(path),
    };
    // The paper measures a minute. Its windows are as wide after a second as they will be.
    let source = source.clone().with("measure.duration", "1s");
    let scenario = load(&source, &files)?;
    let run = |seed| simulate(&scenario, seed, &mut |_| Next::Continue);
    Ok(((seed - 1) * runs + 1..=seed * runs).into_par_iter().map(run).collect::<Result<_, _>>()?)
}

fn paths_used(outcome: &Outcome) -> Option<usize> {
    let used = outcome.path_use?;
    let paths = used.paths_sum as f64 / used.samples as f64;
    (used.samples > 0).then(|| paths.round() as usize)
}

fn mean_goodput(outcomes: &[Outcome]) -> f64 {
    let goodput = |outcome: &Outcome| {
        8.0 * outcome.totals.delivered_in_window.0 as f64 / outcome.totals.window.as_secs_f64()
    };
    let all: Vec<f64> = outcomes.iter().map(goodput).collect();
    mean(&all).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "P(7,7,7) = 0.6 %"; most runs use four or five.
    #[test]
    fn the_papers_formula() {
        let chances: Vec<f64> = (1..=7).map(|used| chance(7, used, 7)).collect();
        assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((chances[6] - 5040.0 / 823_543.0).abs() < 1e-15);
        assert!(chances[3] + chances[4] > 0.7, "{chances:?}");
    }
}
