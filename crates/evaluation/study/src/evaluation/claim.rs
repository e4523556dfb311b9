//! Claims: what a paper says, what was found, and whether the two agree.

use serde::Serialize;

use super::{Evidence, Experiment, Paper, Results};
use crate::figure::Figure;
use crate::stats::Estimate;

/// How a claim's figure is found.
pub enum Measure<P: Paper> {
    /// A figure at one point over the same figure at another: how many times worse the first is.
    Ratio(Figure, P::Point, P::Point),
    /// The least figure of the rivals of a point over the point's own: more than 1 if it is the best.
    Best(Figure, P::Point, fn(P::Point) -> Vec<P::Point>),
    /// A point's figure over the greatest of its rivals': more than 1 if it is the worst.
    Worst(Figure, P::Point, fn(P::Point) -> Vec<P::Point>),
    /// A figure at one point.
    At(Figure, P::Point),
    /// A figure of an experiment.
    Made(P::Experiment, fn(&<P::Experiment as Experiment>::Outcome) -> Option<f64>),
    /// Structure of a fabric or arithmetic.
    Computed(fn() -> f64),
}

/// Which way the paper's figure binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// Near it.
    About,
    /// At most it.
    AtMost,
    /// At least it.
    AtLeast,
    /// Exactly it.
    Exact,
}

impl Bound {
    /// Whether a figure agrees with a paper's, of the same unit ("x" for a ratio).
    pub fn judge(self, paper: f64, unit: &str, here: f64) -> Verdict {
        let kept = |kept: bool| if kept { Verdict::Agrees } else { Verdict::Differs };
        match self {
            Bound::Exact => kept((here - paper).abs() <= 1e-9 * paper.abs()),
            Bound::AtMost => kept(here <= paper),
            Bound::AtLeast => kept(here >= paper),
            Bound::About if unit == "x" => judge_ratio(paper, here),
            Bound::About => kept((here / paper - 1.0).abs() <= 1.0 / 3.0),
        }
    }
}

/// One claim.
pub struct Claim<P: Paper> {
    /// A letter for the paper and a number: H1, M1.
    pub id: &'static str,
    /// Where the paper says it.
    pub source: &'static str,
    /// What it says.
    pub text: &'static str,
    /// The paper's figure.
    pub paper: f64,
    /// Its unit: "x" for a ratio.
    pub unit: &'static str,
    /// Which way it binds.
    pub bound: Bound,
    /// How it is measured.
    pub measure: Measure<P>,
}

/// Whether a claim came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Direction and size. A ratio: its excess over 1 is within half and twice the paper's (where the paper says "equal": 0.9
    /// to 1.1). Another figure: within a third. An exact one: equal. A bound: kept.
    Agrees,
    /// A ratio's direction (more than 1.02), but not its size.
    DirectionOnly,
    /// Not even the direction.
    Differs,
    /// It was not simulated.
    NotRun,
}

/// A claim with what was found.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The claim's id.
    pub id: &'static str,
    /// Where the paper says it.
    pub source: &'static str,
    /// What it says.
    pub claim: &'static str,
    /// The paper's figure.
    pub paper: f64,
    /// Heddle's figure over the seeds.
    pub here: Option<Estimate>,
    /// The unit of both.
    pub unit: &'static str,
    /// Which way the paper's figure binds.
    pub bound: Bound,
    /// Whether it came out.
    pub verdict: Verdict,
}

impl<P: Paper> Claim<P> {
    /// That a figure at one point is about so many times that at another.
    pub(crate) const fn times(
        id: &'static str,
        source: &'static str,
        text: &'static str,
        paper: f64,
        figure: Figure,
        worse: P::Point,
        better: P::Point,
    ) -> Claim<P> {
        let measure = Measure::Ratio(figure, worse, better);
        Claim { id, source, text, paper, unit: "x", bound: Bound::About, measure }
    }

