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

/// A collective operation that has completed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CollectiveSummary {
    /// Its workload's name; empty where there is one workload.
    pub name: String,
    /// From the first start to the last end.
    pub seconds: f64,
    /// The same in an empty fabric: every step takes the ideal completion time of its slowest flow.
    pub ideal_seconds: f64,
}

/// The collective operations of which every flow was measured and has finished.
pub(super) fn collectives(scenario: &Scenario, outcome: &Outcome) -> Vec<CollectiveSummary> {
    let names = scenario.workload.names();
    let parts = (0..).zip(scenario.workload.parts()).zip(names);
    let summary = |((number, workload), name): ((u16, &Workload), &str)| {
        let Workload::Collective(ring) = workload else { return None };
        let flows: Vec<_> = outcome.flows.iter().filter(|f| f.workload == number).collect();
        if flows.len() as u64 != ring.flows() {
            return None;
        }
        let end = flows.iter().map(|f| f.start + f.fct).max()?;
        let start = flows.iter().map(|f| f.start).min()?;
        let slowest = flows.iter().map(|f| f.ideal_fct).max()?;
        Some(CollectiveSummary {
            name: name.to_owned(),
            seconds: (end - start).as_secs_f64(),
            ideal_seconds: (slowest * ring.steps()).as_secs_f64(),
        })
    };
    parts.filter_map(summary).collect()
}
