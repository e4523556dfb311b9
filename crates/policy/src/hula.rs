//! HULA (Katta et al., SOSR 2016): probes carry the utilisation of the best path; each flowlet takes the best next hop.
//!
//! What the paper leaves open is settled here: a probe from the best hop itself always refreshes its entry, up or down
//! (section 5.3; the printed listing is kept as [`Update::Listing`]); replication is suppressed by a window a little shorter
//! than the probe period, for "more than T_p ago" met with equality would halve the rate.

use alloc::{boxed::Box, vec};

use crate::{
    Counters, DreShift, FlowletTable, Header, Nanos, Port, Ports, Probe, ProbeArrival, Scheme, Site,
    Step, Tor, Util, mix, pick,
};

/// Switch bytes per destination ToR: utilisation (2), best hop (2), update and last-sent times (6 each).
const BYTES_PER_TOR: usize = 16;

/// When a probe replaces or refreshes the best hop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Update {
    /// Lower, stale, or from the best hop itself (section 5.3).
    #[default]
    Refresh,
    /// Lower or stale only, as in the printed P4 listing (figure 3b), for study.
    Listing,
}

/// HULA's parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HulaConfig {
    /// T_p, time between two probes of a ToR.
    pub probe_period: Nanos,
    /// T_fail: an entry not refreshed for longer gives way to any other probe.
    pub fail_after: Nanos,
    /// Silence longer than this ends a flowlet.
    pub flowlet_gap: Nanos,
    /// Flowlets a switch can hold.
    pub flowlet_slots: usize,
    /// Time constant of the utilisation estimator.
    pub tau: DreShift,
    /// Bits of the probe's utilisation field, 1 to 16.
    pub util_bits: u32,
    /// The update rule.
    pub update: Update,
    /// Whether a switch avoids its own ports that are down (off in the paper: failures are learned from missing probes).
    pub local_detection: bool,
}

#[derive(Clone, Copy, Debug)]
struct BestHop {
    port: Option<Port>,
    util: u16,
    updated: Nanos,
    sent: Option<Nanos>,
}

/// A switch running HULA.
#[derive(Clone, Debug)]
pub struct Hula {
    config: HulaConfig,
    salt: u32,
    tor: Option<Tor>,
    best: Box<[BestHop]>,
    flowlets: FlowletTable,
    counters: Counters,
}

impl Hula {
    /// The best next hop towards `tor` and its utilisation in the probe's quantisation, once a probe has come.
    pub fn best_hop(&self, tor: Tor) -> Option<(Port, u16)> {
        let entry = self.best.get(usize::from(tor.0))?;
        entry.port.map(|port| (port, entry.util))
    }

    fn quantise(&self, util: Util) -> u16 {
        util >> (16 - self.config.util_bits.clamp(1, 16))
    }

    fn choose(&mut self, packet: &Header, hops: &[Port], ports: &mut impl Ports) -> Port {
        let best = self.best.get(usize::from(packet.dst_tor.0)).and_then(|entry| entry.port);
        let usable = |port: &Port| !self.config.local_detection || ports.is_up(*port);
        match best.filter(usable) {
            Some(port) => port,
            None => {
                self.counters.fallbacks += 1;
                hops[pick(mix(packet.flow_hash, self.salt), hops.len())]
            }
        }
    }

    /// Joins the probe's utilisation with the link's and updates the entry (section 4.2, figure 3b lines 4-12).
    fn update(&mut self, now: Nanos, arrival: &ProbeArrival, tx: Util) {
        let util = arrival.probe.util.max(self.quantise(tx));
        let entry = &mut self.best[usize::from(arrival.probe.tor.0)];
        let stale = now.saturating_sub(entry.updated) > self.config.fail_after;
        let own = self.config.update == Update::Refresh && entry.port == Some(arrival.port);
        if entry.port.is_none() || util < entry.util || stale || own {
            entry.port = Some(arrival.port);
            entry.util = util;
            entry.updated = now;
        }
    }

    /// Lets one probe a ToR through per window of 7/8 T_p (section 4.5).
    fn replicate(&mut self, now: Nanos, tor: Tor) -> Option<Probe> {
        let window = self.config.probe_period - self.config.probe_period / 8;
        let entry = &mut self.best[usize::from(tor.0)];
        if entry.sent.is_some_and(|sent| now.saturating_sub(sent) < window) {
            return None;
        }
        entry.sent = Some(now);
        Some(Probe { tor, util: entry.util })
    }
}

impl Scheme for Hula {
    type Config = HulaConfig;
    const NEEDS_UTILISATION: bool = true;

    fn new(config: &HulaConfig, site: &Site) -> Hula {
        let unknown = BestHop { port: None, util: u16::MAX, updated: 0, sent: None };
        Hula {
            config: config.clone(),
            salt: site.salt,
            tor: site.tor,
            best: vec![unknown; usize::from(site.tors)].into_boxed_slice(),
            flowlets: FlowletTable::new(config.flowlet_slots, config.flowlet_gap),
            counters: Counters::default(),
        }
    }

    fn dre_shift(config: &HulaConfig) -> DreShift {
        config.tau
    }

    fn probe_period(config: &HulaConfig) -> Option<Nanos> {
        Some(config.probe_period)
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
        if let Ok(port) = self.flowlets.touch(hash, step.now) {
            return port;
        }
        let port = self.choose(packet, next_hops, ports);
        self.counters.flowlets += 1;
        self.counters.moves += u64::from(self.flowlets.assign(hash, port));
        port
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
        if self.tor == Some(arrival.probe.tor) || !arrival.is_next_hop {
            return None;
        }
        self.update(step.now, arrival, ports.tx_util(arrival.port));
        if self.tor.is_some() {
            return None;
        }
        self.replicate(step.now, arrival.probe.tor)
    }

    fn state_bytes(&self) -> usize {
        self.best.len() * BYTES_PER_TOR + self.flowlets.state_bytes()
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}
