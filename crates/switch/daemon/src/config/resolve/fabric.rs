//! Routes from a fabric file.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use heddle_config::Problem;
use heddle_fabric::{Fabric, PortInfo, switch_addresses};
use heddle_path_files::files;
use heddle_switch_maps::abi::{SWITCH_TORS, SwitchRole};

use super::{PORTS, Sources, raw, scheme};
use crate::config::refused::Refused;
use crate::config::{Config, FabricRoutes, Port, Routes};

/// Most ToRs of the programs' tables.
const TORS: u32 = SWITCH_TORS;

pub(super) fn resolve(file: &raw::File, path: &Path) -> Result<Config, Refused> {
    refuse_kernel_keys(file)?;
    let Some(name) = &file.fabric else {
        let missing = Problem::at("fabric", "this key is missing");
        return Err(missing.help("a fabric file, or routes = \"kernel\"").into());
    };
    let fabric_file = named("fabric", files::folder(path).join(name))?;
    let network = files::resolve_fabric(&files::read(&fabric_file, &[])?)?;
    let fabric = Fabric::new(&network.fabric.graph)
        .map_err(|error| Problem::at("fabric", error.to_string()))?;
    let switch = switch(&fabric, &file.node)?;
    let salt = super::salt(file.seed, switch + 1);
    let tors = fabric.tors as u16;
    let tor = (switch < fabric.tors).then_some(switch as u16);
    let place = scheme::Place { salt, tors, tor };
    let constants = || scheme::cflb(&network, &fabric_file);
    let scheme = scheme::resolve(&file.scheme.resolve(&fabric.graph)?, &place, constants)?;
    let own = FabricRoutes { file: network, fabric, switch };
    Ok(Config {
        node: file.node.clone(),
        tor,
        tors,
        scheme,
        salt,
        hook: super::hook(file),
        pin: file.pin.clone().unwrap_or_else(|| super::pin(&file.node)),
        admin: file.admin.clone().unwrap_or_else(|| super::admin(&file.node)),
        metrics: file.metrics,
        icmp_source: icmp_source(file, &own)?,
        source_check: file.source_check,
        probe_protocol: super::probe_protocol(file)?,
        postcards: super::postcards(file, path),
        ports: ports(file, &own)?,
        routes: Routes::Fabric(Box::new(own)),
    })
}

fn refuse_kernel_keys(file: &raw::File) -> Result<(), Problem> {
    let given = [
        ("tor", file.tor.is_some()),
        ("tors", !file.tors.is_empty()),
        ("realms", file.realms),
        ("table", file.table.is_some()),
        ("vrf", file.vrf.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((key, _)) => {
            let message = "the fabric file says which ToRs there are, and what is behind them";
            Err(Problem::at(key, message).help("routes = \"kernel\" takes this key"))
        }
    }
}

/// The addresses that the file gives, or the switch's own, so that traceroute tells switches apart.
fn icmp_source(file: &raw::File, own: &FabricRoutes) -> Result<Sources, Problem> {
    let derived = || {
        let (v4, v6) = switch_addresses(own.switch);
        Ok((Some(v4), Some(v6)))
    };
    let (v4, v6) = file.icmp_source.as_deref().map_or_else(derived, super::icmp_source)?;
    let used = [v4.map(IpAddr::V4), v6.map(IpAddr::V6)];
    let mut hosts = own.file.addresses.iter().flatten();
    match hosts.find(|&&host| used.contains(&Some(host))) {
        None => Ok((v4, v6)),
        Some(taken) => Err(Problem::at("icmp_source", format!("{taken} is a host's address"))
            .help("give addresses of the switch: icmp_source = [\"192.0.2.1\", \"2001:db8::1\"]")),
    }
}

/// A file that a key names.
fn named(key: &str, path: PathBuf) -> Result<PathBuf, Problem> {
    if path.is_file() {
        return Ok(path);
    }
    Err(Problem::at(key, format!("there is no file {}", path.display()))
        .help("the path is relative to the folder of this configuration"))
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

fn ports(file: &raw::File, own: &FabricRoutes) -> Result<Vec<Port>, Problem> {
    let mut ports: Vec<Port> = Vec::new();
    for (index, raw) in file.port.iter().enumerate() {
        let port =
            port(raw, own, &ports).map_err(|problem| problem.inside(&format!("port.{index}")))?;
        ports.push(port);
    }
    Ok(ports)
}

fn port(raw: &raw::Port, own: &FabricRoutes, before: &[Port]) -> Result<Port, Problem> {
    super::check(raw)?;
    if raw.role.is_some() {
        let message = "the fabric file says what is at the far end";
        return Err(Problem::at("role", message).help("routes = \"kernel\" takes this key"));
    }
    let Some(peer) = &raw.peer else {
        return Err(Problem::at("peer", "this key is missing"));
    };
    let number = number(raw, peer, own, before)?;
    if before.iter().any(|port| port.number == number || port.device == raw.device) {
        return Err(Problem::at("device", "a port before has this device, or this link"));
    }
    let info = &own.ports()[usize::from(number)];
    Ok(Port {
        number,
        device: raw.device.clone(),
        peer: peer.clone(),
        role: role(info),
        mac: super::mac(raw)?,
        rate: raw.rate.unwrap_or(own.fabric.rate_of(info)),
    })
}

fn role(info: &PortInfo) -> SwitchRole {
    match (info.to_host, info.is_up) {
        (true, _) => SwitchRole::Host,
        (false, true) => SwitchRole::Up,
        (false, false) => SwitchRole::Down,
    }
}

/// The number of the port that leads to a neighbour.
fn number(
    raw: &raw::Port,
    peer: &str,
    own: &FabricRoutes,
    before: &[Port],
) -> Result<u16, Problem> {
    let all = own.ports();
    let name = |node: u32| own.fabric.node(node).name.as_str();
    let links: Vec<u16> =
        (0..).zip(all).filter(|(_, port)| name(port.to) == peer).map(|(n, _)| n).collect();
    if links.is_empty() {
        let mut peers: Vec<&str> = all.iter().map(|port| name(port.to)).collect();
        peers.dedup();
        let message = format!("{peer} is no neighbour of this switch");
        return Err(Problem::at("peer", message).suggest(peer, &peers));
    }
    let earlier = before.iter().filter(|port| port.peer == peer).count() as u32;
    let wanted = raw.link.unwrap_or(earlier + 1);
    let number = wanted.checked_sub(1).and_then(|index| links.get(index as usize)).copied();
    number.ok_or_else(|| {
        let key = if raw.link.is_some() { "link" } else { "peer" };
        match links.len() {
            1 => Problem::at(
                key,
                format!("one link leads to {peer}, and there is no number {wanted}"),
            )
            .help("leave this port out, or name another neighbour"),
            most => Problem::at(
                key,
                format!("{most} links lead to {peer}, and there is no number {wanted}"),
            )
            .help(format!("from 1 to {most}")),
        }
    })
}
