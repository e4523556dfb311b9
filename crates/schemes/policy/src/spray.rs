//! Random packet spraying (Dixit et al., INFOCOM 2013): a random next hop for each packet.

use crate::{Header, Port, Ports, Scheme, Step, SwitchInfo, hash::pick_hop};

/// A switch that sprays packets. It keeps no state.
#[derive(Clone, Debug)]
pub struct Spray;

impl Scheme for Spray {
    type Config = ();
    const NEEDS_RANDOM: bool = true;

    fn new((): &(), _site: &SwitchInfo) -> Spray {
        Spray
    }

    #[inline]
    fn forward(
        &mut self,
        step: Step,
        _packet: &mut Header,
        next_hops: &[Port],
        _ports: &mut impl Ports,
    ) -> Port {
        pick_hop(step.rnd, next_hops)
    }

    fn state_bytes(&self) -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{FakePorts, Random, chi_square, packet, switch_info};

    #[test]
    fn the_packets_of_one_flow_are_spread_evenly() {
        let (mut spray, mut random) = (Spray::new(&(), &switch_info(1)), Random(1));
        let hops = [0, 1, 2, 3, 4].map(Port);
        let mut counts = [0u32; 5];
        for now in 0..50_000 {
            let step = random.step(now);
            let port = spray.forward(step, &mut packet(9, 1), &hops, &mut FakePorts::default());
            counts[usize::from(port.0)] += 1;
        }
        assert!(chi_square(&counts) < 18.47, "p < 0.001 for 4 degrees: {counts:?}");
    }
}
