//! The experiments and their measurements.

use heddle_claims::Effort;
use heddle_harness::Error;
use serde::Serialize;

use crate::{capacity, churn, failure, joins};

/// An experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Experiment {
    /// R1.
    Joins,
    /// R2.
    Capacity,
    /// R3.
    Failure,
    /// R4.
    Churn,
}

impl Experiment {
    /// All, in the paper's order.
    pub(crate) const ALL: [Experiment; 4] =
        [Experiment::Joins, Experiment::Capacity, Experiment::Failure, Experiment::Churn];

    /// The id of its claims.
    pub(crate) const fn id(self) -> &'static str {
        match self {
            Experiment::Joins => "R1",
            Experiment::Capacity => "R2",
            Experiment::Failure => "R3",
            Experiment::Churn => "R4",
        }
    }

    /// Its subject.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Experiment::Joins => "joins that reach their connection's backend",
            Experiment::Capacity => "entries that full tables refuse",
            Experiment::Failure => "connections broken by the death of a balancer",
            Experiment::Churn => "ten minutes of balancers that leave and come back",
        }
    }
}

/// Measurements of the experiments with one seed; those that were not run are empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Measurements {
    /// The seed.
    pub(crate) seed: u64,
    /// R1.
    pub(crate) joins: Vec<joins::Point>,
    /// R2.
    #[serde(rename = "room")]
    pub(crate) capacity: Vec<capacity::Row>,
    /// R3.
    pub(crate) failure: Vec<failure::Point>,
    /// R4.
    pub(crate) churn: Vec<churn::Curve>,
}

impl Measurements {
    /// Runs one experiment.
    ///
    /// # Errors
    /// Those of the kernel: root is needed.
    pub(crate) fn run(&mut self, experiment: Experiment, effort: Effort) -> Result<(), Error> {
        match experiment {
            Experiment::Joins => self.joins = joins::run(self.seed)?,
            Experiment::Capacity => self.capacity = capacity::run(self.seed)?,
            Experiment::Failure => self.failure = failure::run(connections(effort), self.seed)?,
            Experiment::Churn => self.churn = churn::run(connections(effort), self.seed)?,
        }
        Ok(())
    }
}

/// Connections of two subflows: the paper's, or a tenth of them.
const fn connections(effort: Effort) -> u32 {
    match effort {
        Effort::Demo | Effort::Quick | Effort::Medium => 10_000,
        Effort::Full => 100_000,
    }
}
