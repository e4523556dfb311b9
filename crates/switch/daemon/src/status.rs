//! The switch's state as people and Prometheus read it: ports, counters, routes, best hops, tables.

use std::collections::{BTreeMap, BTreeSet};

use heddle_daemon::mac::Mac;
use heddle_policy::Counters;
use heddle_switch_maps::abi::{BestHop, Flowlet, PortCounter, SwitchCounter};
use heddle_switch_maps::{Error, Tables};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::daemon::State;
use crate::plan;

/// The state of a switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// The switch's name.
    pub node: String,
    /// The scheme's name.
    pub scheme: String,
    /// Ports that have a device.
    pub ports: Vec<PortStatus>,
    /// Counters of frames and events, by name.
    pub counters: BTreeMap<String, Count>,
    /// The scheme's own counters, by name.
    pub scheme_counters: BTreeMap<String, u64>,
    /// Next hops towards each other ToR.
    pub routes: Vec<Route>,
    /// Flowlets that have not ended.
    pub flowlets: u64,
    /// Subflows that the ToR knows (MP-HULA, Shuttle).
    pub subflows: u64,
    /// Rounds of probes that this daemon has sent.
    pub probes_sent: u64,
    /// Rounds that the kernel refused.
    pub probes_failed: u64,
}

/// Packets and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Their bytes, link headers included.
    pub bytes: u64,
}

/// A port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortStatus {
    /// Its number in the fabric.
    pub number: u16,
    /// The device.
    pub device: String,
    /// The neighbour.
    pub peer: String,
    /// `host`, `up` or `down`.
    pub role: String,
    /// With a carrier.
    pub up: bool,
    /// The neighbour's Ethernet address, if it is known.
    pub peer_mac: Option<String>,
    /// Frames received.
    pub received: Count,
    /// Frames sent.
    pub sent: Count,
    /// Utilisation of the outgoing side, of the link's rate: 0 to 1. Of ports to switches.
    pub utilisation: f64,
}

/// The way to a ToR.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Route {
    /// The ToR.
    pub tor: String,
    /// Prefixes of the kernel's routes behind it; none with a fabric file.
    #[serde(default)]
    pub prefixes: Vec<String>,
    /// Neighbours that are next hops, in the order of routes.
    pub next_hops: Vec<String>,
    /// Next hops that probes have found: the best first (HULA, MP-HULA), or all with their remote
    /// figures (Shuttle).
    pub best: Vec<Best>,
}

/// A best hop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Best {
    /// The neighbour.
    pub peer: String,
    /// Utilisation of the path, in the probes' quantisation.
    pub util: u16,
    /// Milliseconds since the last probe.
    pub age_ms: f64,
}

/// The kernel's monotonic clock in nanoseconds, which is the programs'.
pub(crate) fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl Status {
    /// The state now; probes' numbers are those of the daemon.
    ///
    /// # Errors
    /// If the kernel does not let read a map.
    pub fn read(state: &State, probes: (u64, u64)) -> Result<Status, Error> {
        let now = now();
        let mp_hula = &state.config.scheme.mp_hula;
        Ok(Status {
            node: state.config.node.clone(),
            scheme: state.config.scheme.scheme.kind().into(),
            ports: ports(state, now)?,
            counters: counters(state)?,
            scheme_counters: named(state.switch.maps.scheme_counters()?),
            routes: routes(state, now)?,
            flowlets: flowlets(state, now, mp_hula.hula.flowlet_gap),
            subflows: subflows(state, now, mp_hula.idle_after),
            probes_sent: probes.0,
            probes_failed: probes.1,
        })
    }
}

fn count(found: heddle_switch_maps::abi::Count) -> Count {
    Count { packets: found.packets, bytes: found.bytes }
}

fn ports(state: &State, now: u64) -> Result<Vec<PortStatus>, Error> {
    let maps = &state.switch.maps;
    let up = plan::up(&state.config, &state.devices);
    let port = |config: &crate::config::Port| {
        let number = u32::from(config.number);
        let found = maps.ports.get(&number, 0)?;
        Ok(PortStatus {
            number: config.number,
            device: config.device.clone(),
            peer: config.peer.clone(),
            role: config.role.name().into(),
            up: up >> config.number & 1 == 1,
            peer_mac: (found.peer_mac != 0).then(|| mac(found.peer_mac).to_string()),
            received: counted(state, config.number, PortCounter::Received)?,
            sent: sent(state, config.number)?,
            utilisation: utilisation(state, number, now)?,
        })
    };
    state.config.ports.iter().map(port).collect()
}

fn mac(bits: u64) -> Mac {
    let [a, b, c, d, e, f, ..] = bits.to_le_bytes();
    Mac([a, b, c, d, e, f])
}

/// Frames that a port has sent.
pub(crate) fn sent(state: &State, port: u16) -> Result<Count, Error> {
    counted(state, port, PortCounter::Sent)
}

fn counted(state: &State, port: u16, counter: PortCounter) -> Result<Count, Error> {
    let at = u32::from(port) * PortCounter::PORT_COUNTERS as u32 + counter as u32;
    Ok(count(state.switch.maps.port_counts.sum(at)?))
}

