//! Small statistics: means, quantiles, confidence intervals.

use heddle_report::Point;
use serde::{Deserialize, Serialize};

use crate::interval::{Mean, half_width, interval};

/// A value over several seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Mean over the seeds.
    pub mean: f64,
    /// Half the width of the 95 % confidence interval by Student's t; absent with a single seed.
    pub half_width: Option<f64>,
    /// Ends of the 95 % confidence interval by the bootstrap, never below 0 of positive values
    /// ([`interval`]); absent with a single seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
    /// Number of seeds.
    pub seeds: usize,
    /// Median over the seeds.
    #[serde(default)]
    pub median: f64,
    /// The least value of a seed.
    #[serde(default)]
    pub min: f64,
    /// The greatest value of a seed.
    #[serde(default)]
    pub max: f64,
    /// The value of the samples of all seeds together, where a quantile is estimated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pooled: Option<f64>,
}

/// Seeds range widely if the greatest value is more than so many times the least: a mean with a
/// symmetric interval does not describe them.
const WIDE: f64 = 2.0;

impl Estimate {
    /// Mean and interval of one value per seed; `None` if there is none.
    pub fn of(figures: &[f64]) -> Option<Estimate> {
        let mean = mean(figures)?;
        let n = figures.len();
        let (half_width, interval) = (half_width(figures), interval(figures, Mean::Arithmetic));
        let mut sorted = figures.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (median, min, max) = (quantile(&sorted, 0.5)?, sorted[0], sorted[n - 1]);
        Some(Estimate { mean, half_width, interval, seeds: n, median, min, max, pooled: None })
    }

    /// True if the seeds' positive values differ by more than a factor of two: median and range are
    /// given then, in place of mean and interval.
    pub fn is_wide(&self) -> bool {
        self.min > 0.0 && self.max > WIDE * self.min
    }

    /// True if median and range are given: of a ratio ("x"), of pooled samples, and of seeds that
    /// range widely. The range of five seeds holds the median of all with 94 % confidence
    /// (1 - 2 / 2^5), whatever the distribution.
    pub fn has_range(&self, unit: &str) -> bool {
        self.seeds > 1 && (unit == "x" || self.pooled.is_some() || self.is_wide())
    }

    /// The 95 % interval, or the range if that is [given](Estimate::has_range).
    pub fn span(&self, unit: &str) -> Span {
        if self.has_range(unit) {
            let middle = self.pooled.unwrap_or(self.median);
            return Span { low: self.min, middle, high: self.max };
        }
        let half = self.half_width.unwrap_or(0.0);
        Span { low: self.mean - half, middle: self.mean, high: self.mean + half }
    }
}

/// The ends of an interval or a range, and the value between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// The low end.
    pub low: f64,
    /// The mean of an interval, the median of a range.
    pub middle: f64,
    /// The high end.
    pub high: f64,
}

/// A point of a plot: the mean over the seeds, with the ends of its 95 % interval where there are
/// several; `None` without any.
pub fn point(x: f64, figures: &[f64]) -> Option<Point> {
    let Estimate { mean, interval, .. } = Estimate::of(figures)?;
    Some(Point { x, y: mean, bar: interval })
}

/// Arithmetic mean; `None` of nothing.
pub fn mean(figures: &[f64]) -> Option<f64> {
    (!figures.is_empty()).then(|| figures.iter().sum::<f64>() / figures.len() as f64)
}

/// Coefficient of variation: the standard deviation over the mean; `None` of nothing, or about a
/// mean of zero.
pub fn variation(figures: &[f64]) -> Option<f64> {
    let mean = mean(figures).filter(|&mean| mean != 0.0)?;
    let squares: f64 = figures.iter().map(|x| (x - mean) * (x - mean)).sum();
    Some((squares / figures.len() as f64).sqrt() / mean)
}

