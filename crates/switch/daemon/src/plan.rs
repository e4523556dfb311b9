//! The contents of the programs' maps, as pure functions of the configuration, the devices, and the
//! links that are down.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use heddle_fabric::{FabricError, PortInfo};
use heddle_policy::{Port as PortNumber, Tor};
use heddle_switch_maps::abi::{
    Address, NextHops, SWITCH_ABI, SWITCH_GROUPS, SWITCH_NO_PORT, SWITCH_NO_TOR, SwitchConfig,
    SwitchDestination, SwitchPort, SwitchRole,
};

use crate::config::{Config, Port};
use crate::devices::{Device, Devices};

/// Links of the fabric, by index.
pub type Links = BTreeSet<u32>;

/// Next hops towards each ToR, by its number; none where no path leads.
pub type Routes = Vec<Vec<u16>>;

/// The links that are down from the start.
pub fn failed(config: &Config) -> Links {
    let graph = &config.fabric.graph;
    let name = |node: u32| graph.nodes[node as usize].name.as_str();
    let is_failed = |(a, b): (&str, &str)| {
        let failed = &config.file.fabric.failed;
        failed.iter().any(|(x, y)| (x == a && y == b) || (x == b && y == a))
    };
    let links = (0..).zip(&graph.links);
    links
        .filter(|(_, link)| is_failed((name(link.ends.0), name(link.ends.1))))
        .map(|(n, _)| n)
        .collect()
}

/// The fabric's side of a port.
pub fn port_info(config: &Config, number: u16) -> PortInfo {
    config.fabric.ports_of(config.fabric.hosts + config.switch)[usize::from(number)]
}

/// Links of this switch's ports that are down: without a device, or with one that is.
pub fn local_failures(config: &Config, devices: &Devices) -> Links {
    let is_up =
        |number: u16| config.ports.iter().any(|port| port.number == number && is_up(port, devices));
    let ports = config.fabric.ports_of(config.fabric.hosts + config.switch);
    (0..).zip(ports).filter(|&(number, _)| !is_up(number)).map(|(_, port)| port.link).collect()
}

fn is_up(port: &Port, devices: &Devices) -> bool {
    devices.get(&port.device).is_some_and(|device| device.up)
}

/// The ports that are up, as a set of bits.
pub fn up(config: &Config, devices: &Devices) -> u64 {
    let up = config.ports.iter().filter(|port| is_up(port, devices));
    up.fold(0, |set, port| set | 1 << port.number)
}

/// Next hops of this switch over the links that are not down.
///
/// # Errors
/// A fabric with too many sets of next hops.
pub fn routes(config: &Config, down: &Links) -> Result<Routes, FabricError> {
    let routes = config.fabric.routes(|link| !down.contains(&link))?;
    let hops = |tor: u32| {
        let hops = routes.next_hops(config.switch, Tor(tor as u16));
        hops.iter().map(|port| port.0).collect()
    };
    Ok((0..config.fabric.tors).map(hops).collect())
}

/// The switch's parameters.
pub fn config(config: &Config, up: u64) -> SwitchConfig {
    let is_tor = config.switch < config.fabric.tors;
    SwitchConfig {
        up,
        abi: SWITCH_ABI,
        salt: config.salt,
        router: config.switch,
        tors: config.fabric.tors as u16,
        tor: if is_tor { config.switch as u16 } else { SWITCH_NO_TOR as u16 },
        dre_shift: config.scheme.dre_shift,
        scheme: config.scheme.scheme as u32,
        probe_protocol: config.probe_protocol.unwrap_or(0),
        pad: [0; 7],
        answers_v4: config.icmp_source.0.map_or_else(Address::default, |ip| IpAddr::V4(ip).into()),
        answers_v6: config.icmp_source.1.map_or_else(Address::default, |ip| IpAddr::V6(ip).into()),
        mp_hula: config.scheme.mp_hula,
        conga: config.scheme.conga,
    }
}

