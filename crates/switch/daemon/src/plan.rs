//! The contents of the programs' maps, as pure functions of the configuration, the devices, and the
//! links that are down.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use heddle_daemon::mac::Mac;
use heddle_fabric::FabricError;
use heddle_policy::Tor;
use heddle_switch_maps::Prefix;
use heddle_switch_maps::abi::{
    Address, NextHops, SWITCH_ABI, SWITCH_GROUPS, SWITCH_NO_PORT, SWITCH_NO_TOR, SwitchConfig,
    SwitchDestination, SwitchPort, SwitchRole,
};
use ipnet::IpNet;

use crate::config::{Config, FabricRoutes, Port};
use crate::devices::{Device, Devices};

/// Links of the fabric, by index.
pub type Links = BTreeSet<u32>;

/// Next hops towards each ToR, by its number; none where no path leads.
pub type Routes = Vec<Vec<u16>>;

/// The links that are down from the start.
pub fn failed(own: &FabricRoutes) -> Links {
    let graph = &own.fabric.graph;
    let name = |node: u32| graph.nodes[node as usize].name.as_str();
    let is_failed = |(a, b): (&str, &str)| {
        let failed = &own.file.fabric.failed;
        failed.iter().any(|(x, y)| (x == a && y == b) || (x == b && y == a))
    };
    let links = (0..).zip(&graph.links);
    links
        .filter(|(_, link)| is_failed((name(link.ends.0), name(link.ends.1))))
        .map(|(n, _)| n)
        .collect()
}

/// Links of this switch's ports that are down: without a device, or with one that is.
pub fn local_failures(own: &FabricRoutes, up: u64) -> Links {
    let ports = (0..).zip(own.ports());
    ports.filter(|&(number, _)| up >> number & 1 == 0).map(|(_, port)| port.link).collect()
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
pub fn routes(own: &FabricRoutes, down: &Links) -> Result<Routes, FabricError> {
    let routes = own.fabric.routes(|link| !down.contains(&link))?;
    let hops = |tor: u32| {
        let hops = routes.next_hops(own.switch, Tor(tor as u16));
        hops.iter().map(|port| port.0).collect()
    };
    Ok((0..own.fabric.tors).map(hops).collect())
}

/// The switch's parameters.
pub fn config(config: &Config, up: u64) -> SwitchConfig {
    SwitchConfig {
        up,
        abi: SWITCH_ABI,
        salt: config.salt,
        router: config.fabric().map_or(0, |own| own.switch),
        tors: config.tors,
        tor: config.tor.unwrap_or(SWITCH_NO_TOR as u16),
        dre_shift: config.scheme.dre_shift,
        scheme: config.scheme.scheme as u32,
        probe_protocol: config.probe_protocol.unwrap_or(0),
        kernel_routes: config.fabric().is_none().into(),
        pad: [0; 6],
        answers_v4: config.icmp_source.0.map_or_else(Address::default, |ip| IpAddr::V4(ip).into()),
        answers_v6: config.icmp_source.1.map_or_else(Address::default, |ip| IpAddr::V6(ip).into()),
        mp_hula: config.scheme.mp_hula,
        conga: config.scheme.conga,
    }
}

/// The Ethernet address of a port's neighbour.
#[derive(Clone, Copy, Debug)]
pub struct Neighbour {
    /// As the file or the kernel says.
    pub known: Option<Mac>,
    /// The program's content before, learnt or not.
    pub before: u64,
}

/// A port.
pub fn port(config: &Config, port: &Port, device: &Device, peer: Neighbour) -> SwitchPort {
    let tau = 1_u128 << config.scheme.dre_shift;
    let full = u128::from(port.rate.0) * tau / 8 / 1_000_000_000;
    SwitchPort {
        own_mac: device.mac.bits(),
        peer_mac: peer.known.map_or(peer.before, |mac| mac.bits()),
        probe_group: probe_group(config, port),
        full: u64::try_from(full).unwrap_or(u64::MAX).max(1),
        ifindex: device.ifindex,
        mtu: device.mtu,
        role: port.role as u8,
        learns: peer.known.is_none().into(),
        own_sources: (port.role == SwitchRole::Host && config.source_check).into(),
        pad: [0; 5],
    }
}

/// The ports to which a probe from `port` is replicated (HULA section 4.1): from below to all other
/// switches, from above to those below.
fn probe_group(config: &Config, port: &Port) -> u64 {
    let gets = |other: &&Port| {
        let climbs_again = port.role == SwitchRole::Up && other.role == SwitchRole::Up;
        other.number != port.number && other.role != SwitchRole::Host && !climbs_again
    };
    config.ports.iter().filter(gets).fold(0, |set, other| set | 1 << other.number)
}

/// All host addresses; none with the kernel's routes.
pub fn destinations(config: &Config) -> BTreeMap<IpAddr, SwitchDestination> {
    let Some(own) = config.fabric() else { return BTreeMap::new() };
    let fabric = &own.fabric;
    let base = fabric.first_port_of_switch(own.switch);
    let destination = |host: usize| {
        let tor = fabric.host_tor[host].0;
        let is_here = u32::from(tor) == own.switch;
        let port = if is_here { fabric.host_port[host] - base } else { SWITCH_NO_PORT };
        SwitchDestination { tor, port: port as u16, pad: 0 }
    };
    let hosts = own.file.addresses.iter().enumerate();
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

/// A prefix as the program has it.
fn prefix(net: IpNet) -> Prefix<[u8; 16]> {
    let (address, before) = match net {
        IpNet::V4(v4) => (v4.addr().to_ipv6_mapped(), 96),
        IpNet::V6(v6) => (v6.addr(), 0),
    };
    Prefix { bits: before + u32::from(net.prefix_len()), data: address.octets() }
}

/// The ToRs behind prefixes as the program of ToR `own` has them; without a ToR a prefix, as all
/// that is in none, is the switch's own, where the kernel delivers.
pub fn prefixes(
    own: Option<u16>,
    tors: &BTreeMap<IpNet, Option<u16>>,
) -> BTreeMap<Prefix<[u8; 16]>, SwitchDestination> {
    let behind = |tor: Option<u16>| {
        let tor = tor.or(own).unwrap_or(SWITCH_NO_TOR as u16);
        SwitchDestination { tor, port: SWITCH_NO_PORT as u16, pad: 0 }
    };
    let all = (Prefix { bits: 0, data: [0; 16] }, behind(None));
    let known = tors.iter().map(|(net, tor)| (prefix(*net), behind(*tor)));
    std::iter::once(all).chain(known).collect()
}

/// An address as the program has it.
pub fn address(ip: IpAddr) -> Address {
    ip.into()
}