    /// Any other claim.
    pub(crate) const fn other(
        id: &'static str,
        source: &'static str,
        text: &'static str,
        (bound, paper, unit): (Bound, f64, &'static str),
        measure: Measure<P>,
    ) -> Claim<P> {
        Claim { id, source, text, paper, unit, bound, measure }
    }

    /// The points that it needs.
    pub fn points(&self) -> Vec<P::Point> {
        match self.measure {
            Measure::Ratio(_, worse, better) => vec![worse, better],
            Measure::Best(_, point, rivals) | Measure::Worst(_, point, rivals) => {
                [vec![point], rivals(point)].concat()
            }
            Measure::At(_, point) => vec![point],
            Measure::Made(..) | Measure::Computed(_) => Vec::new(),
        }
    }

    /// The experiment that it needs.
    pub fn experiment(&self) -> Option<P::Experiment> {
        match self.measure {
            Measure::Made(experiment, _) => Some(experiment),
            _ => None,
        }
    }

    /// Judges it.
    pub fn find(&self, evidence: &Evidence<P>) -> Finding {
        let here = Estimate::of(&self.figures(evidence));
        Finding {
            id: self.id,
            source: self.source,
            claim: self.text,
            paper: self.paper,
            here,
            unit: self.unit,
            bound: self.bound,
            verdict: here.map_or(Verdict::NotRun, |here| self.judge(here.mean)),
        }
    }

    /// The figure of each seed.
    fn figures(&self, evidence: &Evidence<P>) -> Vec<f64> {
        let results = &evidence.results;
        match self.measure {
            Measure::Ratio(figure, worse, better) => {
                over(&of(results, figure, worse), &of(results, figure, better))
            }
            Measure::Best(figure, point, rivals) => {
                let best = extreme(results, figure, &rivals(point), f64::min);
                over(&best, &of(results, figure, point))
            }
            Measure::Worst(figure, point, rivals) => {
                let worst = extreme(results, figure, &rivals(point), f64::max);
                over(&of(results, figure, point), &worst)
            }
            Measure::At(figure, point) => {
                of(results, figure, point).into_iter().flatten().collect()
            }
            Measure::Made(experiment, figure) => {
                evidence.outcomes(experiment).filter_map(figure).collect()
            }
            Measure::Computed(figure) => vec![figure()],
        }
    }

    pub(crate) fn judge(&self, here: f64) -> Verdict {
        self.bound.judge(self.paper, self.unit, here)
    }
}

/// A figure of each seed's run at a point.
fn of<P: super::Point>(results: &Results<P>, figure: Figure, point: P) -> Vec<Option<f64>> {
    results.runs(point).iter().map(figure).collect()
}

/// The least or greatest figure of some points, seed by seed; of none where a point lacks it.
fn extreme<P: super::Point>(
    results: &Results<P>,
    figure: Figure,
    points: &[P],
    choose: fn(f64, f64) -> f64,
) -> Vec<Option<f64>> {
    let columns: Vec<_> = points.iter().map(|&point| of(results, figure, point)).collect();
    let seeds = columns.iter().map(Vec::len).min().unwrap_or(0);
    let at = |seed: usize| {
        let figures: Option<Vec<f64>> = columns.iter().map(|column| column[seed]).collect();
        figures?.into_iter().reduce(choose)
    };
    (0..seeds).map(at).collect()
}

/// Ratios seed by seed, where there are both figures and the one that is divided by is not zero.
fn over(worse: &[Option<f64>], better: &[Option<f64>]) -> Vec<f64> {
    let ratio = |(w, b): (&Option<f64>, &Option<f64>)| Some((*w)? / (*b).filter(|&b| b > 0.0)?);
    worse.iter().zip(better).filter_map(ratio).collect()
}

/// A ratio near 1 says "equal"; otherwise its excess over 1 is compared.
fn judge_ratio(paper: f64, here: f64) -> Verdict {
    if (paper - 1.0).abs() < 0.05 {
        return if (here - 1.0).abs() <= 0.1 { Verdict::Agrees } else { Verdict::Differs };
    }
    let share = (here - 1.0) / (paper - 1.0);
    match share {
        s if (0.5..=2.0).contains(&s) => Verdict::Agrees,
        s if s > 0.0 && here > 1.02 => Verdict::DirectionOnly,
        _ => Verdict::Differs,
    }
}

#[cfg(test)]
mod tests;
