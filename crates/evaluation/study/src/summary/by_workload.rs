//! Summaries of the flows of each workload.

use std::collections::BTreeMap;

use heddle_scenario::{FlowGraph, Scenario, Workload};
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

/// A step of a collective operation or flow graph: what has one name up to a slash, or else one
/// depth among the flows that wait for each other. Times are from the start of the whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepSummary {
    /// Its workload's name; empty where there is one workload.
    pub workload: String,
    /// Its name.
    pub name: String,
    /// Its first start.
    pub start_seconds: f64,
    /// Its last end.
    pub end_seconds: f64,
}

/// Steps of a workload that are listed, in the order of its flows.
const MOST_STEPS: usize = 500;

/// The collective operations and flow graphs of which every flow was measured and has finished, and
/// their steps.
pub(super) fn collectives(
    scenario: &Scenario,
    outcome: &Outcome,
) -> (Vec<CollectiveSummary>, Vec<StepSummary>) {
    let names = scenario.workload.names();
    let parts = (0..).zip(scenario.workload.parts()).zip(names);
    let (mut collectives, mut steps) = (Vec::new(), Vec::new());
    for ((number, workload), name) in parts {
        let graph = match workload {
            Workload::Collective(collective) => &collective.graph(),
            Workload::FlowGraph(graph) => graph,
            _ => continue,
        };
        let flows: Vec<_> = outcome.flows.iter().filter(|f| f.workload == number).collect();
        if flows.len() as u64 != graph.flow_count() {
            continue;
        }
        let mut fct = vec![(Time::ZERO, Time::ZERO); graph.flows.len()];
        flows.iter().for_each(|flow| fct[flow.index as usize] = (flow.fct, flow.ideal_fct));
        let times = graph.times(|flow| fct[flow as usize].0);
        let end = times.iter().map(|(_, end)| *end).max().unwrap_or_default();
        collectives.push(CollectiveSummary {
            name: name.to_owned(),
            seconds: end.as_secs_f64(),
            ideal_seconds: graph.critical_path(|flow| fct[flow as usize].1).as_secs_f64(),
        });
        steps.extend(steps_of(graph, &times, name));
    }
    (collectives, steps)
}

/// The first steps of a graph whose flows have these starts and ends.
fn steps_of(graph: &FlowGraph, times: &[(Time, Time)], workload: &str) -> Vec<StepSummary> {
    let depths = graph.depths();
    let mut numbers: BTreeMap<(&str, u32), usize> = BTreeMap::new();
    let mut steps: Vec<((&str, u32), Time, Time)> = Vec::new();
    for ((flow, depth), &(start, end)) in graph.flows.iter().zip(depths).zip(times) {
        let key = if flow.id.is_empty() { ("", depth) } else { (flow.step(), 0) };
        let number = *numbers.entry(key).or_insert(steps.len());
        match steps.get_mut(number) {
            Some((_, first, last)) => (*first, *last) = ((*first).min(start), (*last).max(end)),
            None => steps.push((key, start, end)),
        }
    }
    let summary = |((name, depth), start, end): ((&str, u32), Time, Time)| StepSummary {
        workload: workload.to_owned(),
        name: if name.is_empty() { format!("step {}", depth + 1) } else { name.to_owned() },
        start_seconds: start.as_secs_f64(),
        end_seconds: end.as_secs_f64(),
    };
    steps.into_iter().take(MOST_STEPS).map(summary).collect()
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

#[cfg(test)]
mod tests {
    use heddle_scenario::GraphFlow;
    use heddle_units::Bytes;

    use super::*;

    fn flow(id: &str, after: &[u32]) -> GraphFlow {
        GraphFlow {
            id: id.to_owned(),
            after: after.to_vec(),
            from: 0,
            to: 1,
            size: Bytes(1),
            delay: Time::ZERO,
        }
    }

    /// Flows of 3, 2 and 1 s: those of one name are a step, and without names those of one depth.
    #[test]
    fn steps_have_the_first_start_and_the_last_end_of_their_flows() {
        let steps = |ids: [&str; 3]| {
            let flows = vec![flow(ids[0], &[]), flow(ids[1], &[]), flow(ids[2], &[1])];
            let graph = FlowGraph { flows };
            let times = graph.times(|flow| Time::secs(3 - u64::from(flow)));
            let steps = steps_of(&graph, &times, "job");
            let of = |s: StepSummary| (s.name, s.start_seconds, s.end_seconds);
            steps.into_iter().map(of).collect::<Vec<_>>()
        };
        let step = |name: &str, start: f64, end: f64| (name.to_owned(), start, end);
        assert_eq!(steps(["a/0", "b/0", "b/1"]), [step("a", 0.0, 3.0), step("b", 0.0, 3.0)]);
        assert_eq!(steps(["", "", ""]), [step("step 1", 0.0, 3.0), step("step 2", 2.0, 3.0)]);
    }
}
