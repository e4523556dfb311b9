//! CONGA', the extension of CONGA that HULA is measured against (HULA section 6): CONGA inside a
//! pod, ECMP per flowlet across pods.
//!
//! A ToR assigns flowlets to a ToR of its own pod as in [`crate::Conga`]; the switches between them
//! raise CE on the way down. For other packets the 5-tuple is hashed with the number of the
//! flowlet, detected by each switch or by the source ToR alone ([`Detection`]). In a fabric without
//! pods ([`SwitchInfo::same_pod`] is empty) every packet is hashed.

use alloc::boxed::Box;

use heddle_units::Time;

use crate::{
    CongaConfig, Counters, DreShift, FLOWLET_SLOTS, Flowlet, Header, Ingress, Port, Ports, Scheme,
    Step, SwitchInfo, Tor,
    conga::{Leaf, update_ce},
    hash::pick_hop,
    mix,
};

/// Switch bytes per flowlet for its number.
const BYTES_PER_NUMBER: usize = 4;

/// Switches that detect the flowlets of packets across pods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(rename_all = "kebab-case")
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Detection {
    /// Each detects and counts them itself.
    #[default]
    EverySwitch,
    /// The source ToR alone: it hashes 5-tuple and flowlet number once, and the other switches use
    /// its hash (HULA section 6).
    // It writes 16 bits of the hash into the packet, to which each switch adds its salt.
    SourceTor,
}

/// Defaults are those of CONGA section 3.6, but for the flowlet gap, which is that of HULA's
/// experiments.
// The flowlet table is that of packets inside a pod and of those across pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(default, deny_unknown_fields)
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename = "CongaPrime"))]
pub struct CongaPrimeConfig {
    /// Silence longer than this ends a flowlet. Default: 100us (HULA section 6 uses one gap for all
    /// schemes).
    pub flowlet_gap: Time,
    /// Slots of a switch's flowlet table, rounded up to a power of two. Default: 65536 (CONGA
    /// section 3.4).
    pub flowlet_slots: u32,
    /// Time constant of the utilisation estimator. Default: 160us.
    /// A switch shifts instead of dividing: it runs with the next power of two in nanoseconds
    /// (400us as 524us).
    pub tau: Time,
    /// Bits of a congestion metric, Q: 1 to 3. Default: 3.
    pub metric_bits: u8,
    /// A remote metric older than this counts as 0. Default: 10ms (CONGA section 3.3).
    pub metric_age: Time,
    /// Switches that detect the flowlets of packets across pods. Default: "every-switch".
    pub detection: Detection,
}

impl Default for CongaPrimeConfig {
    fn default() -> CongaPrimeConfig {
        let CongaConfig { tau, metric_bits, metric_age, .. } = CongaConfig::default();
        CongaPrimeConfig {
            flowlet_gap: Time::micros(100),
            flowlet_slots: FLOWLET_SLOTS,
            tau,
            metric_bits,
            metric_age,
            detection: Detection::EverySwitch,
        }
    }
}

impl CongaPrimeConfig {
    /// The parameters inside a pod.
    pub fn conga(&self) -> CongaConfig {
        let CongaPrimeConfig { flowlet_gap, flowlet_slots, tau, metric_bits, metric_age, .. } =
            *self;
        CongaConfig { flowlet_gap, flowlet_slots, tau, metric_bits, metric_age }
    }
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
        let conga = config.conga();
        let pod = Pod::new(info);
        let leaves = info.tor.map_or(0, |_| pod.size);
        let leaf = Leaf::new(&conga, leaves.into());
        CongaPrime { salt: info.salt, q: conga.q(), detection: config.detection, pod, leaf }
    }

    fn dre_shift(config: &CongaPrimeConfig) -> DreShift {
        config.conga().dre_shift()
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

    /// 12 bytes a flowlet at every switch, and at a ToR 20.5 for each ToR of the pod. With
    /// [`Detection::SourceTor`] ToRs alone need flowlets.
    fn state_bytes(&self) -> usize {
        self.leaf.state_bytes() + self.leaf.flowlets.slots() * BYTES_PER_NUMBER
    }

    fn counters(&self) -> Counters {
        self.leaf.flowlets.counters()
    }
}

#[cfg(test)]
mod tests;
