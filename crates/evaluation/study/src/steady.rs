//! A test for a steady state: means that still grow with the length of the run are no property of a
//! scheme.
//!
//! The measured flows of a run, in order of their starts, make batches of equal size. Without a
//! trend the batches' means are equally likely in any order; the Mann-Kendall test (Mann,
//! Econometrica 1945; Kendall 1975) counts pairs that rise. Runs of several seeds are joined by
//! Stouffer's method. A scheme that is offered more than it carries shows a trend, as its queues
//! grow with time.

use heddle_claims::stats::mean;
use heddle_claims::table::OVERLOADED;
use serde::Serialize;

use crate::summary::RunSummary;

/// A trend is taken for one above this quantile of the normal distribution: by chance one test in
/// two hundred is.
const SIGNIFICANT: f64 = 2.576;

/// The second half's mean over the first's, at least: smaller trends do not matter.
const GROWTH: f64 = 1.1;

/// A link's mean share of its rate from which on it counts as full. At 99 % a queue takes some
/// 10,000 service times (1 / (1 - 0.99)^2) to come near its mean: no run here is as long.
const FULL: f64 = 0.99;

/// The state of runs: in a steady one, means do not depend on the length of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Too few flows to tell, and no link known to be full.
    #[default]
    Unknown,
    /// No run grows, and no link is full.
    Steady,
    /// A run grows, has a full link, or ended with flows unfinished.
    Overloaded,
}

/// The steadiness of some runs of one scenario, one a seed. Every table, plot and verdict takes it
/// from here.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Steadiness {
    /// The state of the runs together: overloaded if one of them is.
    pub state: State,
    /// The greatest [`growth`], of a run or of all together; `None` without a trend.
    pub growth: Option<f64>,
    /// Mean share of its rate that the busiest sampled link carried in the measuring window, the
    /// greatest of all runs; `None` without samples.
    pub busiest_link: Option<f64>,
    /// Flows that were unfinished when a run reached its time limit or stopped.
    pub unfinished: u64,
    /// Seeds of the runs that are overloaded.
    pub overloaded_seeds: Vec<u64>,
}

impl Steadiness {
    /// Measures some runs of one scenario.
    pub fn of(runs: &[RunSummary]) -> Steadiness {
        let each = runs.iter().map(std::slice::from_ref::<RunSummary>);
        let together = growth(runs);
        let growths = each.clone().map(growth).chain([together]).flatten();
        let is_overloaded = |run: &&RunSummary| {
            growth(std::slice::from_ref(*run)).is_some() || has_full_link(run) || open(run) > 0
        };
        let overloaded_seeds: Vec<u64> =
            runs.iter().filter(is_overloaded).map(|run| run.seed).collect();
        let state = match () {
            () if together.is_some() || !overloaded_seeds.is_empty() => State::Overloaded,
            () if runs.iter().any(|run| !run.batches.is_empty()) => State::Steady,
            () => State::Unknown,
        };
        Steadiness {
            state,
            growth: growths.reduce(f64::max),
            busiest_link: runs.iter().filter_map(busiest_link).reduce(f64::max),
            unfinished: runs.iter().map(open).sum(),
            overloaded_seeds,
        }
    }

    /// True if figures of these runs are not compared.
    pub fn is_overloaded(&self) -> bool {
        self.state == State::Overloaded
    }

    /// The state as tables have it.
    pub fn text(&self) -> &'static str {
        match self.state {
            State::Unknown => "-",
            State::Steady => "steady",
            State::Overloaded => OVERLOADED,
        }
    }

    /// The measurements behind an overload; `None` if there is none.
    pub fn reason(&self) -> Option<String> {
        if !self.is_overloaded() {
            return None;
        }
        let growth = self.growth.map(|growth| {
            format!("slowdowns grow {growth:.2}x from the first half of the measured flows to the second")
        });
        let full = self.busiest_link.filter(|&share| share >= FULL);
        let full = full.map(|share| format!("a link carries {:.1} % of its rate", 100.0 * share));
        let unfinished = (self.unfinished > 0).then(|| {
            format!(
                "{} flows were unfinished at the time limit, and values are of the others, which are the shorter ones",
                self.unfinished
            )
        });
        let reasons: Vec<String> = growth.into_iter().chain(full).chain(unfinished).collect();
        let seeds: Vec<String> = self.overloaded_seeds.iter().map(u64::to_string).collect();
        let seeds = match seeds.len() {
            0 => "all seeds together".to_owned(),
            1 => format!("seed {}", seeds[0]),
            _ => format!("seeds {}", seeds.join(", ")),
        };
        Some(format!("{} ({seeds})", reasons.join("; ")))
    }
}

/// Mean share of its rate that a run's busiest sampled link carried.
fn busiest_link(run: &RunSummary) -> Option<f64> {
    run.ports.iter().map(|port| port.utilisation).reduce(f64::max)
}