/// The `q`-quantile (0 to 1) of sorted figures, by linear interpolation between ranks; `None` of
/// nothing.
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let rank = q.clamp(0.0, 1.0) * last as f64;
    let below = rank.floor() as usize;
    let above = (below + 1).min(last);
    Some(sorted[below] + (sorted[above] - sorted[below]) * (rank - below as f64))
}

/// `n + 1` quantiles at even steps from 0 to 1: a distribution's shape in little space. Empty of
/// nothing.
pub fn quantiles(sorted: &[f64], n: usize) -> Vec<f64> {
    (0..=n).filter_map(|i| quantile(sorted, i as f64 / n as f64)).collect()
}

/// The distribution of the samples of several runs together, as `n + 1` quantiles, from those of each run
/// at even steps: every run has the same weight. Empty of nothing.
pub fn pooled(shapes: &[&[f64]], n: usize) -> Vec<f64> {
    let mut all: Vec<f64> = shapes.iter().flat_map(|shape| shape.iter().copied()).collect();
    all.sort_by(f64::total_cmp);
    quantiles(&all, n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn interval_of_three_seeds() {
        // 10, 12, 14: deviation 2, t = 4.303, half width 4.303 * 2 / sqrt(3).
        let estimate = Estimate::of(&[10.0, 12.0, 14.0]).unwrap();
        assert_eq!(estimate.mean, 12.0);
        assert!((estimate.half_width.unwrap() - 4.9687).abs() < 1e-3);
        assert_eq!(Estimate::of(&[5.0]).unwrap().half_width, None);
        assert_eq!(Estimate::of(&[]), None);
    }

    /// 1, 2 and 9 range by a factor of nine, 10 to 14 by 1.4.
    #[test]
    fn seeds_that_range_widely_have_a_median_and_a_range() {
        let wide = Estimate::of(&[9.0, 1.0, 2.0]).unwrap();
        assert!(wide.is_wide());
        assert_eq!(wide.span("ms"), Span { low: 1.0, middle: 2.0, high: 9.0 });
        let narrow = Estimate::of(&[10.0, 12.0, 14.0]).unwrap();
        assert!(!narrow.is_wide() && !Estimate::of(&[5.0]).unwrap().is_wide());
        assert_eq!(narrow.span("ms").middle, 12.0);
        assert!(narrow.span("ms").low < 8.0, "an interval");
        let range = Span { low: 10.0, middle: 12.0, high: 14.0 };
        assert_eq!(narrow.span("x"), range, "a ratio has its range");
        let pooled = Estimate { pooled: Some(11.0), ..narrow };
        assert_eq!(pooled.span("ms"), Span { middle: 11.0, ..range });
    }

    /// Two runs, one with 0 and one with 100 throughout: half of the samples are 0, where the mean
    /// of both medians is 50 with any shape.
    #[test]
    fn pooled_samples_keep_the_tail_of_one_run() {
        let shape = pooled(&[&[0.0; 11], &[100.0; 11]], 10);
        assert_eq!((shape[4], shape[6], shape.len()), (0.0, 100.0, 11));
    }

    /// 2 and 6: mean 4, each 2 away from it.
    #[test]
    fn variation_is_a_share_of_the_mean() {
        assert_eq!(variation(&[2.0, 6.0]), Some(0.5));
        assert_eq!(variation(&[3.0, 3.0]), Some(0.0));
        assert_eq!((variation(&[]), variation(&[0.0])), (None, None));
    }

    #[test]
    fn quantiles_interpolate() {
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0], 0.5), Some(2.5));
        assert_eq!(quantile(&[7.0], 0.99), Some(7.0));
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantiles(&[0.0, 10.0], 2), [0.0, 5.0, 10.0]);
    }

    proptest! {
        #[test]
        fn a_quantile_lies_between_its_neighbours(mut xs in prop::collection::vec(0.0..1e9f64, 1..50), q in 0.0..1.0f64) {
            xs.sort_by(f64::total_cmp);
            let value = quantile(&xs, q).unwrap();
            prop_assert!(xs[0] <= value && value <= xs[xs.len() - 1]);
        }
    }
}
