//! MP-HULA (Hernandez Benet et al., NetCompute 2018): HULA with the k best next hops of each ToR,
//! and the subflows of one MPTCP connection on different ones.
//!
//! A ToR associates subflows by their handshakes (module `association`) and adds a shim
//! ([`Header::shim`]) for the other switches to the packets of connections with more than one
//! subflow. Each switch then assigns a hop to a new flowlet (sections 2.4 and 2.5):
//!
//! - without a shim: the best hop, as HULA;
//! - the first subflow: the best hop, even if another subflow is there, "which is important for
//!   short flows";
//! - another subflow: the best of the k hops that no other live subflow of the connection uses; if
//!   all are in use, the best. (The text assigns hop_1 and calls it round robin; the talk's figure
//!   says "e.g. round-robin".)
//!
//! Details that the papers leave open:
//!
//! - Only hops among the packet's next hops count, and with local detection only those that are up.
//!   If none of the k remains, HULA's fallback to the ECMP hash is used and counted.
//! - A subflow uses the hop of its running flowlet, and no hop after the flowlet has ended (module
//!   `subflows`).
//! - The first subflow's flowlet usually started before the connection had a second subflow,
//!   without a shim. The first packet with a shim assigns it to the subflow; otherwise the second
//!   subflow would not know of it.
//! - The first subflow can so come to a hop that another one uses, and both then share it until the
//!   other pauses. [`LongFlows::Apart`] ends the other's flowlet.
//! - Flowlets that collide are shared as in HULA. The subflow that started one owns it.
//!
//! With k = 1 every decision equals that of [`crate::Hula`].

use crate::{
    Counters, Digest, DigestState, DreShift, Flowlet, Handshake, Header, HulaConfig,
    MptcpTablesConfig, Nanos, Port, Ports, Probe, ProbeArrival, Scheme, Step, Subflow, SwitchInfo,
    Tor, best_hops,
    hop_table::HopTable,
    mptcp_tables::{MptcpTables, owner},
    subflows::FlowletOwner,
};

/// Bytes of the paper's best-hop tables for each ToR and hop.
const PAPER_BYTES_PER_HOP: u64 = 16;

/// Bytes of the paper's tables for each subflow: flowlets (25), subflow mapping (13).
const PAPER_BYTES_PER_SUBFLOW: u64 = 25 + 13;

/// Forwarding state of a switch in bytes by the paper's calculation (section 2.6): `k` best hops to
/// each of `tors` ToRs, and `connections` of `subflows` each.
pub const fn paper_forwarding_bytes(tors: u64, k: u64, connections: u64, subflows: u64) -> u64 {
    PAPER_BYTES_PER_HOP * tors * k + PAPER_BYTES_PER_SUBFLOW * connections * subflows
}

/// Treatment of connections of several subflows: may they take the best hop?
// The paper's future work: priorities for short flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(rename_all = "kebab-case")
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum LongFlows {
    /// Yes, as all others.
    #[default]
    Alike,
    /// They leave it to others, while they have another hop.
    // Connections of more than one subflow count as long. All their subflows use the hops from the
    // second on; they use the best hop only if it is the only one. To keep n subflows on different
    // hops, k must be n + 1.
    YieldBest,
    /// As all others, and further subflows leave the hop that the first one takes.
    // A further subflow's flowlet ends at once, and its next packet chooses again. Without this
    // rule two subflows share a hop until the further one pauses, if the first was identified after
    // the other had its hop, or started a new flowlet since. With k = 1 there is no other hop, and
    // no flowlet ends.
    Apart,
}

/// MP-HULA's parameters: HULA's, those of its tables, and its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(deny_unknown_fields)
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename = "MpHula"))]
pub struct MpHulaConfig {
    /// Its tables.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub tables: MptcpTablesConfig,
    /// Its own.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub rules: MpHulaRules,
    /// HULA's.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub hula: HulaConfig,
}

/// Parameters that MP-HULA alone has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(default, deny_unknown_fields)
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct MpHulaRules {
    /// Treatment of connections of several subflows, the long ones: may they take the best hop?
    /// Default: "alike".
    pub long_flows: LongFlows,
}

impl MpHulaConfig {
    /// The parameters as a switch runs by them: with every default, and tables of their real size.
    #[must_use]
    pub fn as_run(&self) -> MpHulaConfig {
        MpHulaConfig { tables: self.tables.as_run(), hula: self.hula.as_run(), ..*self }
    }
}

/// A switch running MP-HULA.
#[derive(Clone, Debug)]
pub struct MpHula {
    config: MpHulaConfig,
    tor: Option<Tor>,
    /// Best first.
    best: HopTable,
    mptcp: MptcpTables,
    counters: Counters,
}

