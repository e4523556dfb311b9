//! ECMP with the flow hash of ns-2.
//!
//! The patch of ns-2's `classifier-mpath` that came with the simulations of DCTCP and pFabric
//! hashes a flow by Tcl's string hash, `h = 9 h + byte`, over four little-endian words of 32 bits:
//! node, source, destination, flow identifier; the next hop is the remainder of `h` by the number
//! of next hops. As 9 is 1 modulo 2, 4 and 8, with that many next hops only the sum of the bytes
//! counts: flows whose sums agree share a hop at every switch.

use crate::{Digest, DigestState, Header, Port, Ports, Scheme, Step, SwitchInfo};

/// Tcl's string hash of bytes, which ns-2 takes as signed.
fn string_hash(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |hash, &byte| {
        u32::wrapping_mul(hash, 9).wrapping_add_signed(i32::from(byte.cast_signed()))
    })
}

/// The flow's part of ns-2's hash: source, destination and flow identifier. A packet's
/// [`Header::flow_hash`] under [`EcmpNs2`].
pub fn ns2_flow_hash(source: u32, destination: u32, flow: u32) -> u32 {
    let words = [source, destination, flow].map(u32::to_le_bytes);
    string_hash(words.as_flattened())
}

/// A switch that hashes flows as ns-2 does. Its node number is [`SwitchInfo::salt`], and a packet's
/// [`Header::flow_hash`] is [`ns2_flow_hash`]. It keeps no state.
#[derive(Clone, Debug)]
pub struct EcmpNs2 {
    /// The node's part of the hash: the words of the flow come after it, 12 bytes.
    node: u32,
}

impl EcmpNs2 {
    /// `next_hops` is not empty, as [`Scheme::forward`] guarantees.
    fn hop(&self, flow_hash: u32, next_hops: &[Port]) -> Port {
        next_hops[self.node.wrapping_add(flow_hash) as usize % next_hops.len()]
    }
}

impl Scheme for EcmpNs2 {
    type Config = ();

    fn new((): &(), info: &SwitchInfo) -> EcmpNs2 {
        let node = string_hash(&info.salt.to_le_bytes());
        EcmpNs2 { node: node.wrapping_mul(9u32.wrapping_pow(12)) }
    }

    #[inline]
    fn forward(
        &mut self,
        _step: Step,
        packet: &mut Header,
        next_hops: &[Port],
        _ports: &mut impl Ports,
    ) -> Port {
        self.hop(packet.flow_hash, next_hops)
    }

    #[inline]
    fn predict(&self, flow_hash: u32, next_hops: &[Port]) -> Option<Port> {
        Some(self.hop(flow_hash, next_hops))
    }

    fn state_bytes(&self) -> usize {
        0
    }
}

impl DigestState for EcmpNs2 {
    fn digest_state(&self, _: &mut Digest) {}
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::testing::{FakePorts, at, packet, switch_info};

    fn hop(node: u32, flow_hash: u32, hops: &[Port]) -> Port {
        let mut switch = EcmpNs2::new(&(), &switch_info(node));
        switch.forward(at(0), &mut packet(flow_hash, 1), hops, &mut FakePorts::default())
    }

    /// By hand: 97 * 9 + 98 = 971, 971 * 9 + 99 = 8838; the byte 255 counts as -1.
    #[test]
    fn the_string_hash_is_tcls() {
        assert_eq!(string_hash(b"abc"), 8838);
        assert_eq!(string_hash(&[1, 255]), 8);
        assert_eq!(string_hash(&[255]), u32::MAX);
    }

    /// The parts of a switch and a flow together are the hash of all 16 bytes.
    #[test]
    fn the_hop_is_the_remainder_of_the_hash_of_all_words() {
        let hops = [Port(1), Port(2), Port(3)];
        for node in [0, 1, 7, 300, u32::MAX] {
            for (source, destination, flow) in [(1, 2, 3), (65_535, 200, 1 << 30)] {
                let words = [node, source, destination, flow].map(u32::to_le_bytes);
                let expected = hops[string_hash(words.as_flattened()) as usize % 3];
                assert_eq!(hop(node, ns2_flow_hash(source, destination, flow), &hops), expected);
            }
        }
    }

    /// Subflow `i` of a connection goes from interface `2 a + i` to `2 b + i`: the sum of the bytes
    /// grows by 2, so that its parity stays.
    #[test]
    fn with_two_hops_the_subflows_of_two_interfaces_share_every_hop() {
        let hops = [Port(4), Port(5)];
        for node in 0..8 {
            for flow in 0..100 {
                let [first, second] = [0, 1].map(|i| ns2_flow_hash(10 + i, 20 + i, flow));
                assert_eq!(hop(node, first, &hops), hop(node, second, &hops));
            }
        }
    }

    /// Flows between two hosts with identifiers in sequence alternate, but where a carry changes
    /// the sum.
    #[test]
    fn flows_in_sequence_alternate() {
        let hops = [Port(4), Port(5)];
        let hops_of: Vec<Port> =
            (0..256).map(|flow| hop(3, ns2_flow_hash(1, 2, flow), &hops)).collect();
        assert!(hops_of.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
