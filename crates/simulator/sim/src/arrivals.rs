//! The flows of a workload, for programs that send them over other networks than the simulated one.

use std::collections::VecDeque;

use heddle_scenario::{Connections, Scenario, Workload};
use heddle_units::{Bytes, Time};

use crate::traffic::{NewFlow, Traffic, UNBOUNDED_BYTES};

/// One flow of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Start, from the start of the run.
    pub at: Time,
    /// Sending host, as an index among the hosts.
    pub from: u32,
    /// Receiving host.
    pub to: u32,
    /// Payload; `None` of a flow that never ends.
    pub size: Option<Bytes>,
    /// Connections that carry flows between these hosts.
    pub connections: Connections,
}

/// The flows that [`simulate`](crate::simulate) starts with the same scenario and seed, in order of
/// time. Poisson arrivals never end.
pub struct Arrivals {
    traffic: Traffic,
    due: VecDeque<Arrival>,
}

impl Arrivals {
    /// The arrivals of a scenario with one seed.
    pub fn new(scenario: &Scenario, seed: u64) -> Arrivals {
        let hosts = scenario.fabric.graph.nodes.iter().take_while(|node| node.tier == 0).count();
        let start = scenario.measure.probe_warm_up;
        Arrivals::of(&scenario.workload, hosts as u32, start, seed)
    }

    fn of(workload: &Workload, hosts: u32, start: Time, seed: u64) -> Arrivals {
        Arrivals { traffic: Traffic::new(workload, hosts, start, seed), due: VecDeque::new() }
    }
}

impl Iterator for Arrivals {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        while self.due.is_empty() {
            let at = self.traffic.next_at();
            if at == Time::NEVER {
                return None;
            }
            let mut flows = Vec::new();
            self.traffic.arrive(&mut flows);
            self.due.extend(flows.into_iter().map(|flow| arrival(at, flow)));
        }
        self.due.pop_front()
    }
}

fn arrival(at: Time, flow: NewFlow) -> Arrival {
    let NewFlow { from, to, size, connections, .. } = flow;
    Arrival { at, from, to, size: (size.0 < UNBOUNDED_BYTES).then_some(size), connections }
}
