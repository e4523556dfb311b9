//! CONGA (Alizadeh et al., SIGCOMM 2014): leaves of a leaf-spine fabric tell each other how full their paths are.
//!
//! A source leaf gives each flowlet the uplink whose path is least congested, and names the uplink in the packet. Each switch
//! on the way raises the packet's congestion mark (CE) to its own link's. The destination leaf stores the mark, and a later
//! packet in the other direction takes it home ([`Header::tag`] carries both).
//!
//! Where this departs from the paper, or settles what it leaves open:
//!
//! - Utilisation comes from the same estimator as HULA's ([`crate::Dre`]), not from a register with a timer.
//! - An uplink's LBTag is its place among the packet's next hops, the same for all packets to one leaf while routes stand. The
//!   field has 4 bits: uplinks past the 16th share a tag, and so a metric.
//! - A metric that is older than [`CongaConfig::metric_age`] reads 0 at once, where the paper decays it "gradually". It ages
//!   at both leaves: the destination would else repeat an old mark for ever, and the path would never be tried again.
//! - A spine with several links to one leaf hashes over them.

mod leaf;
mod tables;
mod tag;

pub(crate) use leaf::{Leaf, mark};

use crate::{
    Counters, DreShift, Header, Ingress, Nanos, Port, Ports, Scheme, Step, SwitchInfo,
    hash::pick_hop, mix,
};

/// CONGA's parameters (section 3.6 of the paper).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CongaConfig {
    /// T_fl: silence longer than this ends a flowlet.
    pub flowlet_gap: Nanos,
    /// Flowlets a leaf can hold.
    pub flowlet_slots: usize,
    /// Time constant of the utilisation estimator.
    pub tau: DreShift,
    /// Q, bits of a metric: 1 to 3, others count as the nearest.
    pub metric_bits: u32,
    /// A metric older than this reads 0.
    pub metric_age: Nanos,
}

impl CongaConfig {
    /// Q within what the header can carry.
    pub(crate) fn q(&self) -> u32 {
        self.metric_bits.clamp(1, tag::METRIC_BITS)
    }
}

/// A switch running CONGA.
#[derive(Clone, Debug)]
pub struct Conga {
    salt: u32,
    q: u32,
    leaf: Option<Leaf>,
}

impl Conga {
    /// Bits of a leaf's two metric tables alone, the figure that HULA section 2 gives for CONGA; 0 for a spine.
    pub fn metric_bits(&self) -> usize {
        self.leaf.as_ref().map_or(0, Leaf::metric_bits)
    }
}

impl Scheme for Conga {
    type Config = CongaConfig;
    const NEEDS_RANDOM: bool = true;
    const NEEDS_UTILISATION: bool = true;

    fn new(config: &CongaConfig, info: &SwitchInfo) -> Conga {
        let leaf = info.tor.map(|_| Leaf::new(config, info.tors.into()));
        Conga { salt: info.salt, q: config.q(), leaf }
    }

    fn dre_shift(config: &CongaConfig) -> DreShift {
        config.tau
    }

    fn forward(
        &mut self,
        step: Step,
        packet: &mut Header,
        next_hops: &[Port],
        ports: &mut impl Ports,
    ) -> Port {
        let hash = mix(packet.flow_hash, self.salt);
        let to = packet.dst_tor.0;
        let port = match &mut self.leaf {
            Some(leaf) if packet.ingress == Ingress::Host => {
                leaf.send(step, hash, to, packet, next_hops, ports)
            }
            _ => pick_hop(hash, next_hops),
        };
        mark(packet, port, self.q, ports);
        port
    }

    fn egress(&mut self, step: Step, packet: &mut Header) {
        if let Some(leaf) = &mut self.leaf {
            leaf.receive(step.now, packet.src_tor.0, packet);
        }
    }

    /// A leaf's flowlets and tables: 8 bytes a flowlet, 20.5 bytes for each leaf of the fabric. A spine has none.
    fn state_bytes(&self) -> usize {
        self.leaf.as_ref().map_or(0, Leaf::state_bytes)
    }

    fn counters(&self) -> Counters {
        self.leaf.as_ref().map_or(Counters::default(), |leaf| leaf.flowlets.counters())
    }
}

#[cfg(test)]
mod tests;