/// True if a workload with an offered load fills a link. In a closed loop, and with flows without
/// end, full links are a steady state.
fn has_full_link(run: &RunSummary) -> bool {
    run.load.is_some() && busiest_link(run).is_some_and(|share| share >= FULL)
}

/// Flows that were unfinished when the run reached its time limit or stopped.
fn open(run: &RunSummary) -> u64 {
    let ended = run.time_limit_seconds.is_some() || run.totals.stalled;
    if ended { run.totals.unfinished } else { 0 }
}

/// The ratio of the mean slowdown of the second half of the measuring window to that of the first,
/// if there is a trend; `None` in a steady state, and where there are too few flows to tell.
pub fn growth(runs: &[RunSummary]) -> Option<f64> {
    let runs: Vec<&[f64]> =
        runs.iter().map(|run| run.batches.as_slice()).filter(|b| !b.is_empty()).collect();
    let scores: Vec<f64> = runs.iter().map(|batches| mann_kendall(batches)).collect();
    let joined = scores.iter().sum::<f64>() / (scores.len().max(1) as f64).sqrt();
    let half = |second: bool| {
        let mean_of_half = |batches: &&[f64]| {
            let (first, last) = batches.split_at(batches.len() / 2);
            mean(if second { last } else { first })
        };
        mean(&runs.iter().filter_map(mean_of_half).collect::<Vec<_>>())
    };
    let growth = half(true)? / half(false)?;
    (joined > SIGNIFICANT && growth > GROWTH).then_some(growth)
}

/// The Mann-Kendall statistic, standard normal without a trend.
fn mann_kendall(values: &[f64]) -> f64 {
    let n = values.len();
    let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    let rising: f64 = pairs
        .map(|(i, j)| match values[j].total_cmp(&values[i]) {
            std::cmp::Ordering::Less => -1.0,
            std::cmp::Ordering::Equal => 0.0,
            std::cmp::Ordering::Greater => 1.0,
        })
        .sum();
    let n = n as f64;
    let deviation = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    let corrected = (rising.abs() - 1.0).max(0.0).copysign(rising);
    corrected / deviation.max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cell, run};

    /// Kendall's example of a rising series: n = 4, S = 6, variance 26/3.
    #[test]
    fn the_statistic_is_that_of_the_textbook() {
        let expected = 5.0 / (26.0f64 / 3.0).sqrt();
        assert!((mann_kendall(&[1.0, 2.0, 3.0, 4.0]) - expected).abs() < 1e-12);
        assert!((mann_kendall(&[4.0, 3.0, 2.0, 1.0]) + expected).abs() < 1e-12);
        assert!(mann_kendall(&[1.0, 1.0, 1.0, 1.0]).abs() < 1e-12);
    }

    #[test]
    fn an_overloaded_link_is_no_steady_state_and_a_half_loaded_one_is() {
        let runs_at = |load: &str| {
            let changes = [
                ("workload.load", load),
                ("measure.flows", "2000"),
                ("fabric.parallel_links", "1"),
                ("fabric.failed", "[\"leaf-1 spine-1\"]"),
            ];
            [run(&cell(1, &changes)), run(&cell(2, &changes))]
        };
        assert_eq!(growth(&runs_at("0.2")), None);
        // Two thirds of what both hosts of a leaf send at 900 Mbps cross the one link that is left
        // of two: 1.2 Gbps over 1 Gbps.
        assert!(growth(&runs_at("0.9")).unwrap() > 1.5);
    }

    /// One seed of three that grows, or that fills a link, withholds all.
    #[test]
    fn one_overloaded_seed_is_enough() {
        let mut runs = [1, 2, 3].map(|seed| run(&cell(seed, &[("measure.flows", "400")])));
        assert_eq!(Steadiness::of(&runs).text(), "steady");
        assert_eq!(Steadiness::of(&runs).reason(), None);
        let kept = runs[1].clone();
        crate::testing::grow(&mut runs[1]);
        let growing = Steadiness::of(&runs);
        assert_eq!((growing.text(), &*growing.overloaded_seeds), (OVERLOADED, &[2][..]));
        assert!(growing.reason().unwrap().contains("grow 2.82x"), "{growing:?}");
        runs[1] = kept;
        runs[2].ports = vec![crate::testing::port(0.995)];
        let full = Steadiness::of(&runs);
        assert!(full.reason().unwrap().contains("99.5 % of its rate (seed 3)"), "{full:?}");
        runs[2].load = None;
        assert!(!Steadiness::of(&runs).is_overloaded(), "a closed loop may fill a link");
    }

    #[test]
    fn too_few_flows_say_nothing() {
        assert_eq!(growth(&[run(&cell(1, &[]))]), None);
        assert_eq!(growth(&[]), None);
    }
}
