//! Sampling of queues and links.

use heddle_fabric::Fabric;
use heddle_units::Time;

use crate::network::Network;
use crate::outcome::{PortName, Samples};

/// Samples of ports that a run may keep: 1 GB.
pub(crate) const MOST_SAMPLES: usize = 1 << 27;

/// Takes samples of the ports between switches.
pub(crate) struct Sampler {
    ports: Vec<u32>,
    /// Bytes sent by each port up to the last sample.
    sent_before: Vec<u64>,
    samples: Samples,
}

impl Sampler {
    pub(crate) fn new(fabric: &Fabric) -> Sampler {
        let between_switches = |id: &u32| {
            let info = fabric.ports[*id as usize];
            info.owner >= fabric.hosts && !info.to_host
        };
        let ports: Vec<u32> = (0..fabric.ports.len() as u32).filter(between_switches).collect();
        let name = |&id: &u32| {
            let info = fabric.ports[id as usize];
            PortName {
                from: fabric.node(info.owner).name.clone(),
                to: fabric.node(info.to).name.clone(),
                rate: fabric.graph.links[info.link as usize].rate,
            }
        };
        let names = ports.iter().map(name).collect();
        Sampler {
            sent_before: vec![0; ports.len()],
            samples: Samples { ports: names, ..Samples::default() },
            ports,
        }
    }

    /// Takes one row of samples.
    pub(crate) fn sample(&mut self, network: &Network, now: Time) {
        self.samples.times.push(now);
        for (&id, before) in self.ports.iter().zip(&mut self.sent_before) {
            let queued = network.backlog(id, now).0;
            let sent =
                network.ports[id as usize].accepted_bytes.saturating_sub(queued).max(*before);
            self.samples.sent.push((sent - *before) as u32);
            self.samples.queued.push(queued as u32);
            *before = sent;
        }
    }

    /// True if the samples are as many as a run may keep.
    pub(crate) fn is_full(&self) -> bool {
        self.samples.sent.len() >= MOST_SAMPLES
    }

    /// Starts the measuring window.
    pub(crate) fn start_measuring(&mut self) {
        self.samples.measured_from = self.samples.times.len();
    }

    pub(crate) fn finish(self) -> Samples {
        self.samples
    }
}
