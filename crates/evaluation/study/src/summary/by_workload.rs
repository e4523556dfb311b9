//! Summaries of the flows of each workload.

use heddle_scenario::{Scenario, Workload};
use heddle_sim::Outcome;
use heddle_units::Time;
use serde::{Deserialize, Serialize};

use super::{ClassSummary, LongSummary, Spread};

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

/// A collective operation or a flow graph that has completed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CollectiveSummary {
    /// Its workload's name; empty where there is one workload.
    pub name: String,
    /// From the first start to the last end.
    pub seconds: f64,
    /// The same in an empty fabric: the ideal completion times along the longest chain of flows
    /// that wait for each other.
    pub ideal_seconds: f64,
}

/// The collective operations and flow graphs of which every flow was measured and has finished.
pub(super) fn collectives(scenario: &Scenario, outcome: &Outcome) -> Vec<CollectiveSummary> {
    let names = scenario.workload.names();
    let parts = (0..).zip(scenario.workload.parts()).zip(names);
    let summary = |((number, workload), name): ((u16, &Workload), &str)| {
        let graph = match workload {
            Workload::Collective(collective) => &collective.graph(),
            Workload::FlowGraph(graph) => graph,
            _ => return None,
        };
        let flows: Vec<_> = outcome.flows.iter().filter(|f| f.workload == number).collect();
        if flows.len() != graph.flows.len() {
            return None;
        }
        let end = flows.iter().map(|f| f.start + f.fct).max()?;
        let first_delay = graph.flows.iter().filter(|f| f.after.is_empty()).map(|f| f.delay).min();
        let start = flows.iter().map(|f| f.start).min()? - first_delay.unwrap_or_default();
        let mut ideal = vec![Time::ZERO; graph.flows.len()];
        flows.iter().for_each(|flow| ideal[flow.index as usize] = flow.ideal_fct);
        Some(CollectiveSummary {
            name: name.to_owned(),
            seconds: (end - start).as_secs_f64(),
            ideal_seconds: graph.critical_path(|flow| ideal[flow as usize]).as_secs_f64(),
        })
    };
    parts.filter_map(summary).collect()
}

/// The requests of a workload in a closed loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestSummary {
    /// Its workload's name; empty where there is one workload.
    pub name: String,
    /// Requests that started in the measuring window and were answered.
    pub requests: u64,
    /// The same per second of the window.
    pub per_second: f64,
    /// From the start of a request until its client has the last response.
    pub seconds: Spread,
}

/// A summary for each workload of requests that were answered.
pub(super) fn requests(scenario: &Scenario, outcome: &Outcome) -> Vec<RequestSummary> {
    let window = outcome.totals.window.as_secs_f64();
    let named = (0..).zip(scenario.workload.names());
    let summary = |(number, name): (u16, &str)| {
        let times = outcome.requests.iter().filter(|request| request.workload == number);
        let times: Vec<f64> = times.map(|request| request.time.as_secs_f64()).collect();
        Some(RequestSummary {
            name: name.to_owned(),
            requests: times.len() as u64,
            per_second: if window > 0.0 { times.len() as f64 / window } else { 0.0 },
            seconds: Spread::new(times.into_iter())?,
        })
    };
    named.filter_map(summary).collect()
}
