//! Shuttle (Heddle's own): MP-HULA with a random choice by present congestion in place of the best
//! hop of the last probe.
//!
//! Under MP-HULA all flowlets that a switch starts within a probe period go to one hop, by a figure
//! that lags by more than a period: they herd. Shuttle has the tables of MP-HULA and differs in
//! three rules:
//!
//! - A probe's figure is stored as it arrives, without the switch's own link: the remote figure. It
//!   counts the queue of a link beside its utilisation, where a queue of `full_queue` bytes counts
//!   as a full link. The own link is read when a flowlet starts.
//! - The cost of a hop is max(remote figure, own utilisation now) + own queue. Figures and costs
//!   tell up to `range` full links apart.
//! - A flowlet takes a hop at random, with a weight of (1 - cost / range)^2, so that an old figure
//!   moves a share of the flowlets and not all of them. Of `draws` such draws the one whose own
//!   port has the lowest utilisation and queue counts.
//!
//! A subflow of an MPTCP connection chooses among the hops that no other live subflow of the
//! connection uses, and among all if there is none, as do packets without a shim. (MP-HULA lets the
//! first subflow share a hop, so that it has the best one; here no hop is the best.) Handshakes,
//! shims, flowlets and mappings are MP-HULA's, and what the papers leave open is decided as in
//! [`crate::MpHula`].
//!
//! A running flowlet stays on its hop.
//!
//! Weights are drawn by a weighted reservoir sample of size 1 (Chao 1982): one pass over the hops
//! with a running sum, no division.

use crate::{
    Counters, Digest, DigestState, DreShift, Flowlet, Handshake, Header, HulaConfig,
    MptcpTablesConfig, Nanos, Port, Ports, Probe, ProbeArrival, Scheme, Step, Subflow, SwitchInfo,
    Tor,
    hop_table::HopTable,
    mptcp_tables::{MptcpTables, owner},
    quantise,
    subflows::FlowletOwner,
};
use heddle_units::{Bytes, Time};

mod choice;
mod hops;

use choice::{Candidate, Choice, FULL};

/// Time constant of Shuttle's estimator: its own figure is read at each choice, not once a probe
/// period.
const TAU: Time = Time::micros(100);

/// Greatest number of bytes of a full queue, as a power of two.
const MOST_QUEUE_SHIFT: u32 = 31;

/// Most full links that figures tell apart, as a power of two.
const MOST_RANGE_SHIFT: u32 = 8;

/// Rule by which a flowlet takes one of the hops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(rename_all = "kebab-case")
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum ShuttleChoice {
    /// At random, by weight.
    #[default]
    Weighted,
    /// The least cost.
    Least,
}

/// Hops of the subflows of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(rename_all = "kebab-case")
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum ShuttleSubflows {
    /// Each subflow avoids the hops of the others.
    #[default]
    Apart,
    /// Each but the first does, as in MP-HULA.
    FirstFree,
    /// Each chooses alone.
    Alike,
}

/// Shuttle's parameters: HULA's, those of its tables, and its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(deny_unknown_fields)
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename = "Shuttle"))]
pub struct ShuttleConfig {
    /// Its tables.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub tables: MptcpTablesConfig,
    /// Its own.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub rules: ShuttleRules,
    /// Without `update`, and with another default of `tau`: 100us, half of a probe period.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub hula: HulaConfig,
}

/// Parameters that Shuttle alone has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(default, deny_unknown_fields)
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ShuttleRules {
    /// The own queue that counts as a full link, rounded up to a power of two. Default: "65.536KB"
    /// (about 45 full packets, the buffer's sixth).
    pub full_queue: Bytes,
    /// Full links that figures in probes and costs of hops tell apart: 1, 2, 4 or 8. 1: figures are
    /// the links' utilisation alone, as HULA's; else their queues count too. Default: 2.
    pub range: u16,
    /// Random draws, of which the one with the least loaded port counts: 1 or 2. Default: 1.
    pub draws: u8,
    /// Rule by which a flowlet takes one of the hops. Default: "weighted".
    pub choice: ShuttleChoice,
    /// Hops of the subflows of one connection. Default: "apart".
    pub subflows: ShuttleSubflows,
}

