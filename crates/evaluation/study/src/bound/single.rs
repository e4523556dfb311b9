//! Times of single flows that no scheme goes below, also one that sends a flow's packets on several
//! paths at once.
//!
//! The ideal completion time is that of one path, so that packets on several can be faster.
//! Whatever the paths are, all bytes of a flow cross the links of both of its hosts, one after
//! another, and each frame crosses the whole fabric. Failures are left out: they make no path
//! better.

use heddle_fabric::{Fabric, PortInfo, Routes};
use heddle_scenario::Scenario;
use heddle_sim::{BestPaths, FlowRecord};
use heddle_units::{Bytes, Rate, Time};

/// The fabric of a scenario with all of its links up.
pub(super) struct SingleFlows<'a> {
    scenario: &'a Scenario,
    fabric: Fabric,
    routes: Routes,
    paths: BestPaths,
}

impl<'a> SingleFlows<'a> {
    /// `None` if the graph is no fabric.
    pub(super) fn new(scenario: &'a Scenario) -> Option<SingleFlows<'a>> {
        let fabric = Fabric::new(&scenario.fabric.graph).ok()?;
        let routes = fabric.routes(|_| true).ok()?;
        Some(SingleFlows { scenario, fabric, routes, paths: BestPaths::of(scenario) })
    }

    /// The least completion time of a flow that has the fabric to itself.
    ///
    /// The last frame leaves the sender, or the first one reaches the receiver's link, when all
    /// others have passed that host's link or still have to. The last one may be short, so that it
    /// may have overtaken the full one before it: the larger of both bounds counts. Over several
    /// interfaces as many frames pass at once.
    pub(super) fn least(&mut self, flow: &FlowRecord) -> Time {
        let mss = u64::from(self.scenario.transport.tcp().mss);
        let full = flow.size.0.div_ceil(mss).max(1) - 1;
        let last = self.of_one_frame(flow, Bytes(flow.size.0 - full * mss));
        let Some(others) = full.checked_sub(1) else { return last };
        let time = self.full_frame_at_slower_host(flow);
        let transport = self.scenario.transport_of(flow.workload);
        let at_once = u64::from(self.paths.most_interfaces(&self.fabric, transport));
        let before_a_full_one = time * (others / at_once) + self.of_one_frame(flow, Bytes(mss));
        before_a_full_one.max(time * (full / at_once) + last)
    }

    fn of_one_frame(&mut self, flow: &FlowRecord, size: Bytes) -> Time {
        let connections = self.scenario.workload.connections(flow.workload);
        let (fabric, transport) = (&self.fabric, self.scenario.transport_of(flow.workload));
        let ends = (flow.from, flow.to);
        self.paths.ideal_fct(fabric, &self.routes, transport, connections, ends, size)
    }

    fn full_frame_at_slower_host(&self, flow: &FlowRecord) -> Time {
        let tcp = self.scenario.transport.tcp();
        let frame = heddle_sim::wire_bytes(&tcp, Bytes(tcp.mss.into()));
        let sending = self.fabric.ports_of(flow.from).iter();
        let receiving = self.fabric.ports_of(flow.to).iter();
        let receiving = receiving.map(|port| &self.fabric.ports[port.peer as usize]);
        self.fastest(sending).min(self.fastest(receiving)).time_for(frame)
    }

    fn fastest<'b>(&self, ports: impl Iterator<Item = &'b PortInfo>) -> Rate {
        ports.map(|port| self.fabric.rate_of(port)).max().unwrap_or(Rate(1))
    }
}
