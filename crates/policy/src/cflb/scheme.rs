//! CFLB's router as a scheme.

use super::Codec;
use crate::{Counters, Header, Port, Ports, Scheme, Site, Step, cflb::Reason, hash::pick_hop, mix};

/// A router that takes the next hop which the packet names, and hashes the others. It keeps no state.
#[derive(Clone, Debug)]
pub struct Cflb {
    codec: Codec,
    router: u32,
    counters: Counters,
}

impl Scheme for Cflb {
    type Config = Codec;
    const READS_FIELDS: bool = true;

    fn new(codec: &Codec, site: &Site) -> Cflb {
        Cflb { codec: *codec, router: site.salt, counters: Counters::default() }
    }

    #[inline]
    fn forward(
        &mut self,
        _step: Step,
        packet: &mut Header,
        next_hops: &[Port],
        _ports: &mut impl Ports,
    ) -> Port {
        let Some(fields) = &packet.fields else {
            return pick_hop(mix(packet.flow_hash, self.router), next_hops);
        };
        let decision = self.codec.decide(self.router, fields, next_hops.len() as u16);
        match decision.reason {
            Reason::Alone => {}
            Reason::Controlled { .. } => self.counters.controlled += 1,
            _ => self.counters.hashed += 1,
        }
        next_hops.get(usize::from(decision.next_hop)).copied().unwrap_or(next_hops[0])
    }

    fn state_bytes(&self) -> usize {
        0
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}
