//! From the file's types to [`Config`].

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

use heddle_config::Problem;
use heddle_fabric::Fabric;
use heddle_path_files::files;
use heddle_policy::mix;
use heddle_scenario::FabricFile;
use heddle_switch_maps::Hook;
use heddle_switch_maps::abi::{SWITCH_PORTS, SWITCH_TORS};

use super::refused::Refused;
use super::{Config, Port, raw, scheme};

/// Most ports and ToRs of the programs' tables.
const PORTS: usize = SWITCH_PORTS as usize;
const TORS: u32 = SWITCH_TORS;

pub(super) fn resolve(file: &raw::File, path: &Path) -> Result<Config, Refused> {
    let fabric_file = named("fabric", files::folder(path).join(&file.fabric))?;
    let network = files::resolve_fabric(&files::read(&fabric_file, &[])?)?;
    let fabric = Fabric::new(&network.fabric.graph)
        .map_err(|error| Problem::at("fabric", error.to_string()))?;
    let switch = switch(&fabric, &file.node)?;
    let salt = salt(file.seed, switch);
    let place = scheme::Place { file: &network, path: &fabric_file, fabric: &fabric, switch, salt };
    let scheme = scheme::resolve(&file.scheme.resolve(&fabric.graph)?, &place)?;
    Ok(Config {
        node: file.node.clone(),
        switch,
        scheme,
        salt,
        hook: match file.hook {
            raw::Hook::Tc => Hook::Tc,
            raw::Hook::Xdp => Hook::Xdp,
            raw::Hook::XdpGeneric => Hook::XdpGeneric,
        },
        pin: file.pin.clone().unwrap_or_else(|| pin(&file.node)),
        admin: file.admin.clone().unwrap_or_else(|| admin(&file.node)),
        metrics: file.metrics,
        icmp_source: match &file.icmp_source {
            Some(given) => icmp_source(given)?,
            None => own_source(switch, &network)?,
        },
        source_check: file.source_check,
        probe_protocol: probe_protocol(file)?,
        ports: ports(file, &fabric, switch)?,
        file: network,
        fabric,
    })
}

/// IPv4's protocol number for experiments (RFC 3692).
const EXPERIMENT: u8 = 253;
/// Numbers of which IANA had assigned but a few in 2026, none of them TCP, UDP or ICMP.
const PROTOCOLS: std::ops::RangeInclusive<u8> = 143..=254;

fn probe_protocol(file: &raw::File) -> Result<Option<u8>, Problem> {
    match (file.probe, file.probe_protocol) {
        (raw::Probe::Ethernet, None) => Ok(None),
        (raw::Probe::Ethernet, Some(_)) => {
            Err(Problem::at("probe_protocol", "probes are not behind IPv4")
                .help("probe = \"ipv4\" puts them there"))
        }
        (raw::Probe::Ipv4, given) => {
            let protocol = given.unwrap_or(EXPERIMENT);
            if !PROTOCOLS.contains(&protocol) {
                let message = format!("{protocol} may be another protocol's");
                return Err(Problem::at("probe_protocol", message)
                    .help("143 to 254; 253 is for experiments"));
            }
            Ok(Some(protocol))
        }
    }
}

/// One address of IPv4 and one of IPv6, or none of a family.
type Sources = (Option<Ipv4Addr>, Option<Ipv6Addr>);

/// Prefixes set aside for benchmarks of devices (RFC 2544, RFC 5180): IANA's registries let such
/// addresses be a source and be forwarded, and none is on the Internet.
const BENCHMARKS: (Ipv4Addr, Ipv6Addr) =
    (Ipv4Addr::new(198, 18, 0, 0), Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 0));

/// A switch's own addresses where the file gives none, so that traceroute tells switches apart.
fn own_source(switch: u32, network: &FabricFile) -> Result<Sources, Problem> {
    let v4 = Ipv4Addr::from_bits(BENCHMARKS.0.to_bits() + switch + 1);
    let v6 = Ipv6Addr::from_bits(BENCHMARKS.1.to_bits() + u128::from(switch) + 1);
    let mut hosts = network.addresses.iter().flatten();
    match hosts.find(|&&host| host == IpAddr::V4(v4) || host == IpAddr::V6(v6)) {
        None => Ok((Some(v4), Some(v6))),
        Some(taken) => Err(Problem::at("icmp_source", format!("{taken} is a host's address"))
            .help("give addresses of the switch: icmp_source = [\"192.0.2.1\", \"2001:db8::1\"]")),
    }
}

