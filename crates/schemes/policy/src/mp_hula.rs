//! MP-HULA (Hernandez Benet et al., NetCompute 2018): HULA with the k best next hops of each ToR, and the subflows of one MPTCP
//! connection on different ones.
//!
//! A ToR learns from handshakes which subflows belong together (module `association`) and tells the other switches by
//! a shim on the packets of connections that have more than one subflow ([`Header::shim`]). Each switch then gives a new flowlet
//! its hop (sections 2.4 and 2.5):
//!
//! - without a shim: the best hop, as HULA;
//! - the first subflow: the best hop, even if another subflow is there, "which is important for short flows";
//! - another subflow: the best of the k hops that no other live subflow of the connection uses; if all are in use, the best.
//!   (The text assigns hop_1 and calls it round robin; the talk's figure says "e.g. round-robin".)
//!
//! What the papers leave open:
//!
//! - Only hops among the packet's next hops count, and with local detection only those that are up. If none of the k is left,
//!   it is HULA's fallback to the ECMP hash, counted.
//! - A subflow uses the hop of its running flowlet, and none when that has ended (module `subflows`).
//! - The first subflow's flowlet mostly began before the connection had a second one, without a shim. The first packet with
//!   one makes it the subflow's, or the second subflow would not see it.
//! - Flowlets that collide are shared as in HULA. The subflow that began one owns it.
//!
//! With k = 1 it decides as [`crate::Hula`] does, decision for decision.

use crate::{
    AssociationConfig, Counters, DreShift, Flowlet, Handshake, Header, HulaConfig, Ingress, Nanos,
    Port, Ports, Probe, ProbeArrival, Scheme, Step, Subflow, SwitchInfo, Tor,
    association::Association,
    best_hops::BestHops,
    mix,
    subflows::{BYTES_PER_OWNER, OwnedFlowlets, Owner, SubflowTable},
};

/// Bytes of the paper's best-hop tables for each ToR and hop.
const PAPER_BYTES_PER_HOP: u64 = 16;

/// Bytes of the paper's tables for each subflow: flowlets (25), subflow mapping (13).
const PAPER_BYTES_PER_SUBFLOW: u64 = 25 + 13;

/// A switch's forwarding state by the paper's count (section 2.6), in bytes: `k` best hops to each of `tors` ToRs, and
/// `connections` of `subflows` each.
pub const fn paper_forwarding_bytes(tors: u64, k: u64, connections: u64, subflows: u64) -> u64 {
    PAPER_BYTES_PER_HOP * tors * k + PAPER_BYTES_PER_SUBFLOW * connections * subflows
}

/// Whether long flows may take the best hop (the paper's future work: priorities for short flows).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LongFlows {
    /// All flows alike, as in the paper.
    #[default]
    Alike,
    /// Connections of more than one subflow are long. All their subflows leave the best hop to others and choose among the
    /// hops from the second on; the best is theirs only if it is the only one. To keep n subflows apart, k must be n + 1.
    YieldBest,
}

/// MP-HULA's parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MpHulaConfig {
    /// HULA's.
    pub hula: HulaConfig,
    /// Next hops remembered for each ToR, at least 1.
    pub best_k: usize,
    /// Rows of the subflow mapping tables: a row serves one connection in one direction.
    pub mapping_rows: usize,
    /// The ToR's association tables.
    pub association: AssociationConfig,
    /// Whether long flows may take the best hop.
    pub long_flows: LongFlows,
}

/// A switch running MP-HULA.
#[derive(Clone, Debug)]
pub struct MpHula {
    config: MpHulaConfig,
    salt: u32,
    tor: Option<Tor>,
    best: BestHops,
    flowlets: OwnedFlowlets,
    subflows: SubflowTable,
    /// At a ToR only.
    association: Option<Association>,
    counters: Counters,
}

impl MpHula {
    /// The next hops towards `tor` with their utilisations in the probe's quantisation, best first; at most k.
    pub fn best_hops(&self, tor: Tor) -> impl Iterator<Item = (Port, u16)> {
        self.best.ranked(tor)
    }

    /// Gives a packet from a host the shim of its subflow, if its connection has more than one.
    #[inline]
    fn mark(&mut self, now: Nanos, packet: &mut Header) {
        if let (Ingress::Host, Some(association)) = (packet.ingress, &mut self.association) {
            packet.shim = association.shim(now, packet.flow_hash);
            self.counters.shims += u64::from(packet.shim.is_some());
        }
    }

    /// Starts a flowlet on its hop.
    fn begin(
        &mut self,
        now: Nanos,
        hash: u32,
        packet: &Header,
        hops: &[Port],
        ports: &mut impl Ports,
    ) -> Port {
        let owner = owner(packet);
        let port = self.choose(now, packet.dst_tor, owner, hops, ports).unwrap_or_else(|| {
            self.counters.fallbacks += 1;
            self.config.hula.fall_back(hash, hops, ports)
        });
        self.flowlets.assign_to(hash, port, owner);
        self.note(hash, owner);
        port
    }

