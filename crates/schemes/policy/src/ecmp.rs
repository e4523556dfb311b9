//! ECMP: the next hop of a flow is a hash of its 5-tuple (RFC 2992).

use crate::{
    Digest, DigestState, Header, Port, Ports, Scheme, Step, SwitchInfo, hash::pick_hop, mix,
};

/// A switch that hashes flows over equal-cost next hops. It keeps no state.
#[derive(Clone, Debug)]
pub struct Ecmp {
    salt: u32,
}

impl Scheme for Ecmp {
    type Config = ();

    fn new((): &(), info: &SwitchInfo) -> Ecmp {
        Ecmp { salt: info.salt }
    }

    #[inline]
    fn forward(
        &mut self,
        _step: Step,
        packet: &mut Header,
        next_hops: &[Port],
        _ports: &mut impl Ports,
    ) -> Port {
        pick_hop(mix(packet.flow_hash, self.salt), next_hops)
    }

    #[inline]
    fn predict(&self, flow_hash: u32, next_hops: &[Port]) -> Option<Port> {
        Some(pick_hop(mix(flow_hash, self.salt), next_hops))
    }

    fn state_bytes(&self) -> usize {
        0
    }
}

impl DigestState for Ecmp {
    fn digest_state(&self, _: &mut Digest) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{FakePorts, at, chi_square, packet, switch_info};

    const HOPS: [Port; 2] = [Port(4), Port(5)];

    /// Hops of 10 000 flows at two switches in a row.
    fn two_tiers(salts: [u32; 2]) -> [[u32; 2]; 2] {
        let [mut first, mut second] = salts.map(|salt| Ecmp::new(&(), &switch_info(salt)));
        let mut counts = [[0; 2]; 2];
        for flow in 0..10_000u32 {
            let mut header = packet(mix(flow, 0xabcd), 1);
            let ports = &mut FakePorts::default();
            let a = first.forward(at(0), &mut header, &HOPS, ports);
            let b = second.forward(at(0), &mut header, &HOPS, ports);
            counts[usize::from(a.0 - 4)][usize::from(b.0 - 4)] += 1;
        }
        counts
    }

    #[test]
    fn a_flow_keeps_its_hop() {
        let mut ecmp = Ecmp::new(&(), &switch_info(7));
        let mut hop = |now, dst| {
            ecmp.forward(at(now), &mut packet(77, dst), &HOPS, &mut FakePorts::default())
        };
        let first = hop(0, 1);
        assert!((1..1000).all(|i| hop(i * 1_000_000, 1) == first));
    }

    #[test]
    fn one_salt_on_two_tiers_polarises() {
        let [[both_low, low_high], [high_low, both_high]] = two_tiers([7, 7]);
        assert_eq!((low_high, high_low), (0, 0), "half of the paths carry nothing");
        assert_eq!(both_low + both_high, 10_000);
    }

    #[test]
    fn a_salt_for_each_switch_uses_every_path() {
        let counts = two_tiers([7, 8]);
        assert!(chi_square(counts.as_flattened()) < 16.27, "p < 0.001 for 3 degrees: {counts:?}");
    }
}
