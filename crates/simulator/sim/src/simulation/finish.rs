//! What is left of a run when it is over.

use heddle_fabric::{Fabric, PortInfo};
use heddle_policy::Scheme;
use heddle_transport::Ends;
use heddle_units::Bytes;

use super::Simulation;
use crate::network::Losses;
use crate::outcome::{Outcome, PortLosses, Totals};
use crate::path_use::PathWatch;
use crate::switching::PROBE_BYTES;

impl<S: Scheme, E: Ends> Simulation<'_, S, E> {
    /// Sums up.
    pub(crate) fn finish(self) -> Outcome {
        let hosts = self.hosts.counters();
        let window = self.now.saturating_sub(self.measure_from());
        let sum = |what: fn(&Losses) -> u64| self.network.losses.iter().map(what).sum::<u64>();
        let totals = Totals {
            simulated: self.now,
            packet_hops: self.network.hops,
            unfinished: self.hosts.unfinished().filter(|flow| flow.measured).count() as u64,
            delivered: Bytes(hosts.delivered),
            delivered_in_window: Bytes(hosts.delivered - self.delivered_before),
            window,
            segments: hosts.ends.segments,
            retransmitted: hosts.ends.retransmitted,
            timeouts: hosts.ends.timeouts,
            fast_recoveries: hosts.ends.fast_recoveries,
            reordered: hosts.ends.reordered,
            reinjected: Bytes(hosts.ends.reinjected),
            placed: self.hosts.placed(),
            dropped: sum(|l| l.overflows),
            lost_to_failures: sum(|l| l.failures),
            unroutable: self.switching.unroutable,
            marked: sum(|l| l.marks),
            strays: hosts.strays,
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
            losses: losses(&self.fabric, &self.network.losses),
            flows: self.flows,
            samples: self.sampler.finish(),
            totals,
            path_use: self.path_watch.map(PathWatch::finish),
            scheme: self.switching.counters(),
            digest: self.digest,
        }
    }
}

/// Ports that dropped or marked anything.
fn losses(fabric: &Fabric, losses: &[Losses]) -> Vec<PortLosses> {
    let named = |(info, losses): (&PortInfo, &Losses)| PortLosses {
        from: fabric.node(info.owner).name.clone(),
        to: fabric.node(info.to).name.clone(),
        dropped: losses.overflows,
        marked: losses.marks,
    };
    let any = |(_, losses): &(&PortInfo, &Losses)| losses.overflows + losses.marks > 0;
    fabric.ports.iter().zip(losses).filter(any).map(named).collect()
}
