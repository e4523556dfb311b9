//! A warm-up that goes on until the flows under way are stationary.
//!
//! The number of flows under way is observed at even steps: by Little's law its mean is the arrival
//! rate times the mean flow completion time, and it is known at once, where a completion time is
//! not before the flow ends. MSER-5 (White, Cobb, Spratt: A comparison of five steady-state
//! truncation heuristics for simulation, WSC 2000) takes means of five observations and finds the
//! truncation after which the rest has the least standard error. As its authors say, a truncation
//! beyond the middle tells that the series is too short: the warm-up then goes on.

use heddle_scenario::Measure;
use heddle_units::Time;

/// Observations in `warm_up`: the first test has that many.
const FIRST: usize = 100;

/// Observations between two tests.
const BETWEEN: usize = 25;

/// Observations of a batch.
const BATCH: usize = 5;

/// Batches at the end of which no truncation leaves fewer: the standard error of very few is small
/// by chance.
const LEAST_BATCHES: usize = 5;

/// The open end of a warm-up.
#[derive(Debug)]
pub(crate) struct OpenWarmUp {
    /// Time between two observations.
    pub(crate) every: Time,
    /// The measuring window starts here at the latest.
    latest: Time,
    under_way: Vec<f64>,
}

impl OpenWarmUp {
    /// `None` if the warm-up has a fixed length.
    pub(crate) fn new(measure: &Measure) -> Option<OpenWarmUp> {
        Some(OpenWarmUp {
            every: Time((measure.warm_up.0 / FIRST as u64).max(1)),
            latest: measure.probe_warm_up + measure.warm_up_limit?,
            under_way: Vec::new(),
        })
    }

    /// Notes the number of flows under way. Returns true or false once the warm-up has ended: true
    /// if the test has passed.
    pub(crate) fn observe(&mut self, now: Time, under_way: u64) -> Option<bool> {
        self.under_way.push(under_way as f64);
        let observed = self.under_way.len();
        let is_tested = observed >= FIRST && (observed - FIRST).is_multiple_of(BETWEEN);
        if is_tested && is_stationary(&self.under_way) {
            return Some(true);
        }
        (now + self.every > self.latest).then_some(false)
    }
}

/// True if MSER-5 truncates within the first half.
fn is_stationary(values: &[f64]) -> bool {
    let batches: Vec<f64> =
        values.chunks_exact(BATCH).map(|batch| batch.iter().sum::<f64>() / BATCH as f64).collect();
    truncation(&batches) <= batches.len() / 2
}

/// The number of values to leave out, so that the rest has the least squared standard error: the
/// first of equal ones.
fn truncation(values: &[f64]) -> usize {
    let error = |from: usize| {
        let rest = &values[from..];
        let n = rest.len() as f64;
        let mean = rest.iter().sum::<f64>() / n;
        rest.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (n * n)
    };
    let candidates = 0..=values.len().saturating_sub(LEAST_BATCHES);
    candidates
        .map(|from| (from, error(from)))
        .reduce(|best, other| if other.1 < best.1 { other } else { best })
        .map_or(0, |(from, _)| from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 10, 1, 1, ... the first is left out: the rest does not vary. Of values without a trend
    /// none is, since more values have the smaller error.
    #[test]
    fn the_truncation_leaves_the_transient_out() {
        let mut values = vec![1.0; 20];
        assert_eq!(truncation(&values), 0);
        values[0] = 10.0;
        assert_eq!(truncation(&values), 1);
        let alternating: Vec<f64> = (0..20).map(|i| f64::from(i % 2)).collect();
        assert_eq!(truncation(&alternating), 0);
    }

    /// The sum of squares of n values that rise evenly is n^3 / 12: over n^2 it is least for the
    /// shortest rest.
    #[test]
    fn what_rises_evenly_is_not_stationary() {
        let rising: Vec<f64> = (0..200).map(f64::from).collect();
        assert!(!is_stationary(&rising));
        assert!(is_stationary(&[7.0; 200]));
        let settles: Vec<f64> = (0..200).map(|i| f64::from(i.min(60) + i % 3)).collect();
        assert!(is_stationary(&settles));
        assert!(!is_stationary(&settles[..100]), "60 of 100 observations rise");
    }

    /// Tests are at 100, 125, ... observations; the limit ends what never passes.
    #[test]
    fn the_limit_ends_it() {
        let open = |under_way: fn(u64) -> u64| {
            let mut open =
                OpenWarmUp { every: Time(10), latest: Time(2_000), under_way: Vec::new() };
            (1..).find_map(|i| Some((i, open.observe(Time(10 * i), under_way(i))?))).unwrap()
        };
        assert_eq!(open(|_| 3), (100, true));
        assert_eq!(open(|i| i), (200, false));
        assert_eq!(open(|i| i.min(60)), (125, true));
    }
}
