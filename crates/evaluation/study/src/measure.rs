//! Measures of claims: values of simulated points and of experiments.

use heddle_claims::{Bound, Claim, Verdict, stated};

use crate::metric::Metric;
use crate::paper::{Evidence, Measure, SimulatedPaper};
use crate::point::{Point, Results};
use crate::steady::Steadiness;

/// The claim that a value at one point is about so many times that at another.
pub const fn ratio<P: SimulatedPaper>(
    id: &'static str,
    source: &'static str,
    text: &'static str,
    paper: f64,
    metric: Metric,
    worse: P::Point,
    better: P::Point,
) -> Claim<Measure<P>> {
    Claim::new(
        id,
        source,
        text,
        stated(Bound::About, paper, "x"),
        Measure::Ratio(metric, worse, better),
    )
}

impl<P: SimulatedPaper> Measure<P> {
    /// The points that it needs.
    pub fn points(&self) -> Vec<P::Point> {
        match *self {
            Measure::Ratio(_, worse, better)
            | Measure::Quantiles(_, worse, better)
            | Measure::Pair(_, worse, better) => vec![worse, better],
            Measure::Best(_, point, rivals) | Measure::Worst(_, point, rivals) => {
                [vec![point], rivals(point)].concat()
            }
            Measure::At(_, point) => vec![point],
            Measure::Experiment(..) | Measure::Computed(_) => Vec::new(),
        }
    }

    /// The experiment that it needs.
    pub fn experiment(&self) -> Option<P::Experiment> {
        match *self {
            Measure::Experiment(experiment, _) => Some(experiment),
            _ => None,
        }
    }
}

impl<P: SimulatedPaper> heddle_claims::Measure for Measure<P> {
    type Evidence = Evidence<P>;

    fn values(&self, evidence: &Evidence<P>) -> Vec<f64> {
        let results = &evidence.results;
        match *self {
            Measure::Ratio(metric, worse, better) => {
                ratios(&of(results, metric, worse), &of(results, metric, better))
            }
            Measure::Quantiles(quantile, worse, better) => {
                let values = |point: P::Point| -> Vec<Option<f64>> {
                    results.runs(point).iter().map(|run| quantile.of(run)).collect()
                };
                ratios(&values(worse), &values(better))
            }
            Measure::Pair(value, one, other) => {
                let runs = results.runs(one).iter().zip(results.runs(other));
                runs.filter_map(|(one, other)| value(one, other)).collect()
            }
            Measure::Best(metric, point, rivals) => {
                let best = extreme(results, metric, &rivals(point), f64::min);
                ratios(&best, &of(results, metric, point))
            }
            Measure::Worst(metric, point, rivals) => {
                let worst = extreme(results, metric, &rivals(point), f64::max);
                ratios(&of(results, metric, point), &worst)
            }
            Measure::At(metric, point) => {
                of(results, metric, point).into_iter().flatten().collect()
            }
            Measure::Experiment(experiment, value) => {
                evidence.outcomes(experiment).filter_map(value).collect()
            }
            Measure::Computed(value) => vec![value()],
        }
    }

    /// The points in no steady state, and the measurements that show it.
    fn remark(&self, evidence: &Evidence<P>) -> Option<String> {
        let said: Vec<String> = self
            .points()
            .into_iter()
            .filter_map(|point| {
                let reason = Steadiness::of(evidence.results.runs(point)).reason()?;
                Some(format!("{}: {reason}", point.label()))
            })
            .collect();
        (!said.is_empty()).then(|| said.join("; "))
    }

    fn pooled(&self, evidence: &Evidence<P>) -> Option<f64> {
        let Measure::Quantiles(quantile, worse, better) = *self else { return None };
        let [worse, better] = [worse, better].map(|point| evidence.results.runs(point));
        if worse.len() < 2 {
            return None;
        }
        Some(quantile.pooled(worse)? / quantile.pooled(better).filter(|&value| value > 0.0)?)
    }

    fn withheld(&self, evidence: &Evidence<P>) -> Option<Verdict> {
        let results = &evidence.results;
        if self.is_overloaded(results) {
            return Some(Verdict::Overloaded);
        }
        let Measure::Quantiles(quantile, worse, better) = *self else { return None };
        let at_limit = |point: P::Point| quantile.is_at_limit(results.runs(point));
        [worse, better].into_iter().any(at_limit).then_some(Verdict::AtBuffer)
    }
}

impl<P: SimulatedPaper> Measure<P> {
    /// True if a run that decides the value is in no steady state.
    fn is_overloaded(&self, results: &Results<P::Point>) -> bool {
        // An overloaded rival's value is too small: it may be the greatest in truth.
        let deciding = match self {
            Measure::Worst(..) => self.points(),
            _ => self.deciding(results),
        };
        deciding.iter().any(|&point| Steadiness::of(results.runs(point)).is_overloaded())
    }

    /// The points whose runs give the value.
    fn deciding(&self, results: &Results<P::Point>) -> Vec<P::Point> {
        match *self {
            Measure::Best(metric, point, rivals) => {
                let best = extreme_points(results, metric, &rivals(point), f64::min);
                [vec![point], best].concat()
            }
            Measure::Worst(metric, point, rivals) => {
                let worst = extreme_points(results, metric, &rivals(point), f64::max);
                [vec![point], worst].concat()
            }
            _ => self.points(),
        }
    }
}

/// The value of each seed's run at a point.
fn of<P: Point>(results: &Results<P>, metric: Metric, point: P) -> Vec<Option<f64>> {
    results.runs(point).iter().map(metric).collect()
}

/// The least or greatest value of some points, seed by seed; of none where a point lacks it.
fn extreme<P: Point>(
    results: &Results<P>,
    metric: Metric,
    points: &[P],
    choose: fn(f64, f64) -> f64,
) -> Vec<Option<f64>> {
    let columns: Vec<_> = points.iter().map(|&point| of(results, metric, point)).collect();
    let seeds = columns.iter().map(Vec::len).min().unwrap_or(0);
    let at = |seed: usize| {
        let values: Option<Vec<f64>> = columns.iter().map(|column| column[seed]).collect();
        values?.into_iter().reduce(choose)
    };
    (0..seeds).map(at).collect()
}

/// The points that have the least or greatest value of all in the run of some seed.
fn extreme_points<P: Point>(
    results: &Results<P>,
    metric: Metric,
    points: &[P],
    choose: fn(f64, f64) -> f64,
) -> Vec<P> {
    let extremes = extreme(results, metric, points, choose);
    let has_one = |point: &P| {
        let values = of(results, metric, *point);
        values.iter().zip(&extremes).any(|(value, extreme)| value.is_some() && value == extreme)
    };
    points.iter().copied().filter(has_one).collect()
}

/// Ratios seed by seed, where there are both values and the divisor is not zero.
fn ratios(worse: &[Option<f64>], better: &[Option<f64>]) -> Vec<f64> {
    let ratio = |(w, b): (&Option<f64>, &Option<f64>)| Some((*w)? / (*b).filter(|&b| b > 0.0)?);
    worse.iter().zip(better).filter_map(ratio).collect()
}
