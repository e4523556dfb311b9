//! A test for a steady state: means that still grow with the length of the run are no property of a
//! scheme.
//!
//! The measured flows of a run, in order of their starts, make batches of equal size. Without a
//! trend the batches' means are equally likely in any order; the Mann-Kendall test (Mann,
//! Econometrica 1945; Kendall 1975) counts pairs that rise. Runs of several seeds are joined by
//! Stouffer's method. A scheme that is offered more than it carries shows a trend, as its queues
//! grow with time.

use heddle_claims::stats::mean;
use heddle_sim::FlowRecord;

use crate::summary::RunSummary;

/// Batches of a run.
const BATCHES: usize = 20;

/// Flows of a batch, at least.
const LEAST_FLOWS: usize = 5;

/// A trend is taken for one above this quantile of the normal distribution: by chance one test in
/// two hundred is.
const SIGNIFICANT: f64 = 2.576;

/// The second half's mean over the first's, at least: smaller trends do not matter.
const GROWTH: f64 = 1.1;

/// Means of a value over the batches of a run; empty if the run has too few flows.
pub fn batches(flows: &[FlowRecord], value: impl Fn(&FlowRecord) -> f64) -> Vec<f64> {
    let size = flows.len() / BATCHES;
    if size < LEAST_FLOWS {
        return Vec::new();
    }
    let mut flows: Vec<&FlowRecord> = flows.iter().collect();
    flows.sort_by_key(|flow| (flow.start, flow.from, flow.to));
    let skipped = flows.len() - size * BATCHES;
    let batches = flows[skipped..].chunks(size);
    let values = |batch: &[&FlowRecord]| batch.iter().map(|flow| value(flow)).collect::<Vec<_>>();
    batches.filter_map(|batch| mean(&values(batch))).collect()
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

    #[test]
    fn too_few_flows_say_nothing() {
        assert_eq!(growth(&[run(&cell(1, &[]))]), None);
        assert_eq!(growth(&[]), None);
    }
}
