//! 5-tuples of packets and their hashes.

use std::net::Ipv4Addr;

use heddle_policy::cflb::{Addresses, Fields, Ports};
use heddle_policy::{mix, ns2_flow_hash};

/// IP protocol number of TCP.
const TCP: u8 = 6;

/// Port of all servers.
const SERVER_PORT: u16 = 5001;

/// Default ephemeral port range of Linux: first port and number of ports.
const EPHEMERAL: (u16, u32) = (32_768, 28_232);

/// Ports and TTL of a packet, for routers that read them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PortsAndTtl {
    pub(crate) ports: Ports,
    pub(crate) ttl: u8,
}

/// IPv4 address of a host's interface: 10.0.0.1 plus its number.
pub(crate) fn address(host: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(Ipv4Addr::new(10, 0, 0, 1)) + u32::from(host))
}

/// The hash that switches see of a packet's flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlowHash {
    /// Of the 5-tuple, uniform.
    FiveTuple,
    /// ns-2's, of addresses and flow identifier.
    Ns2,
}

/// One direction of one subflow. Numbers of hosts' interfaces stand for addresses; the client's
/// port follows from the connection's serial number and the subflow, because each MPTCP subflow has
/// its own port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FiveTuple {
    pub(crate) from: u16,
    pub(crate) to: u16,
    /// Serial number of the connection in the run.
    pub(crate) generation: u32,
    /// The subflow, from 0.
    pub(crate) path: u8,
}

impl FiveTuple {
    /// Flow hash of the packets.
    #[inline]
    pub(crate) fn hash(self) -> u32 {
        let first = mix(self.generation, 0x5bd1_e995);
        let ports = if self.path == 0 { first } else { mix(first, self.path.into()) };
        let addresses = u32::from(self.from) << 16 | u32::from(self.to);
        mix(mix(addresses, ports), 0x1b87_3593)
    }

    /// Flow hash of the packets, by either function.
    #[inline]
    pub(crate) fn hash_by(self, function: FlowHash) -> u32 {
        match function {
            FlowHash::FiveTuple => self.hash(),
            FlowHash::Ns2 => self.ns2_hash(),
        }
    }

    /// ns-2's flow hash of the packets. The flow identifier is the connection's number: the
    /// subflows of one share it, as agents of ns-2 do whose `fid_` a script does not set.
    fn ns2_hash(self) -> u32 {
        ns2_flow_hash(self.from.into(), self.to.into(), self.generation)
    }

    /// Ports of a subflow that is not steered, from client to server: ephemeral ports in sequence.
    pub(crate) fn ports(self) -> Ports {
        let (first, count) = EPHEMERAL;
        let turn = self.generation.wrapping_mul(16).wrapping_add(self.path.into()) % count;
        Ports { source: first + turn as u16, destination: SERVER_PORT }
    }

    /// Header fields of a packet with these ports and TTL, as CFLB reads them.
    pub(crate) fn fields(self, header: PortsAndTtl) -> Fields {
        let addresses = Addresses::V4(address(self.from), address(self.to));
        Fields {
            addresses,
            protocol: TCP,
            ports: Some(header.ports),
            flow_label: 0,
            ttl: header.ttl,
        }
    }

    /// The other direction.
    pub(crate) fn reversed(self) -> FiveTuple {
        FiveTuple { from: self.to, to: self.from, ..self }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// 12 000 random hashes of 32 bits collide with a probability of about 1/60.
    #[test]
    fn connections_subflows_and_directions_have_hashes_of_their_own() {
        let mut seen = BTreeSet::new();
        for generation in 1..=500 {
            for path in 0..4 {
                for to in 1..=3 {
                    let tuple = FiveTuple { from: 0, to, generation, path };
                    assert_eq!(tuple.reversed().reversed(), tuple);
                    seen.extend([tuple.hash(), tuple.reversed().hash()]);
                }
            }
        }
        assert_eq!(seen.len(), 500 * 4 * 3 * 2);
    }

    #[test]
    fn two_subflows_take_equal_links_as_often_as_chance_has_it() {
        let link = |generation, path| {
            let hash = FiveTuple { from: 3, to: 9, generation, path }.hash();
            heddle_policy::pick(mix(hash, 77), 4)
        };
        let alike = (0..40_000).filter(|&opened| link(opened, 0) == link(opened, 1)).count();
        assert!((9_600..=10_400).contains(&alike), "{alike} of 40 000 over 4 links");
    }
}
