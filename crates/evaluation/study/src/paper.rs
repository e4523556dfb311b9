//! The evaluation of a paper by simulation: points of its figures, and experiments.

use std::convert::Infallible;

use heddle_claims::{Effort, Paper};
use heddle_fabric::FabricError;
use heddle_scenario::{Graph, Routing, ScenarioError};
use heddle_sim::SimError;

use crate::grid::GridError;
use crate::headline::{Headline, Variant};
use crate::metric::{self, Metric, Quantile};
use crate::point::{Point, Results};
use crate::summary::RunSummary;

/// The rule of the verdicts, and a promise.
pub const RULE: &str = "A ratio **agrees** if its excess over 1 is between half and twice the paper's; **direction only** has the sign right and the size not. A value of several seeds has its mean and 95 % interval; a ratio has the seeds' median and range, and so have values that differ by more than a factor of two; quantiles are of the samples of all seeds together (**pooled**). The whole interval or range is judged: **undecided** if its values have different verdicts. A value is **overloaded, not judged** if a run that decides it is in no steady state: its slowdowns grow from the first half of the measured flows to the second, a link carries 99 % of its rate or more, or flows had not finished at the time limit. A ratio of queues is **at the buffer, not judged** if one of them is above 95 % of the longest queue of runs that drop packets. The book's chapter on validation lists the choices that were made after results had been seen.";

/// A paper whose claims are judged by simulations.
pub trait SimulatedPaper: Paper<Measure = Measure<Self>, Error = EvaluationError> {
    /// One point of its figures.
    type Point: Point;
    /// An experiment that is no point of a figure.
    type Experiment: Experiment;

    /// The value that the headlines compare: less of it is better.
    const HEADLINE_METRIC: Metric = metric::mean_all;
    /// Ratios that show the effect of choices that the paper leaves open.
    const HEADLINES: &'static [Headline<Self::Point>];
    /// Choices that the paper leaves open: the scenario as it is, then one change at a time.
    const VARIANTS: &'static [Variant];

    /// The points of the curves.
    fn curves(effort: Effort) -> Vec<Self::Point>;

    /// A point on the paper's whole fabric, which reports draw.
    fn whole_fabric() -> Self::Point;
}

/// A measurement for a claim that is no point of a figure.
pub trait Experiment: Copy + PartialEq + 'static {
    /// Its result.
    type Outcome;

    /// Its seeds.
    fn seeds(self, effort: Effort) -> &'static [u64];

    /// Runs it once, with a profile's changes as dotted keys and values, of which those count that
    /// mean anything to it.
    ///
    /// # Errors
    /// None that a caller can cause.
    fn run(self, seed: u64, changes: &[(&str, &str)]) -> Result<Self::Outcome, EvaluationError>;
}

/// No experiment at all.
impl Experiment for Infallible {
    type Outcome = Infallible;

    fn seeds(self, _: Effort) -> &'static [u64] {
        match self {}
    }

    fn run(self, _: u64, _: &[(&str, &str)]) -> Result<Infallible, EvaluationError> {
        match self {}
    }
}

/// An evaluation that could not be finished.
#[derive(Debug, thiserror::Error)]
pub enum EvaluationError {
    /// A built-in scenario does not load.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A fabric cannot be built.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// A simulation of an experiment fails.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// The points' simulations fail or are interrupted.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// The program or the figures that an experiment is compared with.
    #[error("{0}")]
    Reference(String),
    /// Stopped between two experiments.
    #[error("interrupted; finished runs are kept")]
    Interrupted,
}

/// Outcomes of experiments, one for each seed.
pub type Outcomes<E> = Vec<(E, <E as Experiment>::Outcome)>;

/// A measurement that a claim is judged by.
pub enum Measure<P: SimulatedPaper> {
    /// A value at one point over the same value at another: how many times worse the first is.
    Ratio(Metric, P::Point, P::Point),
    /// A quantile at one point over the same at another, of the samples of all seeds together.
    Quantiles(Quantile, P::Point, P::Point),
    /// A value of the runs of two points, seed by seed.
    Pair(fn(&RunSummary, &RunSummary) -> Option<f64>, P::Point, P::Point),
    /// The least value of the rivals of a point over the point's own: more than 1 if it is the
    /// best.
    Best(Metric, P::Point, fn(P::Point) -> Vec<P::Point>),
    /// A point's value over the greatest of its rivals': more than 1 if it is the worst.
    Worst(Metric, P::Point, fn(P::Point) -> Vec<P::Point>),
    /// A value at one point.
    At(Metric, P::Point),
    /// A value of an experiment.
    Experiment(P::Experiment, fn(&<P::Experiment as Experiment>::Outcome) -> Option<f64>),
    /// Structure of a fabric or arithmetic.
    Computed(fn() -> f64),
}

/// Results that claims are judged by.
pub struct Evidence<P: SimulatedPaper> {
    /// Points of the figures.
    pub results: Results<P::Point>,
    /// Outcomes of the experiments.
    pub experiments: Outcomes<P::Experiment>,
    /// The paper's whole fabric, which reports draw.
    pub graph: Graph,
}

impl<P: SimulatedPaper> Default for Evidence<P> {
    fn default() -> Evidence<P> {
        let graph = Graph { nodes: Vec::new(), links: Vec::new(), routing: Routing::default() };
        let (results, experiments) = Default::default();
        Evidence { results, experiments, graph }
    }
}

impl<P: SimulatedPaper> Evidence<P> {
    /// The outcomes of one experiment.
    pub fn outcomes(
        &self,
        of: P::Experiment,
    ) -> impl Iterator<Item = &<P::Experiment as Experiment>::Outcome> {
        self.experiments.iter().filter(move |(run, _)| *run == of).map(|(_, outcome)| outcome)
    }
}
