//! RomanRoads' evaluation (Zeng, Buddhikot and Banerjee, IFIP Networking 2021, section V-A) on the real programs.
//!
//! Four experiments: whether joins find their backend ([`joins`], figure 6a), how many entries a full table refuses ([`room`],
//! figure 6b), what the death of a balancer breaks ([`failure`], figure 6c), and what comes and goes in ten minutes
//! ([`churn`], figure 6d). Their results are data; [`findings`] puts the paper's figures beside them, [`report`] draws them.
//! One seed gives one result. The rates of section V-B are the bench's (crates/balancer/maps).

pub mod churn;
mod claims;
pub mod failure;
pub mod joins;
mod report;
pub mod room;
mod session;

pub use claims::findings;
pub use report::report;

use heddle_study::evaluation::Effort;
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
    /// Makes one experiment.
    ///
    /// # Errors
    /// What the kernel says: root is needed.
    pub fn make(&mut self, experiment: Experiment, effort: Effort, seed: u64) -> Result<(), Error> {
        match experiment {
            Experiment::Joins => self.joins = joins::run(seed)?,
            Experiment::Room => self.room = room::run(seed)?,
            Experiment::Failure => self.failure = failure::run(connections(effort), seed)?,
            Experiment::Churn => self.churn = churn::run(connections(effort), seed)?,
        }
        Ok(())
    }
}
