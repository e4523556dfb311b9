//! RomanRoads' evaluation (Zeng, Buddhikot and Banerjee, IFIP Networking 2021, section V-A) on the real programs.
//!
//! Four experiments: whether joins find their backend ([`joins`], figure 6a), how many entries a full table refuses ([`room`],
//! figure 6b), what the death of a balancer breaks ([`failure`], figure 6c), and what comes and goes in ten minutes
//! ([`churn`], figure 6d). [`RomanRoads`] is their [`Paper`].
//! One seed gives one result. The rates of section V-B are the bench's (crates/balancer/maps).

pub mod churn;
mod claims;
pub mod failure;
mod figures;
pub mod joins;
pub mod room;
mod session;

pub use claims::Measure;

use heddle_claims::{Claim, Effort, Monitor, Paper, Request};
use heddle_report::{Report, Section};
use serde::Serialize;

use crate::Error;

/// What spreads the connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum System {
    /// A balancer that knows no MPTCP: the paper's TCPLB (mode off).
    Tcp,
    /// Learning where each balancer is alone with what it learns: the paper's P3.
    Alone,
    /// As published: balancers assign keys, a token's owner keeps its joins, nobody else knows (mode assign, version 0).
    Published,
    /// Heddle: learning, answers, owners of flows, refresh (mode learn, version 1).
    Learn,
}

impl System {
    /// Its name in tables and plots.
    pub const fn title(self) -> &'static str {
        match self {
            System::Tcp => "MPTCP-unaware (TCPLB)",
            System::Alone => "Learning alone (P3)",
            System::Published => "RomanRoads as published",
            System::Learn => "Heddle, learning",
        }
    }
}

/// Connections of two subflows: the paper's, or a tenth of them.
const fn connections(effort: Effort) -> u32 {
    match effort {
        Effort::Demo | Effort::Quick => 10_000,
        Effort::Full => 100_000,
    }
}

/// An experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Experiment {
    /// R1.
    Joins,
    /// R2.
    Room,
    /// R3.
    Failure,
    /// R4.
    Churn,
}

impl Experiment {
    /// All, in the paper's order.
    pub const ALL: [Experiment; 4] =
        [Experiment::Joins, Experiment::Room, Experiment::Failure, Experiment::Churn];

    /// The claims' name.
    pub const fn id(self) -> &'static str {
        match self {
            Experiment::Joins => "R1",
            Experiment::Room => "R2",
            Experiment::Failure => "R3",
            Experiment::Churn => "R4",
        }
    }

    /// What it looks at.
    pub const fn title(self) -> &'static str {
        match self {
            Experiment::Joins => "whether joins find their backend",
            Experiment::Room => "entries that full tables refuse",
            Experiment::Failure => "what the death of a balancer breaks",
            Experiment::Churn => "ten minutes of balancers that leave and come back",
        }
    }
}

/// What the experiments gave; those that were not made are empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Evaluation {
    /// R1.
    pub joins: Vec<joins::Point>,
    /// R2.
    pub room: Vec<room::Row>,
    /// R3.
    pub failure: Vec<failure::Point>,
    /// R4.
    pub churn: Vec<churn::Curve>,
}

impl Evaluation {
    /// Runs one experiment.
    ///
    /// # Errors
    /// Those of the kernel: root is needed.
    fn run(&mut self, experiment: Experiment, effort: Effort) -> Result<(), Error> {
        match experiment {
            Experiment::Joins => self.joins = joins::run(SEED)?,
            Experiment::Room => self.room = room::run(SEED)?,
            Experiment::Failure => self.failure = failure::run(connections(effort), SEED)?,
            Experiment::Churn => self.churn = churn::run(connections(effort), SEED)?,
        }
        Ok(())
    }
}

/// An evaluation that could not be finished.
#[derive(Debug, thiserror::Error)]
pub enum EvaluationError {
    /// A balancer cannot be loaded or run.
    #[error("the balancer's eBPF programs cannot be run (are you root?)")]
    Balancer(#[from] Error),
    /// Stopped between two experiments.
    #[error("interrupted")]
    Interrupted,
}

/// The seed of every experiment.
const SEED: u64 = 1;

/// RomanRoads' paper.
#[derive(Clone, Copy, Debug)]
pub struct RomanRoads;

impl Paper for RomanRoads {
    type Measure = Measure;
    type Error = EvaluationError;

    const SYSTEM: &'static str = "RomanRoads";
    const CLAIMS: &'static [Claim<Measure>] = claims::CLAIMS;
    const RULE: &'static str = "A figure **agrees** within a third of the paper's; a bound if it is kept. Figures 6c and 6d are given as orders in the text: 2(n-1)/n² of the second subflows, 1/n of the connections.";

    fn gather(
        request: &Request<'_, RomanRoads>,
        monitor: &dyn Monitor,
    ) -> Result<Evaluation, EvaluationError> {
        let needed =
            |one: &Experiment| request.claims.iter().any(|c| c.measure.experiment() == *one);
        let mut evaluation = Evaluation::default();
        for experiment in Experiment::ALL.into_iter().filter(needed) {
            if monitor.stopped() {
                return Err(EvaluationError::Interrupted);
            }
            monitor.start(&format!("{}: {}", experiment.id(), experiment.title()));
            evaluation.run(experiment, request.effort)?;
        }
        Ok(evaluation)
    }

    fn measured(evaluation: &Evaluation) -> Option<String> {
        serde_json::to_string_pretty(evaluation).ok()
    }

    fn head(title: &str, _: &Evaluation) -> Report {
        Report::new(title)
            .subtitle(
                "Heddle's own eBPF programs, run by the kernel on frames, with a virtual clock",
            )
            .fact("Heddle", env!("CARGO_PKG_VERSION"))
            .fact("Seed", SEED.to_string())
    }

    fn figures(evaluation: &Evaluation) -> Vec<Section> {
        figures::sections(evaluation)
    }
}