impl Default for ShuttleRules {
    fn default() -> ShuttleRules {
        ShuttleRules {
            full_queue: Bytes(65_536),
            range: 2,
            draws: 1,
            choice: ShuttleChoice::Weighted,
            subflows: ShuttleSubflows::Apart,
        }
    }
}

impl ShuttleRules {
    /// Logarithm to base 2 of the queue in bytes that counts as a full link, at most 31.
    pub fn full_queue_shift(&self) -> u32 {
        self.full_queue.0.min(1 << MOST_QUEUE_SHIFT).next_power_of_two().trailing_zeros()
    }

    /// Logarithm to base 2 of the full links that figures and costs tell apart, at most 8.
    pub fn range_shift(&self) -> u32 {
        self.range.min(1 << MOST_RANGE_SHIFT).next_power_of_two().trailing_zeros()
    }
}

impl ShuttleConfig {
    /// The estimator's time constant, the default if none is given.
    pub fn tau(&self) -> Time {
        self.hula.tau.unwrap_or(TAU)
    }

    /// The parameters as a switch runs by them: with every default, and tables of their real size.
    #[must_use]
    pub fn as_run(&self) -> ShuttleConfig {
        let rules = ShuttleRules {
            full_queue: Bytes(1 << self.rules.full_queue_shift()),
            range: 1 << self.rules.range_shift(),
            ..self.rules
        };
        let hula = HulaConfig { tau: Some(self.tau()), ..self.hula.as_run() };
        ShuttleConfig { tables: self.tables.as_run(), rules, hula }
    }
}

/// A switch running Shuttle.
#[derive(Clone, Debug)]
pub struct Shuttle {
    config: ShuttleConfig,
    tor: Option<Tor>,
    /// With the remote figures, in no order.
    hops: HopTable,
    mptcp: MptcpTables,
    counters: Counters,
}

impl Shuttle {
    /// The next hops towards `tor` with their remote figures in the probe's quantisation, in no
    /// order; at most k.
    pub fn remote_figures(&self, tor: Tor) -> impl Iterator<Item = (Port, u16)> {
        self.hops.known(tor)
    }

    /// Starts a flowlet on its hop.
    fn start_flowlet(
        &mut self,
        step: Step,
        hash: u32,
        packet: &Header,
        hops: &[Port],
        ports: &mut impl Ports,
    ) -> Port {
        let owner = owner(packet);
        let port = self.choose(step, packet.dst_tor, owner, hops, ports).unwrap_or_else(|| {
            self.counters.fallbacks += 1;
            self.config.hula.fall_back(hash, hops, ports)
        });
        self.mptcp.assign(hash, port, owner);
        port
    }

    /// A known hop that the flowlet may take; `None` if none is known.
    fn choose(
        &mut self,
        step: Step,
        tor: Tor,
        owner: Option<FlowletOwner>,
        hops: &[Port],
        ports: &mut impl Ports,
    ) -> Option<Port> {
        let others = self.avoided(owner, step.now);
        let mut choice = Choice::new(&self.config, step.rnd);
        for (port, remote) in self.hops.known(tor) {
            if !hops.contains(&port) || !self.config.hula.usable(port, ports) {
                continue;
            }
            let shared = others.clone().any(|other| other == port);
            choice.offer(&self.candidate(port, remote, shared, ports));
        }
        drop(others);
        let (port, shared) = choice.result()?;
        self.counters.shared += u64::from(shared);
        Some(port)
    }

    /// The hops that a flowlet avoids: those of the connection's other subflows.
    fn avoided(
        &self,
        owner: Option<FlowletOwner>,
        now: Nanos,
    ) -> impl Iterator<Item = Port> + Clone {
        let avoids = owner.filter(|owner| match self.config.rules.subflows {
            ShuttleSubflows::Apart => true,
            ShuttleSubflows::FirstFree => owner.shim.subflow != Subflow::FIRST,
            ShuttleSubflows::Alike => false,
        });
        avoids.map(|owner| self.mptcp.hops_of_others(owner, now)).into_iter().flatten()
    }