/// A port; `learnt` is what the program has learnt of it before.
pub fn port(config: &Config, port: &Port, device: &Device, learnt: u64) -> SwitchPort {
    let info = port_info(config, port.number);
    let group = config.fabric.multicast_group(config.switch, PortNumber(port.number));
    let tau = 1_u128 << config.scheme.dre_shift;
    let full = u128::from(port.rate.0) * tau / 8 / 1_000_000_000;
    let role = match (info.to_host, info.is_up) {
        (true, _) => SwitchRole::Host,
        (false, true) => SwitchRole::Up,
        (false, false) => SwitchRole::Down,
    };
    SwitchPort {
        own_mac: device.mac.bits(),
        peer_mac: port.mac.map_or(learnt, |mac| mac.bits()),
        probe_group: group.iter().fold(0, |set, port| set | 1 << port.0),
        full: u64::try_from(full).unwrap_or(u64::MAX).max(1),
        ifindex: device.ifindex,
        mtu: device.mtu,
        role: role as u8,
        learns: port.mac.is_none().into(),
        own_sources: (info.to_host && config.source_check).into(),
        pad: [0; 5],
    }
}

/// All host addresses.
pub fn destinations(config: &Config) -> BTreeMap<IpAddr, SwitchDestination> {
    let fabric = &config.fabric;
    let base = fabric.first_port_of_switch(config.switch);
    let destination = |host: usize| {
        let tor = fabric.host_tor[host].0;
        let is_here = u32::from(tor) == config.switch;
        let port = if is_here { fabric.host_port[host] - base } else { SWITCH_NO_PORT };
        SwitchDestination { tor, port: port as u16, pad: 0 }
    };
    let hosts = config.file.addresses.iter().enumerate();
    hosts.flat_map(|(host, own)| own.iter().map(move |&ip| (ip, destination(host)))).collect()
}

/// A set of next hops as the program has it.
pub fn next_hops(ports: &[u16]) -> NextHops {
    let mut hops = NextHops { count: ports.len() as u32, ..NextHops::default() };
    for (to, &port) in hops.ports.iter_mut().zip(ports) {
        *to = port;
        hops.set |= 1 << port;
    }
    hops
}

/// Sets of next hops in the program's map, by number. A set that was in use keeps its number, and
/// another set gets its number only after a change in between: so a packet that has read the number
/// never meets half of another set.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    numbers: BTreeMap<Vec<u16>, u32>,
    /// Numbers that the change before this one left.
    resting: BTreeSet<u32>,
}

/// The writes: sets first, then the ToRs' numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupWrites {
    /// Sets that are new, with their numbers.
    pub sets: Vec<(u32, Vec<u16>)>,
    /// Each ToR's number; 0 is none.
    pub tors: Vec<u32>,
}

impl Groups {
    /// The sets that a daemon before has left in use.
    pub fn found(sets: impl IntoIterator<Item = (u32, Vec<u16>)>) -> Groups {
        let numbers = sets.into_iter().map(|(number, set)| (set, number)).collect();
        Groups { numbers, resting: BTreeSet::new() }
    }

    /// The writes that make the program's routes these.
    pub fn change(&mut self, routes: &Routes) -> GroupWrites {
        let wanted: BTreeSet<&Vec<u16>> = routes.iter().filter(|set| !set.is_empty()).collect();
        let before: BTreeSet<u32> = self.numbers.values().copied().collect();
        let taken = &before | &self.resting;
        let mut free = (1..SWITCH_GROUPS).filter(|number| !taken.contains(number));
        let mut sets = Vec::new();
        let mut numbers = BTreeMap::new();
        for set in wanted {
            let known = self.numbers.get(set).copied();
            let Some(number) = known.or_else(|| free.next()) else { continue };
            if known.is_none() {
                sets.push((number, set.clone()));
            }
            numbers.insert(set.clone(), number);
        }
        let after: BTreeSet<u32> = numbers.values().copied().collect();
        self.resting = &before - &after;
        let tors = routes.iter().map(|set| numbers.get(set).copied().unwrap_or(0)).collect();
        self.numbers = numbers;
        GroupWrites { sets, tors }
    }
}

/// An address as the program has it.
pub fn address(ip: IpAddr) -> Address {
    ip.into()
}
