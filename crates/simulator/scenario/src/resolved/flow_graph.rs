//! Flows, and computations between them, that wait for each other.

use std::collections::BTreeMap;

use heddle_units::{Bytes, Time};
use serde::Serialize;

/// A flow that starts when others have arrived, or a computation, which sends nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GraphFlow {
    /// Its name in its file; empty in a collective operation.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Flows that it waits for, as indices of [`FlowGraph::flows`].
    pub after: Vec<u32>,
    /// Sending host.
    pub from: u32,
    /// Receiving host; of a computation, the sending one.
    pub to: u32,
    /// Payload; 0 of a computation.
    pub size: Bytes,
    /// Time from the end of the last one that it waits for, or from the start of the traffic, to its
    /// own start. A computation ends as it starts: this is how long it takes.
    pub delay: Time,
}

impl GraphFlow {
    /// True for a computation.
    pub fn is_computation(&self) -> bool {
        self.size == Bytes(0)
    }

    /// The step that it belongs to: its name up to the first slash.
    pub fn step(&self) -> &str {
        self.id.split('/').next().unwrap_or_default()
    }
}

/// Flows of which none waits for itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FlowGraph {
    /// The flows. Of those that start at one time, the first is first.
    pub flows: Vec<GraphFlow>,
}

impl FlowGraph {
    /// Number of flows, without computations.
    pub fn flow_count(&self) -> u64 {
        self.flows.iter().filter(|flow| !flow.is_computation()).count() as u64
    }

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

    /// For each, the number of flows on the longest chain before it.
    pub fn depths(&self) -> Vec<u32> {
        let mut depths = vec![0; self.flows.len()];
        for index in self.order() {
            let behind = |&before: &u32| {
                let before = before as usize;
                depths[before] + u32::from(!self.flows[before].is_computation())
            };
            depths[index as usize] =
                self.flows[index as usize].after.iter().map(behind).max().unwrap_or(0);
        }
        depths
    }

    /// Some that wait for each other, each for the next and the last for the first; `None` if no
    /// one waits for itself.
    pub fn cycle(&self) -> Option<Vec<u32>> {
        let mut is_free = vec![false; self.flows.len()];
        self.order().iter().for_each(|&flow| is_free[flow as usize] = true);
        // Each that is left waits for another that is left: this walk comes back to where it was.
        let mut walk = vec![is_free.iter().position(|&free| !free)? as u32];
        let mut places = BTreeMap::from([(walk[0], 0)]);
        loop {
            let waits_for = &self.flows[*walk.last()? as usize].after;
            let next = *waits_for.iter().find(|&&before| !is_free[before as usize])?;
            if let Some(&start) = places.get(&next) {
                return Some(walk.split_off(start));
            }
            places.insert(next, walk.len());
            walk.push(next);
        }
    }

    /// Starts and ends from the start of the traffic, if each flow takes the time that `time_of`
    /// has, and a computation its own. A computation's start is that of its delay.
    pub fn times(&self, time_of: impl Fn(u32) -> Time) -> Vec<(Time, Time)> {
        let mut times = vec![(Time::ZERO, Time::ZERO); self.flows.len()];
        for index in self.order() {
            let flow = &self.flows[index as usize];
            let before = flow.after.iter().map(|&before| times[before as usize].1).max();
            let before = before.unwrap_or_default();
            let start = before + flow.delay;
            times[index as usize] = match flow.is_computation() {
                true => (before, start),
                false => (start, start + time_of(index)),
            };
        }
        times
    }

    /// The time of the longest chain of flows that wait for each other, if each takes the time that
    /// `time_of` has: in an empty fabric nothing is faster.
    pub fn critical_path(&self, time_of: impl Fn(u32) -> Time) -> Time {
        self.times(time_of).into_iter().map(|(_, end)| end).max().unwrap_or_default()
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
        assert_eq!(graph.depths(), [0, 0, 1, 2, 0]);
        let times = [3, 7, 10, 100, 50].map(Time::micros);
        assert_eq!(graph.critical_path(|flow| times[flow as usize]), Time::micros(117));
    }

    #[test]
    fn flows_on_cycles_have_no_order() {
        let graph = graph(&[&[], &[0, 2], &[1], &[2]]);
        assert_eq!(graph.order(), [0]);
        assert_eq!(graph.cycle(), Some(vec![1, 2]));
        assert_eq!(FlowGraph { flows: graph.flows[..1].to_vec() }.cycle(), None);
    }

    /// A computation of 5 us before a flow of 7, and one of 2 behind it.
    #[test]
    fn a_computation_takes_its_delay_and_sends_nothing() {
        let mut graph = graph(&[&[], &[0], &[1]]);
        for (index, delay) in [(0, 5), (2, 2)] {
            let flow = &mut graph.flows[index];
            (flow.size, flow.to, flow.delay) = (Bytes(0), 0, Time::micros(delay));
        }
        assert_eq!(graph.flow_count(), 1);
        let times = graph.times(|_| Time::micros(7));
        let expected = [(0, 5), (5, 12), (12, 14)];
        assert_eq!(times, expected.map(|(start, end)| (Time::micros(start), Time::micros(end))));
    }
}
