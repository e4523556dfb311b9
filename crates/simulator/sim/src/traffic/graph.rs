//! Flows that start when others have arrived.

use std::collections::BTreeMap;

use heddle_scenario::{Connections, FlowGraph, GraphFlow};
use heddle_units::Time;

use super::NewFlow;

/// The state of a flow graph.
pub(crate) struct DependentFlows {
    flows: Vec<GraphFlow>,
    /// For each flow, those that wait for it.
    dependents: Vec<Vec<u32>>,
    /// For each flow, how many of those that it waits for have not arrived.
    waiting: Vec<u32>,
    /// Flows to start, by time and in the order in which they became free.
    due: BTreeMap<(Time, u64), u32>,
    freed: u64,
}

impl DependentFlows {
    /// Flows of which those that wait for none are due from `start` on.
    pub(super) fn new(graph: FlowGraph, start: Time) -> DependentFlows {
        let dependents = graph.dependents();
        let waiting: Vec<u32> = graph.flows.iter().map(|flow| flow.after.len() as u32).collect();
        let flows = graph.flows;
        let mut dependent =
            DependentFlows { flows, dependents, waiting, due: BTreeMap::new(), freed: 0 };
        for flow in 0..dependent.flows.len() as u32 {
            if dependent.waiting[flow as usize] == 0 {
                dependent.free(start, flow);
            }
        }
        dependent
    }

    /// Makes a flow that waits for no other one due.
    fn free(&mut self, now: Time, flow: u32) {
        let at = now + self.flows[flow as usize].delay;
        self.due.insert((at, self.freed), flow);
        self.freed += 1;
    }

    pub(super) fn next_at(&self) -> Time {
        self.due.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at)
    }

    /// The flow that is due; `None` of a computation, which ends now.
    pub(super) fn arrive(&mut self) -> Option<NewFlow> {
        let ((now, _), index) = self.due.pop_first()?;
        if self.flows[index as usize].is_computation() {
            self.finished(now, index);
            return None;
        }
        let GraphFlow { from, to, size, .. } = self.flows[index as usize];
        let connections = Connections::Persistent(1);
        Some(NewFlow { from, to, size, connections, workload: 0, index })
    }

    /// A flow has arrived, or a computation has ended.
    pub(super) fn finished(&mut self, now: Time, flow: u32) {
        let Some(dependents) = self.dependents.get_mut(flow as usize) else { return };
        for dependent in std::mem::take(dependents) {
            let waiting = &mut self.waiting[dependent as usize];
            *waiting -= 1;
            if *waiting == 0 {
                self.free(now, dependent);
            }
        }
    }
}
