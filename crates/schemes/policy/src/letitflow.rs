//! LetItFlow (Vanini et al., NSDI 2017): a random next hop for each flowlet.
//!
//! Flowlets on a congested path are cut by gaps sooner, so they are shorter there: load moves away
//! without any measurement.

use crate::{
    Counters, Digest, DigestState, FLOWLET_SLOTS, Flowlet, FlowletTable, Header, Port, Ports,
    Scheme, Step, SwitchInfo, hash::pick_hop, mix,
};
use heddle_units::Time;

/// LetItFlow's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(default, deny_unknown_fields)
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename = "LetItFlow"))]
pub struct LetItFlowConfig {
    /// Silence longer than this ends a flowlet. Default: 500us (the paper's, and CONGA's).
    pub flowlet_gap: Time,
    /// Slots of a switch's flowlet table, rounded up to a power of two. Default: 65536 (CONGA
    /// section 3.4).
    pub flowlet_slots: u32,
}

impl Default for LetItFlowConfig {
    fn default() -> LetItFlowConfig {
        LetItFlowConfig { flowlet_gap: Time::micros(500), flowlet_slots: FLOWLET_SLOTS }
    }
}

/// A switch running LetItFlow.
#[derive(Clone, Debug)]
pub struct LetItFlow {
    salt: u32,
    flowlets: FlowletTable,
}

impl Scheme for LetItFlow {
    type Config = LetItFlowConfig;
    const NEEDS_RANDOM: bool = true;

    fn new(config: &LetItFlowConfig, info: &SwitchInfo) -> LetItFlow {
        let flowlets = FlowletTable::new(config.flowlet_slots, config.flowlet_gap);
        LetItFlow { salt: info.salt, flowlets }
    }

    #[inline]
    fn forward(
        &mut self,
        step: Step,
        packet: &mut Header,
        next_hops: &[Port],
        _ports: &mut impl Ports,
    ) -> Port {
        let hash = mix(packet.flow_hash, self.salt);
        if let Flowlet::Running(port) = self.flowlets.touch(hash, step.now, next_hops) {
            return port;
        }
        let port = pick_hop(step.rnd, next_hops);
        self.flowlets.assign(hash, port);
        port
    }

    fn state_bytes(&self) -> usize {
        self.flowlets.state_bytes()
    }

    fn counters(&self) -> Counters {
        self.flowlets.counters()
    }
}

impl DigestState for LetItFlow {
    fn digest_state(&self, digest: &mut Digest) {
        self.flowlets.digest(digest, |()| []);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{FakePorts, Random, chi_square, packet, switch_info};

    const HOPS: [Port; 4] = [Port(0), Port(1), Port(2), Port(3)];
    const GAP: crate::Nanos = 100_000;

    fn switch() -> LetItFlow {
        LetItFlow::new(
            &LetItFlowConfig { flowlet_gap: Time::nanos(GAP), flowlet_slots: 64 },
            &switch_info(1),
        )
    }

    /// Ports of a flow's packets with `gap` between them.
    fn run(gap: crate::Nanos, packets: u64) -> alloc::vec::Vec<Port> {
        let (mut switch, mut random) = (switch(), Random(1));
        let mut port = |i| {
            let step = random.step(i * gap);
            switch.forward(step, &mut packet(9, 1), &HOPS, &mut FakePorts::default())
        };
        (0..packets).map(&mut port).collect()
    }

    #[test]
    fn packets_within_the_gap_stay_on_one_port() {
        assert!(run(GAP, 1000).windows(2).all(|pair| pair[0] == pair[1]));
    }

    #[test]
    fn flowlets_are_spread_evenly() {
        let mut counts = [0u32; 4];
        for port in run(GAP + 1, 40_000) {
            counts[usize::from(port.0)] += 1;
        }
        assert!(chi_square(&counts) < 16.27, "p < 0.001 for 3 degrees: {counts:?}");
    }

    #[test]
    fn flowlets_do_not_remember_each_other() {
        let ports = run(GAP + 1, 40_000);
        let mut pairs = [0u32; 16];
        for pair in ports.chunks_exact(2) {
            pairs[usize::from(pair[0].0 * 4 + pair[1].0)] += 1;
        }
        assert!(chi_square(&pairs) < 37.70, "p < 0.001 for 15 degrees: {pairs:?}");
    }

    #[test]
    fn flows_that_collide_are_never_sent_where_they_cannot_go() {
        let config = LetItFlowConfig { flowlet_gap: Time::nanos(GAP), flowlet_slots: 1 };
        let (mut switch, mut random) = (LetItFlow::new(&config, &switch_info(1)), Random(1));
        let groups: [&[Port]; 3] = [&[Port(0)], &[Port(0), Port(1)], &[Port(2), Port(3)]];
        for now in 0..1000 {
            let hops = groups[now as usize % 3];
            let step = random.step(now);
            let mut header = packet(now as u32, 1);
            let port = switch.forward(step, &mut header, hops, &mut FakePorts::default());
            assert!(hops.contains(&port), "{port:?} at {now}");
        }
    }
}