impl MpHula {
    /// The next hops towards `tor` with their utilisations in the probe's quantisation, best first;
    /// at most k.
    pub fn best_hops(&self, tor: Tor) -> impl Iterator<Item = (Port, u16)> {
        self.best.known(tor)
    }

    /// Starts a flowlet on its hop.
    fn start_flowlet(
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
        self.mptcp.assign(hash, port, owner);
        self.clear_hop(now, owner, port);
        port
    }

    /// Makes others leave `port`, which its flowlet has taken, if they must.
    fn clear_hop(&mut self, now: Nanos, owner: Option<FlowletOwner>, port: Port) {
        let apart =
            self.config.rules.long_flows == LongFlows::Apart && self.config.tables.best_k > 1;
        let first = owner.filter(|owner| apart && owner.shim.subflow == Subflow::FIRST);
        if let Some(first) = first {
            self.mptcp.end_others(first, now, port);
        }
    }

    /// The best known hop that the flowlet may take; `None` if none is known.
    fn choose(
        &mut self,
        now: Nanos,
        tor: Tor,
        owner: Option<FlowletOwner>,
        hops: &[Port],
        ports: &mut impl Ports,
    ) -> Option<Port> {
        let allowed = |port: &Port| hops.contains(port) && self.config.hula.usable(*port, ports);
        let mut known = self.best.known(tor).map(|(port, _)| port).filter(allowed);
        let best = known.next()?;
        let Some(owner) = owner else { return Some(best) };
        let yields = self.config.rules.long_flows == LongFlows::YieldBest;
        if !yields && owner.shim.subflow == Subflow::FIRST {
            return Some(best);
        }
        let head = if yields { known.next().unwrap_or(best) } else { best };
        let others = self.mptcp.hops_of_others(owner, now);
        let is_free = |port: &Port| others.clone().all(|other| other != *port);
        let free = core::iter::once(head).chain(known).find(is_free);
        self.counters.shared += u64::from(free.is_none());
        Some(free.unwrap_or(head))
    }
}

impl Scheme for MpHula {
    type Config = MpHulaConfig;
    const NEEDS_UTILISATION: bool = true;
    const READS_HANDSHAKES: bool = true;
    const USES_SHIM: bool = true;

    fn new(config: &MpHulaConfig, info: &SwitchInfo) -> MpHula {
        let MpHulaConfig { hula, tables, .. } = config;
        MpHula {
            config: *config,
            tor: info.tor,
            best: HopTable::new(info.tors.into(), tables.best_k.into()),
            mptcp: MptcpTables::new(info, hula, tables),
            counters: Counters::default(),
        }
    }

    fn dre_shift(config: &MpHulaConfig) -> DreShift {
        DreShift::at_least(config.hula.tau().as_nanos())
    }

    fn probe_period(config: &MpHulaConfig) -> Option<Nanos> {
        Some(config.hula.probe_period.as_nanos())
    }

    fn handshake(&mut self, step: Step, packet: &Handshake<'_>) {
        self.mptcp.observe(step.now, packet);
    }

    #[inline]
    fn forward(
        &mut self,
        step: Step,
        packet: &mut Header,
        next_hops: &[Port],
        ports: &mut impl Ports,
    ) -> Port {
        self.mptcp.add_shim(step.now, packet);
        let hash = self.mptcp.hash(packet);
        match self.mptcp.touch(hash, step.now, next_hops) {
            Flowlet::Running(port) if next_hops.len() == 1 => port,
            Flowlet::Running(port) if self.config.hula.usable(port, ports) => {
                let adopter = self.mptcp.adopt(hash, packet);
                self.clear_hop(step.now, adopter, port);
                port
            }
            _ => self.start_flowlet(step.now, hash, packet, next_hops, ports),
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
        let util = best_hops::update(&mut self.best, step.now, tor, (port, path), config)?;
        let passes = self.tor.is_none()
            && self.best.try_forward(step.now, tor, config.probe_period.as_nanos());
        passes.then_some(Probe { tor, util })
    }

    fn state_bytes(&self) -> usize {
        self.best.state_bytes() + self.mptcp.state_bytes()
    }

    fn counters(&self) -> Counters {
        [self.counters, self.mptcp.counters()].into_iter().sum()
    }
}

impl DigestState for MpHula {
    fn digest_state(&self, digest: &mut Digest) {
        self.best.digest(digest);
        self.mptcp.digest(digest);
    }
}

#[cfg(test)]
mod tests;
