//! HULA (Katta et al., SOSR 2016): probes carry the utilisation of the best path; each flowlet
//! takes the best next hop.
//!
//! Decisions on details that the paper leaves open:
//!
//! - A probe from the best hop itself always refreshes its entry, up or down (section 5.3; the
//!   printed listing is kept as [`Update::Listing`]). A tie keeps the best hop, as in figure 3b.
//! - Replication is suppressed by a window of 7/8 of the probe period: probes are periodic, and
//!   "more than T_p ago" met with equality would let every second one through.
//! - Before the first probe, and if the best hop is not among a packet's next hops, the ECMP hash
//!   selects the hop; such flowlets are counted as fallbacks.

use alloc::{boxed::Box, vec};

use crate::{
    Counters, Digest, DigestState, DreShift, FLOWLET_SLOTS, Flowlet, FlowletTable, Header, Nanos,
    Port, Ports, Probe, ProbeArrival, Scheme, Step, SwitchInfo, Tor, mix, pick, quantise,
    table_size,
};
use heddle_units::Time;

mod suppression;

pub(crate) use suppression::ProbeSuppression;

/// Switch bytes per destination ToR: utilisation (2), best hop (2), update and last-sent times (6
/// each).
const BYTES_PER_TOR: usize = 16;

/// HULA's update rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(rename_all = "kebab-case")
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Update {
    /// Lower, stale, or from the best hop itself (HULA section 5.3).
    #[default]
    Refresh,
    /// Lower or stale, as in the paper's listing.
    Listing,
}

/// HULA's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(default, deny_unknown_fields)
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename = "Hula"))]
pub struct HulaConfig {
    /// Silence longer than this ends a flowlet. Default: 100us (HULA section 6).
    pub flowlet_gap: Time,
    /// Slots of a switch's flowlet table, rounded up to a power of two. Default: 65536 (CONGA
    /// section 3.4; HULA gives none).
    pub flowlet_slots: u32,
    /// T_p, time between two probes of a ToR. Default: 200us (HULA section 6).
    pub probe_period: Time,
    /// T_fail: a best hop that no probe has refreshed for longer gives way to any other. Default: 3
    /// probe periods (HULA gives none; two lost probes are forgiven).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub fail_after: Option<Time>,
    /// Time constant of the utilisation estimator. Default: 2 probe periods (HULA section 4.2: at
    /// least twice the period). A switch shifts instead of dividing: it runs with the next power of
    /// two in nanoseconds (400us as 524us).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub tau: Option<Time>,
    /// Bits of the probe's utilisation field, 1 to 16. Default: 8 (HULA section 4.2).
    pub util_bits: u8,
    /// Condition on which a probe replaces the best hop. Default: "refresh".
    pub update: Update,
    /// True if a switch avoids its own ports that are down. Default: false (HULA learns of failures
    /// from missing probes).
    pub local_detection: bool,
}

impl Default for HulaConfig {
    fn default() -> HulaConfig {
        HulaConfig {
            flowlet_gap: Time::micros(100),
            flowlet_slots: FLOWLET_SLOTS,
            probe_period: Time::micros(200),
            fail_after: None,
            tau: None,
            util_bits: 8,
            update: Update::Refresh,
            local_detection: false,
        }
    }
}

impl HulaConfig {
    /// T_fail, the default if none is given.
    pub fn fail_after(&self) -> Time {
        self.fail_after.unwrap_or_else(|| {
            self.probe_period.saturating_add(self.probe_period).saturating_add(self.probe_period)
        })
    }

    /// The estimator's time constant, the default if none is given.
    pub fn tau(&self) -> Time {
        self.tau.unwrap_or_else(|| self.probe_period.saturating_add(self.probe_period))
    }

    /// The parameters as a switch runs by them: with every default, and tables of their real size.
    #[must_use]
    pub fn as_run(&self) -> HulaConfig {
        HulaConfig {
            flowlet_slots: table_size(self.flowlet_slots),
            fail_after: Some(self.fail_after()),
            tau: Some(self.tau()),
            ..*self
        }
    }

    /// True if `port` may be used: always without local detection, otherwise if the port is up.
    #[inline]
    pub(crate) fn usable(&self, port: Port, ports: &mut impl Ports) -> bool {
        !self.local_detection || ports.is_up(port)
    }

    /// Utilisation of a probe's path, including this switch's link.
    pub(crate) fn path_util(&self, arrival: &ProbeArrival, ports: &mut impl Ports) -> u16 {
        let link = quantise(ports.tx_util(arrival.port), self.util_bits.into());
        arrival.probe.util.max(link)
    }

