//! Flows that wait for each other.

use heddle_units::{Bytes, Time};
use serde::Serialize;

/// A flow that starts when others have arrived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GraphFlow {
    /// Its name in its file; empty in a collective operation.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Flows that it waits for, as indices of [`FlowGraph::flows`].
    pub after: Vec<u32>,
    /// Sending host.
    pub from: u32,
    /// Receiving host.
    pub to: u32,
    /// Payload.
    pub size: Bytes,
    /// Time from the arrival of the last flow that it waits for, or from the start of the traffic,
    /// to its own start.
    pub delay: Time,
}

/// Flows of which none waits for itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FlowGraph {
    /// The flows. Of those that start at one time, the first is first.
    pub flows: Vec<GraphFlow>,
}

impl FlowGraph {
    /// For each flow, those that wait for it.
    pub fn dependents(&self) -> Vec<Vec<u32>> {
        let mut dependents = vec![Vec::new(); self.flows.len()];
        for (index, flow) in (0..).zip(&self.flows) {
            for &before in &flow.after {
                dependents[before as usize].push(index);
            }
        }
        dependents
    }

    /// The flows in an order in which each comes behind those that it waits for; those on cycles,
    /// and behind them, are missing.
    pub fn order(&self) -> Vec<u32> {
        let dependents = self.dependents();
        let mut waiting: Vec<usize> = self.flows.iter().map(|flow| flow.after.len()).collect();
        let free = (0..).zip(&waiting).filter(|(_, count)| **count == 0);
        let mut order: Vec<u32> = free.map(|(index, _)| index).collect();
        let mut next = 0;
        while let Some(&flow) = order.get(next) {
            next += 1;
            for &dependent in &dependents[flow as usize] {
                waiting[dependent as usize] -= 1;
                if waiting[dependent as usize] == 0 {
                    order.push(dependent);
                }
            }
        }
        order
    }

    /// The time of the longest chain of flows that wait for each other, if each takes the time that
    /// `time_of` has: in an empty fabric nothing is faster.
    pub fn critical_path(&self, time_of: impl Fn(u32) -> Time) -> Time {
        let mut ends = vec![Time::ZERO; self.flows.len()];
        for index in self.order() {
            let flow = &self.flows[index as usize];
            let before = flow.after.iter().map(|&before| ends[before as usize]).max();
            ends[index as usize] = before.unwrap_or_default() + flow.delay + time_of(index);
        }
        ends.into_iter().max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(after: &[&[u32]]) -> FlowGraph {
        let flow = |after: &&[u32]| GraphFlow {
            id: String::new(),
            after: after.to_vec(),
            from: 0,
            to: 1,
            size: Bytes(1),
            delay: Time::ZERO,
        };
        FlowGraph { flows: after.iter().map(flow).collect() }
    }

    /// 0 and 1 before 2, which is before 3; 4 alone.
    #[test]
    fn the_longest_chain_counts() {
        let graph = graph(&[&[], &[], &[0, 1], &[2], &[]]);
        assert_eq!(graph.order(), [0, 1, 4, 2, 3]);
        assert_eq!(graph.dependents(), [vec![2], vec![2], vec![3], vec![], vec![]]);
        let times = [3, 7, 10, 100, 50].map(Time::micros);
        assert_eq!(graph.critical_path(|flow| times[flow as usize]), Time::micros(117));
    }

    #[test]
    fn flows_on_cycles_have_no_order() {
        assert_eq!(graph(&[&[], &[0, 2], &[1], &[2]]).order(), [0]);
    }
}
