//! Sampling of queues and links.

use std::mem;

use heddle_fabric::{Fabric, PortInfo};
use heddle_units::Time;

use crate::network::{Network, PortStats};
use crate::outcome::{PortName, Samples};

/// Samples of ports that a run may keep: 1 GB.
pub(crate) const MOST_SAMPLES: usize = 1 << 26;

/// Takes samples of ports.
pub(crate) struct Sampler {
    ports: Vec<u32>,
    /// Bytes sent by each port up to the last sample, and its counters.
    before: Vec<(u64, PortStats)>,
    samples: Samples,
}

impl Sampler {
    /// A sampler of both directions of `links`, or of all links between switches.
    pub(crate) fn new(fabric: &Fabric, links: Option<&[u32]>) -> Sampler {
        let is_sampled = |info: &PortInfo| match links {
            Some(links) => links.contains(&info.link),
            None => info.owner >= fabric.hosts && !info.to_host,
        };
        let ports = (0..).zip(&fabric.ports).filter(|(_, info)| is_sampled(info));
        let name = |(_, info): (u32, &PortInfo)| PortName {
            from: fabric.node(info.owner).name.clone(),
            to: fabric.node(info.to).name.clone(),
            parallel: fabric.parallel_number(info),
            rate: fabric.rate_of(info),
        };
        let names: Vec<PortName> = ports.clone().map(name).collect();
        Sampler {
            before: vec![Default::default(); names.len()],
            ports: ports.map(|(id, _)| id).collect(),
            samples: Samples { ports: names, ..Samples::default() },
        }
    }

    /// Takes one row of samples.
    pub(crate) fn sample(&mut self, network: &Network, now: Time) {
        let samples = &mut self.samples;
        samples.times.push(now);
        for (&id, (sent_before, stats_before)) in self.ports.iter().zip(&mut self.before) {
            let queued = network.backlog(id, now).0;
            let sent =
                network.ports[id as usize].accepted_bytes.saturating_sub(queued).max(*sent_before);
            let stats = network.port_stats[id as usize];
            samples.sent.push((sent - *sent_before) as u32);
            samples.queued.push(queued as u32);
            samples.dropped.push((stats.buffer_drops - stats_before.buffer_drops) as u32);
            samples.marked.push((stats.ecn_marks - stats_before.ecn_marks) as u32);
            (*sent_before, *stats_before) = (sent, stats);
        }
    }

    /// Takes a last row at the end of a run that samples, unless it has just been taken.
    pub(crate) fn sample_rest(&mut self, network: &Network, now: Time) -> bool {
        let is_behind = self.samples.times.last().is_none_or(|&last| last < now);
        if is_behind {
            self.sample(network, now);
        }
        is_behind
    }

    /// True if the samples are as many as a run may keep.
    pub(crate) fn is_full(&self) -> bool {
        self.samples.sent.len() >= MOST_SAMPLES
    }

    /// Starts the measuring window.
    pub(crate) fn start_measuring(&mut self) {
        self.samples.measured_from = self.samples.times.len();
    }

    /// The samples so far.
    pub(crate) fn samples(&self) -> &Samples {
        &self.samples
    }

    /// The samples, of which none are kept.
    pub(crate) fn take(&mut self) -> Samples {
        mem::take(&mut self.samples)
    }
}