    fn candidate(
        &self,
        port: Port,
        remote: u16,
        shared: bool,
        ports: &mut impl Ports,
    ) -> Candidate {
        let remote = self.links(remote);
        let local_util = u32::from(ports.tx_util(port));
        let queue = self.queue(port, ports);
        let cost = (remote.max(local_util) + queue) >> self.range_shift();
        Candidate { port, shared, cost, local: local_util + queue }
    }

    /// A remote figure in units of which 2^16 is a full link.
    fn links(&self, remote: u16) -> u32 {
        let shift = 16 - u32::from(self.config.hula.util_bits).clamp(1, 16);
        (u32::from(remote) << shift).min(FULL - 1) << self.range_shift()
    }

    fn range_shift(&self) -> u32 {
        self.config.rules.range_shift()
    }

    /// The queue of an own port, of which 2^16 is a full link; at most the range.
    fn queue(&self, port: Port, ports: &mut impl Ports) -> u32 {
        let queue =
            (u64::from(ports.queue_bytes(port)) << 16) >> self.config.rules.full_queue_shift();
        queue.min(u64::from(FULL) << self.range_shift()) as u32
    }

    /// The own link as a probe tells it, of which 2^16 is the range.
    fn own_figure(&self, port: Port, ports: &mut impl Ports) -> u16 {
        let util = ports.tx_util(port);
        if self.range_shift() == 0 {
            return util;
        }
        let figure = (u32::from(util) + self.queue(port, ports)) >> self.range_shift();
        figure.min(FULL - 1) as u16
    }
}

impl Scheme for Shuttle {
    type Config = ShuttleConfig;
    const NEEDS_RANDOM: bool = true;
    const NEEDS_UTILISATION: bool = true;
    const READS_HANDSHAKES: bool = true;
    const USES_SHIM: bool = true;

    fn new(config: &ShuttleConfig, info: &SwitchInfo) -> Shuttle {
        let ShuttleConfig { hula, tables, .. } = config;
        Shuttle {
            config: *config,
            tor: info.tor,
            hops: HopTable::new(info.tors.into(), tables.best_k.into()),
            mptcp: MptcpTables::new(info, hula, tables),
            counters: Counters::default(),
        }
    }

    fn dre_shift(config: &ShuttleConfig) -> DreShift {
        DreShift::at_least(config.tau().as_nanos())
    }

    fn probe_period(config: &ShuttleConfig) -> Option<Nanos> {
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
                self.mptcp.adopt(hash, packet);
                port
            }
            _ => self.start_flowlet(step, hash, packet, next_hops, ports),
        }
    }

    fn egress(&mut self, _step: Step, packet: &mut Header) {
        packet.shim = None;
    }

    fn originate(&mut self, _step: Step) -> Option<Probe> {
        self.tor.map(|tor| Probe { tor, util: 0 })
    }

    /// Stores the probe's figure. What goes on is the least of max(remote figure, own utilisation
    /// now) over the hops known.
    fn probe(
        &mut self,
        step: Step,
        arrival: &ProbeArrival,
        ports: &mut impl Ports,
    ) -> Option<Probe> {
        self.counters.probes += 1;
        let ProbeArrival { port, probe: Probe { tor, util }, is_next_hop } = *arrival;
        if self.tor == Some(tor) || !is_next_hop {
            return None;
        }
        let config = &self.config.hula;
        let fail_after = config.fail_after().as_nanos();
        let known = hops::update(&mut self.hops, step.now, tor, (port, util), fail_after);
        let passes = known
            && self.tor.is_none()
            && self.hops.try_forward(step.now, tor, config.probe_period.as_nanos());
        if !passes {
            return None;
        }
        let path = |(port, remote): (Port, u16)| {
            remote.max(quantise(self.own_figure(port, ports), config.util_bits.into()))
        };
        let util = self.hops.known(tor).map(path).min()?;
        Some(Probe { tor, util })
    }

    fn state_bytes(&self) -> usize {
        self.hops.state_bytes() + self.mptcp.state_bytes()
    }

    fn counters(&self) -> Counters {
        [self.counters, self.mptcp.counters()].into_iter().sum()
    }
}

impl DigestState for Shuttle {
    fn digest_state(&self, digest: &mut Digest) {
        self.hops.digest(digest);
        self.mptcp.digest(digest);
    }
}

#[cfg(test)]
mod tests;
