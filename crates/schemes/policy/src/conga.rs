//! CONGA (Alizadeh et al., SIGCOMM 2014): the leaves of a leaf-spine fabric exchange the congestion
//! of their paths.
//!
//! A source leaf assigns each flowlet to the uplink with the least congested path, and writes the
//! uplink into the packet (LBTag). Each switch on the path raises the packet's congestion metric
//! (CE) to that of its own link. The destination leaf stores the metric, and a later packet in the
//! other direction feeds it back ([`Header::tag`] carries both).
//!
//! Deviations from the paper, and decisions on details that it leaves open:
//!
//! - Utilisation comes from the same estimator as HULA's ([`crate::Dre`]), not from a register with
//!   a timer.
//! - An uplink's LBTag is its index among the packet's next hops, the same for all packets to one
//!   leaf while routes do not change. The field has 4 bits: uplinks beyond the 16th share a tag,
//!   and so a metric.
//! - A metric that is older than [`CongaConfig::metric_age`] reads 0 at once, where the paper
//!   decays it "gradually". It ages at both leaves: otherwise the destination would feed back an
//!   old metric for ever, and the path would never be tried again.
//! - A spine with several links to one leaf hashes over them.

mod config;
mod leaf;
mod tables;
mod tag;

pub use config::CongaConfig;
pub(crate) use leaf::{Leaf, update_ce};

use crate::{
    Counters, Digest, DigestState, DreShift, Header, Ingress, Port, Ports, Scheme, Step,
    SwitchInfo, hash::pick_hop, mix,
};

/// A switch running CONGA.
#[derive(Clone, Debug)]
pub struct Conga {
    salt: u32,
    q: u32,
    leaf: Option<Leaf>,
}

impl Conga {
    /// Bits of a leaf's two metric tables alone, the figure that HULA section 2 gives for CONGA; 0
    /// for a spine.
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
        config.dre_shift()
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
        update_ce(packet, port, self.q, ports);
        port
    }

    fn egress(&mut self, step: Step, packet: &mut Header) {
        if let Some(leaf) = &mut self.leaf {
            leaf.receive(step.now, packet.src_tor.0, packet);
        }
    }

    /// A leaf's flowlets and tables: 8 bytes a flowlet, 20.5 bytes for each leaf of the fabric. A
    /// spine has none.
    fn state_bytes(&self) -> usize {
        self.leaf.as_ref().map_or(0, Leaf::state_bytes)
    }

    fn counters(&self) -> Counters {
        self.leaf.as_ref().map_or(Counters::default(), |leaf| leaf.flowlets.counters())
    }
}

impl DigestState for Conga {
    fn digest_state(&self, digest: &mut Digest) {
        if let Some(leaf) = &self.leaf {
            leaf.digest(digest);
        }
    }
}

#[cfg(test)]
mod tests;
