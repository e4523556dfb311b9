//! Summaries of the flows of each workload.

use heddle_scenario::{Scenario, Workload};
use heddle_sim::Outcome;
use serde::{Deserialize, Serialize};

use super::{ClassSummary, LongSummary};

/// The measured flows of one of several workloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadSummary {
    /// Its name.
    pub name: String,
    /// Flows that finished, of all sizes.
    pub fct: Option<ClassSummary>,
    /// Flows that did not finish.
    pub unfinished: u64,
    /// Flows without end, where there are any.
    pub long_flows: Option<LongSummary>,
}

/// A summary for each workload that has a name.
pub(super) fn workloads(scenario: &Scenario, outcome: &Outcome) -> Vec<WorkloadSummary> {
    let Workload::Several(parts) = &scenario.workload else { return Vec::new() };
    let summary = |(number, name): (u16, &str)| {
        let long: Vec<_> = outcome.long_flows.iter().filter(|f| f.workload == number).collect();
        WorkloadSummary {
            name: name.to_owned(),
            fct: ClassSummary::new(outcome.flows.iter().filter(|f| f.workload == number)),
            unfinished: outcome.unfinished.iter().filter(|f| f.workload == number).count() as u64,
            long_flows: LongSummary::new(&long),
        }
    };
    (0..).zip(parts.iter().map(|part| part.name.as_str())).map(summary).collect()
}