fn icmp_source(addresses: &[IpAddr]) -> Result<Sources, Problem> {
    let (mut v4, mut v6) = (None, None);
    for &address in addresses {
        let is_second = match address {
            IpAddr::V4(address) => v4.replace(address).is_some(),
            IpAddr::V6(address) => v6.replace(address).is_some(),
        };
        let is_one_hosts = !address.is_unspecified() && !address.is_multicast();
        if is_second
            || !is_one_hosts
            || matches!(address, IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some())
        {
            let message = format!("{address} cannot be used here");
            return Err(Problem::at("icmp_source", message)
                .help("one unicast address of IPv4 and one of IPv6, as in [\"192.0.2.1\", \"2001:db8::1\"]"));
        }
    }
    Ok((v4, v6))
}

fn pin(node: &str) -> PathBuf {
    Path::new("/sys/fs/bpf/heddle-switch").join(node)
}

fn admin(node: &str) -> PathBuf {
    format!("/run/heddle/switch-{node}.sock").into()
}

/// A file that a key names.
fn named(key: &str, path: PathBuf) -> Result<PathBuf, Problem> {
    if path.is_file() {
        return Ok(path);
    }
    Err(Problem::at(key, format!("there is no file {}", path.display()))
        .help("the path is relative to the folder of this configuration"))
}

/// The salt of a switch: other switches have others.
fn salt(seed: u64, switch: u32) -> u32 {
    mix(mix(seed as u32, (seed >> 32) as u32), switch + 1)
}

fn switch(fabric: &Fabric, name: &str) -> Result<u32, Problem> {
    let nodes = &fabric.graph.nodes;
    let index = nodes.iter().position(|node| node.name == name).ok_or_else(|| {
        let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        Problem::at("node", format!("no node of the fabric is called \"{name}\""))
            .suggest(name, &names)
    })?;
    let Some(switch) = (index as u32).checked_sub(fabric.hosts) else {
        return Err(Problem::at("node", format!("{name} is a host, not a switch")));
    };
    let ports = fabric.ports_of(index as u32).len();
    if ports > PORTS || fabric.tors > TORS {
        let message = format!("{name} has {ports} ports in a fabric of {} ToRs", fabric.tors);
        return Err(Problem::at("node", message)
            .help(format!("the programs have room for {PORTS} ports and {TORS} ToRs")));
    }
    Ok(switch)
}

fn ports(file: &raw::File, fabric: &Fabric, switch: u32) -> Result<Vec<Port>, Problem> {
    let mut ports: Vec<Port> = Vec::new();
    for (index, raw) in file.port.iter().enumerate() {
        let port = port(raw, fabric, switch, &ports)
            .map_err(|problem| problem.inside(&format!("port.{index}")))?;
        ports.push(port);
    }
    Ok(ports)
}

fn port(raw: &raw::Port, fabric: &Fabric, switch: u32, before: &[Port]) -> Result<Port, Problem> {
    let all = fabric.ports_of(fabric.hosts + switch);
    let name = |node: u32| fabric.node(node).name.as_str();
    let links: Vec<u16> =
        (0..).zip(all).filter(|(_, port)| name(port.to) == raw.peer).map(|(n, _)| n).collect();
    if links.is_empty() {
        let mut peers: Vec<&str> = all.iter().map(|port| name(port.to)).collect();
        peers.dedup();
        let message = format!("{} is no neighbour of this switch", raw.peer);
        return Err(Problem::at("peer", message).suggest(&raw.peer, &peers));
    }
    let earlier = before.iter().filter(|port| port.peer == raw.peer).count() as u32;
    let wanted = raw.link.unwrap_or(earlier + 1);
    let number = wanted.checked_sub(1).and_then(|index| links.get(index as usize)).copied();
    let Some(number) = number else {
        let message =
            format!("there are {} links to {}, no number {wanted}", links.len(), raw.peer);
        return Err(Problem::at(if raw.link.is_some() { "link" } else { "peer" }, message));
    };
    if before.iter().any(|port| port.number == number || port.device == raw.device) {
        return Err(Problem::at("device", "a port before has this device, or this link"));
    }
    let mac = match raw.mac.as_deref().map(str::parse).transpose() {
        Ok(mac) => mac,
        Err(error) => {
            let error: heddle_daemon::mac::NotAMac = error;
            return Err(Problem::at("mac", error.to_string()));
        }
    };
    let rate = raw.rate.unwrap_or(fabric.rate_of(&all[usize::from(number)]));
    let (device, peer) = (raw.device.clone(), raw.peer.clone());
    Ok(Port { number, device, peer, mac, rate })
}
