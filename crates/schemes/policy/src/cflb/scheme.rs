//! CFLB's router as a scheme.

use super::{Codec, Decision, Reason};
use crate::{
    Counters, Digest, DigestState, Header, Port, Ports, Scheme, Step, SwitchInfo, hash::pick_hop,
    mix,
};

/// A router that takes the next hop encoded in a packet, and hashes other packets. It keeps no
/// state.
///
/// Its number is [`SwitchInfo::salt`]. A packet without [`Header::fields`] is hashed as by ECMP.
#[derive(Clone, Debug)]
pub struct Cflb {
    codec: Codec,
    router: u32,
    counters: Counters,
}

impl Scheme for Cflb {
    type Config = Codec;
    const READS_FIELDS: bool = true;

    fn new(codec: &Codec, info: &SwitchInfo) -> Cflb {
        Cflb { codec: *codec, router: info.salt, counters: Counters::default() }
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
            self.counters.hashed += u64::from(next_hops.len() > 1);
            return pick_hop(mix(packet.flow_hash, self.router), next_hops);
        };
        // Only the first 65535 next hops are used.
        let count = next_hops.len().min(u16::MAX.into()) as u16;
        let Decision { next_hop, reason } = self.codec.decide(self.router, fields, count);
        match reason {
            Reason::Alone => {}
            Reason::Controlled { .. } => self.counters.controlled += 1,
            _ => self.counters.hashed += 1,
        }
        next_hops[usize::from(next_hop)]
    }

    fn state_bytes(&self) -> usize {
        0
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}

impl DigestState for Cflb {
    fn digest_state(&self, _: &mut Digest) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cflb::{Addresses, CflbConfig, Cipher, Field, Fields, Ports, RouterChoice, Rules},
        testing::{FakePorts, at, packet, switch_info},
    };

    const HOPS: [Port; 4] = [Port(9), Port(4), Port(7), Port(2)];

    fn codec() -> Codec {
        let config =
            CflbConfig { field: Field::Ports, cipher: Cipher::Rc5, radix: 4, rules: Rules::Even };
        Codec::new(&config, &[7; 16]).unwrap()
    }

    fn fields(ttl: u8) -> Fields {
        let addresses = Addresses::V4([10, 0, 0, 1].into(), [10, 0, 1, 1].into());
        let ports = Some(Ports { source: 40_000, destination: 80 });
        Fields { addresses, protocol: 6, ports, flow_label: 0, ttl }
    }

    fn forward(router: &mut Cflb, fields: Option<Fields>, next_hops: &[Port]) -> Port {
        let mut header = Header { fields, ..packet(77, 1) };
        let port = router.forward(at(0), &mut header, next_hops, &mut FakePorts::default());
        assert_eq!(header, Header { fields, ..packet(77, 1) }, "nothing is written");
        port
    }

    /// Two routers in a row: the first takes its next hop 2, the second its next hop 3.
    #[test]
    fn packets_go_where_their_sender_wants_them() {
        let mut routers = [1, 2].map(|salt| Cflb::new(&codec(), &switch_info(salt)));
        let choices =
            [(0, 2), (1, 3)].map(|(hop, next_hop)| RouterChoice { hop, next_hop, next_hops: 4 });
        let sent = codec().encode(&choices, &fields(64), 5).unwrap();
        let ports = [64, 63].map(|ttl| Some(Fields { ttl, ..sent }));
        assert_eq!(forward(&mut routers[0], ports[0], &HOPS), Port(7));
        assert_eq!(forward(&mut routers[1], ports[1], &HOPS), Port(2));
        for router in routers {
            let expected = Counters { controlled: 1, ..Counters::default() };
            assert_eq!((router.counters(), router.state_bytes()), (expected, 0));
        }
    }

    /// A steered packet, one whose digit has no next hop, one with a single next hop, one without
    /// fields, one with neither.
    #[test]
    fn steered_and_hashed_packets_are_counted() {
        let mut router = Cflb::new(&codec(), &switch_info(1));
        let choice = RouterChoice { hop: 0, next_hop: 3, next_hops: 4 };
        let sent = Some(codec().encode(&[choice], &fields(64), 0).unwrap());
        forward(&mut router, sent, &HOPS);
        forward(&mut router, sent, &HOPS[..3]);
        assert_eq!(forward(&mut router, sent, &HOPS[..1]), Port(9));
        forward(&mut router, None, &HOPS);
        assert_eq!(forward(&mut router, None, &HOPS[..1]), Port(9));
        let expected = Counters { controlled: 1, hashed: 2, ..Counters::default() };
        assert_eq!(router.counters(), expected);
    }
}