/// The estimator's reading (bpf/switch/dre.h).
pub(crate) fn utilisation(state: &State, port: u32, now: u64) -> Result<f64, Error> {
    let full = state.switch.maps.ports.get(&port, 0)?.full;
    let meter = state.switch.maps.meters.get(&port, 0)?;
    let tau = 1_u64 << state.config.scheme.dre_shift;
    let idle = now.saturating_sub(meter.last).min(tau);
    let left = meter.bytes as f64 * (1.0 - idle as f64 / tau as f64);
    Ok(if full == 0 { 0.0 } else { left / full as f64 })
}

fn counters(state: &State) -> Result<BTreeMap<String, Count>, Error> {
    let named = |counter: &SwitchCounter| {
        let found = state.switch.maps.verdicts.sum(*counter as u32)?;
        Ok((counter.name().to_owned(), count(found)))
    };
    SwitchCounter::ALL.iter().map(named).collect()
}

fn named(counts: Counters) -> BTreeMap<String, u64> {
    counts.named().into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
}

/// The neighbour at a port.
pub(crate) fn peer(state: &State, port: u16) -> String {
    state.config.peer(port)
}

/// The other ToRs: all of the fabric, or those that the kernel's routes lead to.
fn tors(state: &State) -> BTreeSet<u16> {
    match state.config.fabric() {
        Some(_) => (0..state.config.tors).filter(|&tor| Some(tor) != state.config.tor).collect(),
        None => state.towards.prefixes.values().filter_map(|tor| *tor).collect(),
    }
}

fn routes(state: &State, now: u64) -> Result<Vec<Route>, Error> {
    let mut routes = Vec::new();
    for tor in tors(state) {
        let hops = next_hops(state, tor.into())?;
        let prefixes = state.towards.prefixes.iter().filter(|(_, to)| **to == Some(tor));
        routes.push(Route {
            tor: state.config.tor_name(tor),
            prefixes: prefixes.map(|(net, _)| net.to_string()).collect(),
            next_hops: hops.iter().map(|&port| peer(state, port)).collect(),
            best: best(state, tor.into(), now),
        });
    }
    Ok(routes)
}

/// The ports that are next hops towards a ToR, as the program has them.
pub(crate) fn next_hops(state: &State, tor: u32) -> Result<Vec<u16>, Error> {
    let number = state.switch.maps.tor_groups.get(&tor, 0)?;
    let set = state.switch.maps.groups.get(&number, 0)?;
    let count = if number == 0 { 0 } else { (set.count as usize).min(set.ports.len()) };
    Ok(set.ports[..count].to_vec())
}

/// A best hop.
pub(crate) struct KnownHop {
    pub(crate) port: u16,
    /// Utilisation in the probe's quantisation.
    pub(crate) util: u16,
    /// Time of its last probe, in nanoseconds.
    pub(crate) updated: u64,
}

/// The best hops towards a ToR, best first.
pub(crate) fn best_hops(state: &State, tor: u32) -> Vec<KnownHop> {
    let Some(tables) = &state.switch.tables else { return Vec::new() };
    if let Some(hops) = tables.hops().and_then(|table| table.get(tor as usize)) {
        let known = hops.hops.iter().take(hops.known as usize);
        return known
            .map(|hop| KnownHop { port: hop.port, util: hop.util, updated: hop.updated })
            .collect();
    }
    let hop: Option<BestHop> = tables.best_hop().and_then(|table| table.get(tor as usize));
    let hop = hop.filter(|hop| hop.next_port != 0);
    hop.map(|hop| KnownHop { port: hop.next_port - 1, util: hop.util, updated: hop.updated })
        .into_iter()
        .collect()
}

fn best(state: &State, tor: u32, now: u64) -> Vec<Best> {
    let hops = best_hops(state, tor).into_iter();
    hops.map(|KnownHop { port, util, updated }| Best {
        peer: peer(state, port),
        util,
        age_ms: now.saturating_sub(updated) as f64 / 1e6,
    })
    .collect()
}

/// The flowlet in a slot, if that has a port.
pub(crate) fn flowlet(tables: &Tables, slot: usize) -> Option<Flowlet> {
    tables.flowlets()?.get(slot).filter(|flowlet| flowlet.port().is_some())
}

fn flowlets(state: &State, now: u64, gap: u64) -> u64 {
    let Some(tables) = &state.switch.tables else { return 0 };
    let slots = state.config.scheme.mp_hula.hula.flowlet_slots as usize;
    let live =
        |slot: &usize| flowlet(tables, *slot).is_some_and(|flowlet| flowlet.idle(now) <= gap);
    (0..slots).filter(live).count() as u64
}

fn subflows(state: &State, now: u64, idle_after: u64) -> u64 {
    let table = state.switch.tables.as_ref().and_then(Tables::subflows);
    let Some(table) = table else { return 0 };
    let slots = state.config.scheme.mp_hula.association_slots as usize;
    let live = |slot: &usize| {
        table
            .get(*slot)
            .is_some_and(|entry| entry.number != 0 && now.saturating_sub(entry.seen) <= idle_after)
    };
    (0..slots).filter(live).count() as u64
}