    /// A running flowlet that began without a shim becomes the subflow's.
    #[inline]
    fn adopt(&mut self, hash: u32, packet: &Header) {
        let owner = owner(packet);
        if owner.is_some() && self.flowlets.adopt(hash, owner) {
            self.note(hash, owner);
        }
    }

    fn note(&mut self, hash: u32, owner: Option<Owner>) {
        if let Some(owner) = owner {
            self.subflows.map(owner, self.flowlets.slot_number(hash));
        }
    }

    /// The best known hop that the flowlet may take; `None` if none is known.
    fn choose(
        &mut self,
        now: Nanos,
        tor: Tor,
        owner: Option<Owner>,
        hops: &[Port],
        ports: &mut impl Ports,
    ) -> Option<Port> {
        let allowed = |port: &Port| hops.contains(port) && self.config.hula.usable(*port, ports);
        let mut known = self.best.ranked(tor).map(|(port, _)| port).filter(allowed);
        let best = known.next()?;
        let Some(owner) = owner else { return Some(best) };
        let yields = self.config.long_flows == LongFlows::YieldBest;
        if !yields && owner.shim.subflow == Subflow::FIRST {
            return Some(best);
        }
        let head = if yields { known.next().unwrap_or(best) } else { best };
        let others = self.subflows.hops_of_others(owner, &self.flowlets, now);
        let is_free = |port: &Port| others.clone().all(|other| other != *port);
        let free = core::iter::once(head).chain(known).find(is_free);
        self.counters.shared += u64::from(free.is_none());
        Some(free.unwrap_or(head))
    }
}

/// Whose a packet's flowlet is, if it has a shim.
#[inline]
fn owner(packet: &Header) -> Option<Owner> {
    packet.shim.map(|shim| Owner { shim, tor: packet.dst_tor })
}

impl Scheme for MpHula {
    type Config = MpHulaConfig;
    const NEEDS_UTILISATION: bool = true;
    const READS_HANDSHAKES: bool = true;
    const USES_SHIM: bool = true;

    fn new(config: &MpHulaConfig, info: &SwitchInfo) -> MpHula {
        let HulaConfig { flowlet_slots, flowlet_gap, .. } = config.hula;
        MpHula {
            config: config.clone(),
            salt: info.salt,
            tor: info.tor,
            best: BestHops::new(info.tors.into(), config.best_k),
            flowlets: OwnedFlowlets::new(flowlet_slots, flowlet_gap),
            subflows: SubflowTable::new(config.mapping_rows),
            association: info.tor.map(|_| Association::new(&config.association, info.salt)),
            counters: Counters::default(),
        }
    }

    fn dre_shift(config: &MpHulaConfig) -> DreShift {
        config.hula.tau
    }

    fn probe_period(config: &MpHulaConfig) -> Option<Nanos> {
        Some(config.hula.probe_period)
    }

    fn handshake(&mut self, step: Step, seen: &Handshake<'_>) {
        if let Some(association) = &mut self.association {
            association.see(step.now, seen);
        }
    }

    #[inline]
    fn forward(
        &mut self,
        step: Step,
        packet: &mut Header,
        next_hops: &[Port],
        ports: &mut impl Ports,
    ) -> Port {
        self.mark(step.now, packet);
        let hash = mix(packet.flow_hash, self.salt);
        match self.flowlets.touch(hash, step.now, next_hops) {
            Flowlet::Running(port) if next_hops.len() == 1 => port,
            Flowlet::Running(port) if self.config.hula.usable(port, ports) => {
                self.adopt(hash, packet);
                port
            }
            _ => self.begin(step.now, hash, packet, next_hops, ports),
        }
    }

    fn egress(&mut self, _step: Step, packet: &mut Header) {
        packet.shim = None;
    }

    fn originate(&mut self, _step: Step) -> Option<Probe> {
        self.tor.map(|tor| Probe { tor, util: 0 })
    }

    fn probe(
        &mut self,
        step: Step,
        arrival: &ProbeArrival,
        ports: &mut impl Ports,
    ) -> Option<Probe> {
        self.counters.probes += 1;
        let ProbeArrival { port, probe: Probe { tor, .. }, is_next_hop } = *arrival;
        if self.tor == Some(tor) || !is_next_hop {
            return None;
        }
        let config = &self.config.hula;
        let path = config.path_util(arrival, ports);
        let util = self.best.offer(step.now, tor, port, path, config)?;
        let passes =
            self.tor.is_none() && self.best.claim_window(step.now, tor, config.probe_period);
        passes.then_some(Probe { tor, util })
    }

    fn state_bytes(&self) -> usize {
        let owners = self.flowlets.slots() * BYTES_PER_OWNER;
        let association = self.association.as_ref().map_or(0, Association::state_bytes);
        let forwarding = self.best.state_bytes() + self.flowlets.state_bytes() + owners;
        forwarding + self.subflows.state_bytes() + association
    }

    fn counters(&self) -> Counters {
        let Counters { flowlets, moves, .. } = self.flowlets.counters();
        let association = self.association.as_ref().map(Association::counters).unwrap_or_default();
        Counters { flowlets, moves, association, ..self.counters }
    }
}

#[cfg(test)]
mod tests;
