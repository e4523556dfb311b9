//! CONGA', the extension of CONGA that HULA is measured against (HULA section 6): CONGA inside a pod, ECMP per flowlet
//! across pods.
//!
//! A ToR assigns flowlets to a ToR of its own pod as in [`crate::Conga`]; the switches between them raise CE on the way down. For other
//! packets the 5-tuple is hashed with the number of the flowlet, detected by each switch or by the source ToR alone ([`Detection`]). In a
//! fabric without pods ([`SwitchInfo::same_pod`] is empty) every packet is hashed.

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

/// The switches that detect the flowlets of packets across pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detection {
    /// Each switch detects and counts them itself.
    EverySwitch,
    /// The source ToR alone. It writes 16 bits of the hash of 5-tuple and flowlet number into the packet, and "this hash is subsequently
    /// used by all the switches" (HULA section 6), each with its salt.
    SourceTor,
}

/// Parameters of CONGA'.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CongaPrimeConfig {
    /// CONGA's, inside a pod. The flowlet table is that of packets across pods, too.
    pub conga: CongaConfig,
    /// The switches that detect the flowlets of packets across pods.
    pub detection: Detection,
}

/// A switch running CONGA'.
#[derive(Clone, Debug)]
pub struct CongaPrime {
    salt: u32,
    q: u32,
    detection: Detection,
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

    /// True if both ToRs of a packet are in this pod.
    fn holds(&self, packet: &Header) -> bool {
        self.number(packet.src_tor).is_some() && self.number(packet.dst_tor).is_some()
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

    /// The next hop by the hash that the source ToR writes into the packet.
    fn hashed_once(&mut self, step: Step, packet: &mut Header, next_hops: &[Port]) -> Port {
        if packet.ingress == Ingress::Host {
            let number = self.leaf.flowlets.count(mix(packet.flow_hash, self.salt), step.now);
            packet.tag = (mix(packet.flow_hash, number) >> 16) as u16;
        }
        pick_hop(mix(packet.tag.into(), self.salt), next_hops)
    }
}

impl Scheme for CongaPrime {
    type Config = CongaPrimeConfig;
    const NEEDS_RANDOM: bool = true;
    const NEEDS_UTILISATION: bool = true;

    fn new(config: &CongaPrimeConfig, info: &SwitchInfo) -> CongaPrime {
        let CongaPrimeConfig { conga, detection } = config;
        let pod = Pod::new(info);
        let leaves = info.tor.map_or(0, |_| pod.size);
        let leaf = Leaf::new(conga, leaves.into());
        CongaPrime { salt: info.salt, q: conga.q(), detection: *detection, pod, leaf }
    }

    fn dre_shift(config: &CongaPrimeConfig) -> DreShift {
        config.conga.tau
    }

    fn forward(
        &mut self,
        step: Step,
        packet: &mut Header,
        next_hops: &[Port],
        ports: &mut impl Ports,
    ) -> Port {
        if self.detection == Detection::SourceTor && !self.pod.holds(packet) {
            return self.hashed_once(step, packet, next_hops);
        }
        let hash = mix(packet.flow_hash, self.salt);
        let port = match (packet.ingress, self.pod.number(packet.dst_tor)) {
            (Ingress::Host, Some(to)) => self.leaf.send(step, hash, to, packet, next_hops, ports),
            _ => self.hashed(step, packet, hash, next_hops),
        };
        update_ce(packet, port, self.q, ports);
        port
    }

    fn egress(&mut self, step: Step, packet: &mut Header) {
        match self.pod.number(packet.src_tor) {
            Some(from) => self.leaf.receive(step.now, from, packet),
            None => packet.tag = 0,
        }
    }

    /// 12 bytes a flowlet at every switch, and at a ToR 20.5 for each ToR of the pod. With [`Detection::SourceTor`] ToRs alone need flowlets.
    fn state_bytes(&self) -> usize {
        self.leaf.state_bytes() + self.leaf.flowlets.slots() * BYTES_PER_NUMBER
    }

    fn counters(&self) -> Counters {
        self.leaf.flowlets.counters()
    }
}

#[cfg(test)]
mod tests;
