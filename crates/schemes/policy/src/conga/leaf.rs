//! A leaf switch: flowlets, congestion tables and the tags of packets.

use super::{
    config::CongaConfig,
    tables::{FromLeaf, ToLeaf},
    tag::{LBTAGS, PathMetric, Tag},
};
use crate::{Digest, Flowlet, FlowletTable, Header, Nanos, Port, Ports, Step, mix, quantise};

/// Raises a packet's CE to the metric of the link of its output `port`. A packet without CE does
/// not change.
#[inline]
pub(crate) fn update_ce(packet: &mut Header, port: Port, q: u32, ports: &mut impl Ports) {
    let mut tag = Tag::decode(packet.tag);
    if let Some(path) = &mut tag.path {
        path.metric = path.metric.max(quantise(ports.tx_util(port), q) as u8);
        packet.tag = tag.encode();
    }
}

/// A leaf's flowlets and congestion tables. Other leaves are identified by their rows in the
/// tables.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub flowlets: FlowletTable,
    to: ToLeaf,
    from: FromLeaf,
    q: u32,
}

impl Leaf {
    pub fn new(config: &CongaConfig, leaves: usize) -> Leaf {
        let age = config.metric_age.as_nanos();
        Leaf {
            flowlets: FlowletTable::new(config.flowlet_slots, config.flowlet_gap),
            to: ToLeaf::new(leaves, age),
            from: FromLeaf::new(leaves, age),
            q: config.q(),
        }
    }

    /// Selects the uplink of a packet to leaf `to`, by the flowlet of `hash`, and writes the
    /// packet's tag with a CE of 0.
    pub fn send(
        &mut self,
        step: Step,
        hash: u32,
        to: u16,
        packet: &mut Header,
        uplinks: &[Port],
        ports: &mut impl Ports,
    ) -> Port {
        let port = match self.flowlets.touch(hash, step.now, uplinks) {
            Flowlet::Running(port) => port,
            Flowlet::New { previous, .. } => {
                let port = self.least_congested(step, to, previous, uplinks, ports);
                self.flowlets.assign(hash, port);
                port
            }
        };
        packet.tag = self.tag(step.now, to, port, uplinks).encode();
        port
    }

    /// The uplink with the least maximum of its own metric and its path's. Ties are broken in
    /// favour of the last flowlet's port, then at random (section 3.5 of the paper).
    fn least_congested(
        &self,
        step: Step,
        to: u16,
        previous: Option<Port>,
        uplinks: &[Port],
        ports: &mut impl Ports,
    ) -> Port {
        let rank = |&(place, port): &(usize, Port)| {
            let local = quantise(ports.tx_util(port), self.q) as u8;
            let metric = local.max(self.to.read(to, step.now, lbtag(place)));
            (metric, previous != Some(port), mix(step.rnd, place as u32))
        };
        let best = uplinks.iter().copied().enumerate().min_by_key(rank);
        best.map_or(uplinks[0], |(_, port)| port)
    }

    fn tag(&mut self, now: Nanos, to: u16, port: Port, uplinks: &[Port]) -> Tag {
        let place = uplinks.iter().position(|&uplink| uplink == port);
        let path = place.map(|place| PathMetric { lbtag: lbtag(place), metric: 0 });
        Tag { path, feedback: self.from.next_feedback(to, now) }
    }

    /// Reads and removes the tag of a packet of leaf `from`.
    pub fn receive(&mut self, now: Nanos, from: u16, packet: &mut Header) {
        let Tag { path, feedback } = Tag::decode(packet.tag);
        if let Some(path) = path {
            self.from.store(from, now, path);
        }
        if let Some(feedback) = feedback {
            self.to.store(from, now, feedback);
        }
        packet.tag = 0;
    }

    /// Adds flowlets and tables to a digest.
    pub fn digest(&self, digest: &mut Digest) {
        self.flowlets.digest(digest, |()| []);
        self.to.digest(digest);
        self.from.digest(digest);
    }

    /// Bits of the metrics alone, both tables together.
    pub fn metric_bits(&self) -> usize {
        self.to.metric_bits() + self.from.metric_bits()
    }

    /// Bytes that a switch needs for flowlets and tables.
    pub fn state_bytes(&self) -> usize {
        self.flowlets.state_bytes() + (self.to.state_bits() + self.from.state_bits()).div_ceil(8)
    }
}

/// LBTag of the uplink at index `place` among the next hops.
fn lbtag(place: usize) -> u8 {
    (place % LBTAGS) as u8
}
