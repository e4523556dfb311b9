//! Results of a run: of a finished one, and of one that goes on.

use std::mem;

use heddle_fabric::{Fabric, PortInfo};
use heddle_policy::Scheme;
use heddle_units::{Bytes, Rate};

use super::Simulation;
use crate::hosts::{Flow, ReceivedBytes};
use crate::network::PortStats;
use crate::outcome::{
    FlowRecord, LongFlow, Outcome, PortCounters, Samples, Totals, UnfinishedFlow,
};
use crate::path_use::PathUseTracker;
use crate::progress::Running;
use crate::traffic::UNBOUNDED_BYTES;

impl<S: Scheme> Running for Simulation<'_, S> {
    fn so_far(&self) -> Outcome {
        self.outcome(self.flows.clone(), self.sampler.samples().clone())
    }
}

impl<S: Scheme> Simulation<'_, S> {
    /// Computes the results.
    pub(crate) fn finish(mut self) -> Outcome {
        let (flows, samples) = (mem::take(&mut self.flows), self.sampler.take());
        self.outcome(flows, samples)
    }

    /// The results with these flows and samples, which are the largest parts.
    fn outcome(&self, flows: Vec<FlowRecord>, samples: Samples) -> Outcome {
        let hosts = self.hosts.counters();
        let (unfinished, long_flows) = (self.unfinished(), self.long_flows());
        let window = self.now.saturating_sub(self.measuring_from);
        let sum =
            |what: fn(&PortStats) -> u64| self.network.port_stats.iter().map(what).sum::<u64>();
        let totals = Totals {
            simulated: self.now,
            packet_hops: self.network.hops,
            measured: (flows.len() + unfinished.len()) as u64,
            unfinished: unfinished.len() as u64,
            delivered: Bytes(hosts.delivered),
            delivered_in_window: Bytes(hosts.delivered - self.delivered_before),
            window,
            segments: hosts.transport.segments,
            retransmitted: hosts.transport.retransmitted,
            timeouts: hosts.transport.timeouts,
            fast_recoveries: hosts.transport.fast_recoveries,
            reordered: hosts.transport.reordered,
            reinjected: Bytes(hosts.transport.reinjected),
            penalties: hosts.transport.penalties,
            refused_joins: hosts.transport.refused_joins,
            placed: self.hosts.placed(),
            dropped: sum(|l| l.buffer_drops),
            dropped_at_senders: self.dropped_at_senders(),
            lost_to_failures: sum(|l| l.failure_drops),
            unroutable: self.switching.unroutable,
            ecn_marked: sum(|l| l.ecn_marks),
            trimmed: sum(|l| l.trims),
            to_closed_connections: hosts.to_closed_connections,
            probe_bytes: Bytes(self.switching.probes_sent * u64::from(self.switching.probe_bytes)),
            peak_packets: self.network.packets.hot.len() as u64,
            in_flight: self.network.packets.len() as u64,
            sent: hosts.sent,
            received: hosts.received,
            probes_sent: self.switching.probes_sent,
            state_bytes: self.switching.state_bytes() as u64,
            ..self.totals
        };
        let from = self.measuring_from;
        let mut requests = self.traffic.requests();
        requests.retain(|request| request.start >= from);
        Outcome {
            requests,
            port_counters: port_counters(&self.fabric, &self.network.port_stats),
            flows,
            unfinished,
            long_flows,
            samples,
            totals,
            path_use: self.path_use.as_ref().map(PathUseTracker::counts),
            scheme: self.switching.counters(),
            digest: self.digest,
        }
    }
}

impl<S: Scheme> Simulation<'_, S> {
    /// Measured flows that have not finished.
    fn unfinished(&self) -> Vec<UnfinishedFlow> {
        let record = |(flow, received): (&Flow, ReceivedBytes)| UnfinishedFlow {
            id: flow.id,
            index: flow.index,
            workload: flow.workload,
            start: flow.start,
            from: flow.from,
            to: flow.to,
            size: flow.size,
            delivered: received.of_flow,
        };
        let measured = |(flow, _): &(&Flow, ReceivedBytes)| flow.measured && !is_long(flow);
        let mut flows: Vec<_> = self.hosts.open_flows().filter(measured).map(record).collect();
        flows.sort_by_key(|flow| (flow.start, flow.from, flow.to));
        flows
    }

    /// Flows without end.
    fn long_flows(&self) -> Vec<LongFlow> {
        let record = |(flow, received): (&Flow, ReceivedBytes)| LongFlow {
            id: flow.id,
            workload: flow.workload,
            start: flow.start,
            from: flow.from,
            to: flow.to,
            delivered: received.in_window,
            time: self.now.saturating_sub(flow.start.max(self.measuring_from)),
            host_rate: self.host_rate(flow, flow.from, |port| port).min(self.host_rate(
                flow,
                flow.to,
                |port| &self.fabric.ports[port.peer as usize],
            )),
        };
        let long = |(flow, _): &(&Flow, ReceivedBytes)| is_long(flow);
        let mut flows: Vec<_> = self.hosts.open_flows().filter(long).map(record).collect();
        flows.sort_by_key(|flow| (flow.start, flow.from, flow.to));
        flows
    }

    fn dropped_at_senders(&self) -> u64 {
        let ports = self.fabric.ports.iter().zip(&self.network.port_stats);
        let of_hosts = ports.filter(|(info, _)| info.owner < self.fabric.hosts);
        of_hosts.map(|(_, stats)| stats.buffer_drops).sum()
    }

    /// Rate of the links of one of a flow's hosts that its connection can have, in the direction of
    /// the port that `side` gives.
    fn host_rate<'b>(
        &'b self,
        flow: &Flow,
        host: u32,
        side: impl Fn(&'b PortInfo) -> &'b PortInfo,
    ) -> Rate {
        let transport = self.scenario.transport_of(flow.workload);
        let ends = (flow.from, flow.to);
        let interfaces = self.best_paths.interfaces(&self.fabric, transport, ends);
        let ports = interfaces.map(|number| &self.fabric.ports_of(host)[number as usize]);
        Rate(ports.map(|port| self.fabric.rate_of(side(port)).0).sum())
    }
}

fn is_long(flow: &Flow) -> bool {
    flow.size.0 >= UNBOUNDED_BYTES
}

/// Counters of the ports that dropped or marked packets.
fn port_counters(fabric: &Fabric, stats: &[PortStats]) -> Vec<PortCounters> {
    let named = |(info, stats): (&PortInfo, &PortStats)| PortCounters {
        from: fabric.node(info.owner).name.clone(),
        to: fabric.node(info.to).name.clone(),
        dropped: stats.buffer_drops,
        ecn_marked: stats.ecn_marks,
    };
    let any = |(_, stats): &(&PortInfo, &PortStats)| stats.buffer_drops + stats.ecn_marks > 0;
    fabric.ports.iter().zip(stats).filter(any).map(named).collect()
}
