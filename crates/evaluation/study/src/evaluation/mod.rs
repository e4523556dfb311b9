//! What the evaluations of papers have in common: points of figures, claims, and how both are judged.
//!
//! A paper is a type that implements [`Paper`]: its points, its claims and what its report shows are data of its own module; how
//! they are simulated, judged and written down is the same for all.

mod claim;
mod point;
pub mod sensitivity;
mod two_pod;

use std::convert::Infallible;

use heddle_fabric::FabricError;
use heddle_report::Section;
use heddle_scenario::{Graph, ScenarioError};
use heddle_sim::SimError;

pub use claim::{Bound, Claim, Finding, Measure, Verdict};
pub(crate) use point::no_files;
pub use point::{Effort, Point, Results, cells, in_order};
pub use sensitivity::{Headline, Shift, Variant};
pub use two_pod::{Shape, Sizes};

use crate::figure::{self, Figure};

/// A paper's evaluation.
pub trait Paper: Sized + 'static {
    /// One point of its figures.
    type Point: Point;
    /// What its claims need besides points.
    type Experiment: Experiment;

    /// The system's name.
    const SYSTEM: &'static str;
    /// Every claim, in the paper's order.
    const CLAIMS: &'static [Claim<Self>];
    /// What the headlines compare: less of it is better.
    const HEADLINE_FIGURE: Figure = figure::mean_all;
    /// The ratios by which a change of what the paper leaves open is told.
    const HEADLINES: &'static [Headline<Self::Point>];
    /// What the paper leaves open: the scenario as it is, then one change at a time.
    const VARIANTS: &'static [Variant];

    /// The points of the curves.
    fn curves(effort: Effort) -> Vec<Self::Point>;

    /// A point on the paper's whole fabric, which reports draw.
    fn whole_fabric() -> Self::Point;

    /// What the experiments gave, for scripts; `None` if the report has all of it.
    fn measured(evidence: &Evidence<Self>) -> Option<serde_json::Value> {
        let _ = evidence;
        None
    }

    /// What the report shows of the evidence, behind the claims.
    fn figures(evidence: &Evidence<Self>, graph: &Graph) -> Vec<Section>;
}

/// Something that is simulated for a claim and is no point of a figure.
pub trait Experiment: Copy + PartialEq + 'static {
    /// What it gives.
    type Outcome;

    /// The seeds that it is made with.
    fn seeds(self, effort: Effort) -> &'static [u64];

    /// Makes it once.
    ///
    /// # Errors
    /// None that a caller can cause.
    fn run(self, seed: u64) -> Result<Self::Outcome, ExperimentError>;
}

/// No experiment at all.
impl Experiment for Infallible {
    type Outcome = Infallible;

    fn seeds(self, _: Effort) -> &'static [u64] {
        match self {}
    }

    fn run(self, _: u64) -> Result<Infallible, ExperimentError> {
        match self {}
    }
}

/// Why an experiment could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// Its scenario.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// Its fabric.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// Its run.
    #[error(transparent)]
    Sim(#[from] SimError),
}

/// Each experiment that was made, once a seed.
pub type Made<E> = Vec<(E, <E as Experiment>::Outcome)>;

/// What claims are judged by.
pub struct Evidence<P: Paper> {
    /// Points of the figures.
    pub results: Results<P::Point>,
    /// What is no point of a figure.
    pub experiments: Made<P::Experiment>,
}

impl<P: Paper> Default for Evidence<P> {
    fn default() -> Evidence<P> {
        Evidence { results: Results::default(), experiments: Vec::new() }
    }
}

impl<P: Paper> Evidence<P> {
    /// The outcomes of one experiment.
    pub fn outcomes(
        &self,
        of: P::Experiment,
    ) -> impl Iterator<Item = &<P::Experiment as Experiment>::Outcome> {
        self.experiments.iter().filter(move |(made, _)| *made == of).map(|(_, outcome)| outcome)
    }
}
