//! Samples of the ports between switches, from the counters of their queueing disciplines.

use std::collections::BTreeMap;

use heddle_lab::{LabError, tools};
use heddle_sim::{PortCounters, PortName, Samples};
use heddle_units::Time;
use serde::Deserialize;

use crate::EmulationError;
use crate::network::Network;
use crate::qdiscs::{Counters, Qdiscs};

/// One direction of a link between switches.
struct Port {
    /// Index of the switch among those that are read.
    switch: usize,
    /// Index of the device in its namespace.
    index: i32,
    before: Counters,
    /// Packets that found a full buffer, those of disciplines that have been replaced too.
    dropped: u64,
    /// Packets sent to a link that had failed.
    lost: u64,
    packets: u64,
}

/// Reads all switches at once, row by row.
pub(crate) struct Sampler {
    switches: Vec<Qdiscs>,
    ports: Vec<Port>,
    samples: Samples,
}

/// The counts on the ports between switches in a whole run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PortTotals {
    /// Packets that crossed a link.
    pub(crate) hops: u64,
    /// Drops of full buffers, port by port.
    pub(crate) drops: Vec<PortCounters>,
    /// Packets sent to links that had failed, probes among them.
    pub(crate) lost_to_failures: u64,
}

#[derive(Deserialize)]
struct Link {
    ifindex: i32,
    ifname: String,
}

impl Sampler {
    /// A sampler of a network's ports.
    pub(crate) fn new(network: &Network) -> Result<Sampler, EmulationError> {
        let mut sampler =
            Sampler { switches: Vec::new(), ports: Vec::new(), samples: Samples::default() };
        for (position, switch) in network.switches().enumerate() {
            sampler.switches.push(Qdiscs::open(&network.path(switch))?);
            let indices = indices(network, switch)?;
            for device in network.devices(switch).filter(|device| !device.info.to_host) {
                let missing = || {
                    let switch = &network.fabric.node(switch).name;
                    let program = format!("ip -json link show of {switch}");
                    LabError::unreadable(program, device.name(), format!("{indices:?}"))
                };
                let index = indices.get(&device.name()).copied().ok_or_else(missing)?;
                sampler.ports.push(Port::new(position, index));
                sampler.samples.ports.push(PortName {
                    from: network.fabric.node(switch).name.clone(),
                    to: network.fabric.node(device.info.to).name.clone(),
                    parallel: network.fabric.parallel_number(device.info),
                    rate: network.fabric.rate_of(device.info),
                });
            }
        }
        sampler.read(|_, _| {})?;
        Ok(sampler)
    }

    /// Takes one row of samples.
    pub(crate) fn sample(&mut self, now: Time) -> Result<(), EmulationError> {
        let dropped_before: Vec<u64> = self.ports.iter().map(|port| port.dropped).collect();
        let (mut sent, mut queued) = (Vec::new(), Vec::new());
        self.read(|bytes, backlog| {
            sent.push(u32::try_from(bytes).unwrap_or(u32::MAX));
            queued.push(backlog);
        })?;
        let dropped = self.ports.iter().zip(dropped_before);
        let dropped = dropped.map(|(port, before)| (port.dropped - before) as u32);
        self.samples.times.push(now);
        self.samples.sent.extend(sent);
        self.samples.queued.extend(queued);
        self.samples.dropped.extend(dropped);
        self.samples.marked.extend(self.ports.iter().map(|_| 0));
        Ok(())
    }

    /// Starts the measuring window.
    pub(crate) fn start_measuring(&mut self) {
        self.samples.measured_from = self.samples.times.len();
    }

    /// The samples, and what was counted since the sampler was made.
    pub(crate) fn finish(mut self) -> Result<(Samples, PortTotals), EmulationError> {
        self.read(|_, _| {})?;
        let mut totals = PortTotals::default();
        for (port, name) in self.ports.iter().zip(&self.samples.ports) {
            totals.hops += port.packets;
            totals.lost_to_failures += port.lost;
            if port.dropped > 0 {
                let (from, to) = (name.from.clone(), name.to.clone());
                totals.drops.push(PortCounters { from, to, dropped: port.dropped, ecn_marked: 0 });
            }
        }
        Ok((self.samples, totals))
    }

    /// Gives each port's bytes sent since the reading before, and its queue.
    fn read(&mut self, mut row: impl FnMut(u64, u32)) -> Result<(), EmulationError> {
        let all: Result<Vec<_>, _> = self.switches.iter().map(Qdiscs::read).collect();
        let all = all?;
        for port in &mut self.ports {
            let now = all[port.switch].get(&port.index).copied().unwrap_or_default();
            let (bytes, backlog) = port.advance(now);
            row(bytes, backlog);
        }
        Ok(())
    }
}

impl Port {
    fn new(switch: usize, index: i32) -> Port {
        Port { switch, index, before: Counters::default(), dropped: 0, lost: 0, packets: 0 }
    }

    /// Takes a reading: bytes sent since the one before, and the queue. A discipline that replaced
    /// another counts from zero.
    fn advance(&mut self, now: Counters) -> (u64, u32) {
        let was_replaced = now.is_failed != self.before.is_failed
            || now.bytes < self.before.bytes
            || now.dropped < self.before.dropped;
        let before = if was_replaced { Counters::default() } else { self.before };
        let dropped = if now.is_failed { &mut self.lost } else { &mut self.dropped };
        *dropped += now.dropped - before.dropped;
        self.packets += now.packets.saturating_sub(before.packets);
        self.before = now;
        (now.bytes - before.bytes, now.backlog)
    }
}

/// Indices of a node's devices.
fn indices(network: &Network, node: u32) -> Result<BTreeMap<String, i32>, EmulationError> {
    let json = tools::run("ip", ["-n", &network.namespace(node), "-json", "link", "show"], "")?;
    let links: Vec<Link> = serde_json::from_str(&json)
        .map_err(|source| EmulationError::State { what: "ip -json link".into(), source })?;
    Ok(links.into_iter().map(|link| (link.ifname, link.ifindex)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(bytes: u64, dropped: u64) -> Counters {
        Counters { bytes, packets: bytes / 100, dropped, backlog: 7, is_failed: false }
    }

    #[test]
    fn readings_become_differences() {
        let mut port = Port::new(0, 1);
        assert_eq!(port.advance(counted(1000, 0)), (1000, 7));
        assert_eq!(port.advance(counted(2500, 3)), (1500, 7));
        assert_eq!((port.dropped, port.packets), (3, 25));
    }

    #[test]
    fn a_replaced_discipline_counts_from_zero() {
        let mut port = Port::new(0, 1);
        port.advance(counted(5000, 10));
        assert_eq!(port.advance(counted(300, 1)), (300, 7));
        assert_eq!(port.dropped, 11);
    }

    #[test]
    fn packets_to_a_failed_link_are_no_drops_of_its_buffer() {
        let mut port = Port::new(0, 1);
        port.advance(counted(5000, 10));
        port.advance(Counters { dropped: 30, is_failed: true, ..Counters::default() });
        port.advance(counted(300, 1));
        assert_eq!((port.dropped, port.lost), (11, 30));
    }
}