    /// ECMP's hop for `hash`, or the next usable hop after it; ECMP's hop if none is usable.
    pub(crate) fn fall_back(&self, hash: u32, hops: &[Port], ports: &mut impl Ports) -> Port {
        let (before, from) = hops.split_at(pick(hash, hops.len()));
        let mut in_turn = from.iter().chain(before).copied();
        in_turn.find(|&port| self.usable(port, ports)).unwrap_or(from[0])
    }
}

#[derive(Clone, Copy, Debug)]
struct BestHop {
    port: Option<Port>,
    util: u16,
    updated: Nanos,
    suppression: ProbeSuppression,
}

impl BestHop {
    const UNKNOWN: BestHop =
        BestHop { port: None, util: u16::MAX, updated: 0, suppression: ProbeSuppression::IDLE };

    /// Updates the entry to `util` on `port` if it is lower or the entry is stale (section 4.2,
    /// figure 3b lines 6-12).
    fn update(&mut self, now: Nanos, port: Port, util: u16, config: &HulaConfig) {
        let stale = now.saturating_sub(self.updated) > config.fail_after().as_nanos();
        let refreshed = config.update == Update::Refresh && self.port == Some(port);
        if self.port.is_none() || util < self.util || stale || refreshed {
            (self.port, self.util, self.updated) = (Some(port), util, now);
        }
    }
}

/// A switch running HULA.
#[derive(Clone, Debug)]
pub struct Hula {
    config: HulaConfig,
    salt: u32,
    tor: Option<Tor>,
    best: Box<[BestHop]>,
    flowlets: FlowletTable,
    fallbacks: u64,
    probes: u64,
}

impl Hula {
    /// Best next hop towards `tor` and its utilisation in the probe's quantisation; `None` before
    /// the first probe.
    pub fn best_hop(&self, tor: Tor) -> Option<(Port, u16)> {
        let entry = self.best.get(usize::from(tor.0))?;
        entry.port.map(|port| (port, entry.util))
    }

    fn choose(&mut self, packet: &Header, hops: &[Port], ports: &mut impl Ports) -> Port {
        match self.best_hop(packet.dst_tor) {
            Some((best, _)) if hops.contains(&best) && self.config.usable(best, ports) => best,
            _ => {
                self.fallbacks += 1;
                self.config.fall_back(mix(packet.flow_hash, self.salt), hops, ports)
            }
        }
    }
}

impl Scheme for Hula {
    type Config = HulaConfig;
    const NEEDS_UTILISATION: bool = true;

    fn new(config: &HulaConfig, info: &SwitchInfo) -> Hula {
        Hula {
            config: *config,
            salt: info.salt,
            tor: info.tor,
            best: vec![BestHop::UNKNOWN; usize::from(info.tors)].into_boxed_slice(),
            flowlets: FlowletTable::new(config.flowlet_slots, config.flowlet_gap),
            fallbacks: 0,
            probes: 0,
        }
    }

    fn dre_shift(config: &HulaConfig) -> DreShift {
        DreShift::at_least(config.tau().as_nanos())
    }

    fn probe_period(config: &HulaConfig) -> Option<Nanos> {
        Some(config.probe_period.as_nanos())
    }

    #[inline]
    fn forward(
        &mut self,
        step: Step,
        packet: &mut Header,
        next_hops: &[Port],
        ports: &mut impl Ports,
    ) -> Port {
        let hash = mix(packet.flow_hash, self.salt);
        match self.flowlets.touch(hash, step.now, next_hops) {
            Flowlet::Running(port) if next_hops.len() == 1 || self.config.usable(port, ports) => {
                port
            }
            _ => {
                let port = self.choose(packet, next_hops, ports);
                self.flowlets.assign(hash, port);
                port
            }
        }
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
        self.probes += 1;
        let ProbeArrival { port, probe: Probe { tor, .. }, is_next_hop } = *arrival;
        if self.tor == Some(tor) || !is_next_hop {
            return None;
        }
        let entry = self.best.get_mut(usize::from(tor.0))?;
        entry.update(step.now, port, self.config.path_util(arrival, ports), &self.config);
        let period = self.config.probe_period.as_nanos();
        let forwards = self.tor.is_none() && entry.suppression.try_forward(step.now, period);
        forwards.then_some(Probe { tor, util: entry.util })
    }

    fn state_bytes(&self) -> usize {
        self.best.len() * BYTES_PER_TOR + self.flowlets.state_bytes()
    }

    fn counters(&self) -> Counters {
        Counters { fallbacks: self.fallbacks, probes: self.probes, ..self.flowlets.counters() }
    }
}

impl DigestState for Hula {
    fn digest_state(&self, digest: &mut Digest) {
        for BestHop { port, util, updated, suppression } in &self.best {
            let port = port.map_or(u16::MAX, |port| port.0);
            digest.words(&[port.into(), (*util).into(), *updated]);
            suppression.digest(digest);
        }
        self.flowlets.digest(digest, |()| []);
    }
}

#[cfg(test)]
mod tests;
