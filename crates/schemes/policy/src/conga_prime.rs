//! CONGA', the extension of CONGA that HULA is measured against (HULA section 6): CONGA inside a pod, ECMP per flowlet
//! across pods.
//!
//! A ToR assigns flowlets to a ToR of its own pod as in [`crate::Conga`]; the switches between them raise CE on the way down. For other
//! packets each switch hashes the 5-tuple with the number of the flowlet, which it detects and counts itself. In a fabric without pods
//! ([`SwitchInfo::same_pod`] is empty) every packet is hashed.

use alloc::boxed::Box;

use crate::{
    CongaConfig, Counters, DreShift, Flowlet, Header, Ingress, Port, Ports, Scheme, Step,
    SwitchInfo, Tor,
    conga::{Leaf, update_ce},
    hash::pick_hop,
    mix,
};

/// Switch bytes per flowlet for its number.
const BYTES_PER_NUMBER: usize = 4;

/// A switch running CONGA'.
#[derive(Clone, Debug)]
pub struct CongaPrime {
    salt: u32,
    q: u32,
    pod: Pod,
    /// Flowlets, and at a ToR the tables for its pod.
    leaf: Leaf,
}

/// ToRs of this switch's pod with their numbers in it, from the control plane.
#[derive(Clone, Debug)]
struct Pod {
    numbers: Box<[Option<u16>]>,
    size: u16,
}

impl Pod {
    fn new(info: &SwitchInfo) -> Pod {
        let mut size = 0;
        let number = |&inside: &bool| {
            size += u16::from(inside);
            inside.then(|| size - 1)
        };
        let numbers = info.same_pod.iter().take(info.tors.into()).map(number).collect();
        Pod { numbers, size }
    }

    fn number(&self, tor: Tor) -> Option<u16> {
        *self.numbers.get(usize::from(tor.0))?
    }
}

impl CongaPrime {
    /// The next hop by the hash of flow and flowlet number.
    fn hashed(&mut self, step: Step, packet: &Header, hash: u32, next_hops: &[Port]) -> Port {
        match self.leaf.flowlets.touch(hash, step.now, next_hops) {
            Flowlet::Running(port) => port,
            Flowlet::New { number, .. } => {
                let six_tuple = mix(packet.flow_hash, number);
                let port = pick_hop(mix(six_tuple, self.salt), next_hops);
                self.leaf.flowlets.assign(hash, port);
                port
            }
        }
    }
}

impl Scheme for CongaPrime {
    type Config = CongaConfig;
    const NEEDS_RANDOM: bool = true;
    const NEEDS_UTILISATION: bool = true;

    fn new(config: &CongaConfig, info: &SwitchInfo) -> CongaPrime {
        let pod = Pod::new(info);
        let leaves = info.tor.map_or(0, |_| pod.size);
        let leaf = Leaf::new(config, leaves.into());
        CongaPrime { salt: info.salt, q: config.q(), pod, leaf }
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
        let port = match (packet.ingress, self.pod.number(packet.dst_tor)) {
            (Ingress::Host, Some(to)) => self.leaf.send(step, hash, to, packet, next_hops, ports),
            _ => self.hashed(step, packet, hash, next_hops),
        };
        update_ce(packet, port, self.q, ports);
        port
    }

    fn egress(&mut self, step: Step, packet: &mut Header) {
        if let Some(from) = self.pod.number(packet.src_tor) {
            self.leaf.receive(step.now, from, packet);
        }
    }

    /// 12 bytes a flowlet at every switch, and at a ToR 20.5 for each ToR of the pod.
    fn state_bytes(&self) -> usize {
        self.leaf.state_bytes() + self.leaf.flowlets.slots() * BYTES_PER_NUMBER
    }

    fn counters(&self) -> Counters {
        self.leaf.flowlets.counters()
    }
}

#[cfg(test)]
mod tests;
