//! Results of a finished run.

use heddle_fabric::{Fabric, PortInfo};
use heddle_policy::Scheme;
use heddle_transport::Connection;
use heddle_units::Bytes;

use super::Simulation;
use crate::network::PortStats;
use crate::outcome::{Outcome, PortCounters, Totals};
use crate::path_use::PathUseTracker;
use crate::switching::PROBE_BYTES;

impl<S: Scheme, C: Connection> Simulation<'_, S, C> {
    /// Computes the results.
    pub(crate) fn finish(self) -> Outcome {
        let hosts = self.hosts.counters();
        let window = self.now.saturating_sub(self.measure_from());
        let sum =
            |what: fn(&PortStats) -> u64| self.network.port_stats.iter().map(what).sum::<u64>();
        let totals = Totals {
            simulated: self.now,
            packet_hops: self.network.hops,
            unfinished: self.hosts.unfinished().filter(|flow| flow.measured).count() as u64,
            delivered: Bytes(hosts.delivered),
            delivered_in_window: Bytes(hosts.delivered - self.delivered_before),
            window,
            segments: hosts.transport.segments,
            retransmitted: hosts.transport.retransmitted,
            timeouts: hosts.transport.timeouts,
            fast_recoveries: hosts.transport.fast_recoveries,
            reordered: hosts.transport.reordered,
            reinjected: Bytes(hosts.transport.reinjected),
            placed: self.hosts.placed(),
            dropped: sum(|l| l.buffer_drops),
            lost_to_failures: sum(|l| l.failure_drops),
            unroutable: self.switching.unroutable,
            ecn_marked: sum(|l| l.ecn_marks),
            to_closed_connections: hosts.to_closed_connections,
            probe_bytes: Bytes(self.switching.probes_sent * u64::from(PROBE_BYTES)),
            peak_packets: self.network.packets.hot.len() as u64,
            in_flight: self.network.packets.len() as u64,
            sent: hosts.sent,
            received: hosts.received,
            probes_sent: self.switching.probes_sent,
            state_bytes: self.switching.state_bytes() as u64,
            ..self.totals
        };
        Outcome {
            port_counters: port_counters(&self.fabric, &self.network.port_stats),
            flows: self.flows,
            samples: self.sampler.finish(),
            totals,
            path_use: self.path_use.map(PathUseTracker::finish),
            scheme: self.switching.counters(),
            digest: self.digest,
        }
    }
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
