//! Results made of the outcome of a run.

use heddle_scenario::Scenario;
use heddle_sim::Outcome;
use heddle_study::results::{flow_lines, link_lines};
use heddle_study::summary::RunSummary;

/// Summary and tables of a run, or of what there is of it so far.
pub(crate) struct Made {
    pub(crate) summary: RunSummary,
    pub(crate) tables: Tables,
}

impl Made {
    /// Of a run that took `seconds` of processor time.
    pub(crate) fn of(scenario: &Scenario, seed: u64, outcome: &Outcome, seconds: f64) -> Made {
        let summary = RunSummary::new(scenario, seed, outcome, seconds);
        Made { summary, tables: Tables::of(scenario, seed, outcome) }
    }
}

/// The lines of a run's tables, as `heddle run` writes them.
#[derive(Clone)]
pub(crate) struct Tables {
    pub(crate) flows: String,
    /// `None` where the scenario takes no samples.
    pub(crate) links: Option<String>,
}

impl Tables {
    pub(crate) fn of(scenario: &Scenario, seed: u64, outcome: &Outcome) -> Tables {
        let samples = scenario.measure.sample_every.is_some();
        Tables {
            flows: flow_lines(scenario, seed, outcome),
            links: samples.then(|| link_lines(seed, outcome)),
        }
    }
}
