//! ECMP: the next hop of a flow is a hash of its 5-tuple (RFC 2992).

use crate::{Header, Port, Ports, Scheme, Site, Step, mix, pick};

/// A switch that hashes flows over equal-cost next hops. It keeps no state.
#[derive(Clone, Debug)]
pub struct Ecmp {
    salt: u32,
}

impl Scheme for Ecmp {
    type Config = ();

    fn new((): &(), site: &Site) -> Ecmp {
        Ecmp { salt: site.salt }
    }

    #[inline]
    fn forward(
        &mut self,
        _step: Step,
        packet: &mut Header,
        next_hops: &[Port],
        _ports: &mut impl Ports,
    ) -> Port {
        next_hops[pick(mix(packet.flow_hash, self.salt), next_hops.len())]
    }

    fn state_bytes(&self) -> usize {
        0
    }
}
