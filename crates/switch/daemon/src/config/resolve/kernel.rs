//! Routes from the kernel.

use std::collections::BTreeMap;
use std::path::Path;

use heddle_config::Problem;
use heddle_scenario::{Scheme, Source, load_fabric};
use heddle_switch_maps::abi::{SWITCH_TORS, SwitchRole};
use heddle_units::Rate;
use ipnet::IpNet;

use super::{PORTS, raw, scheme};
use crate::config::refused::Refused;
use crate::config::{Config, KernelRoutes, Port, Routes, Table};

/// Most ToRs of the programs' tables.
const TORS: u16 = SWITCH_TORS as u16;
/// The main table (linux/rtnetlink.h, `RT_TABLE_MAIN`).
const MAIN: u32 = 254;

pub(super) fn resolve(file: &raw::File, path: &Path) -> Result<Config, Refused> {
    refuse_fabric_keys(file)?;
    check_node(&file.node)?;
    let tor = file.tor.map(|tor| number("tor", tor)).transpose()?;
    let name = file.node.bytes().fold(0, |hash, byte| heddle_policy::mix(hash, byte.into()));
    let salt = super::salt(file.seed, name);
    let ports = ports(file)?;
    let place = scheme::Place { salt, tors: TORS, tor };
    let refused = || {
        let message = "cflb needs an order of next hops that all switches share";
        Err(Problem::at("scheme.kind", message).help("routes = \"fabric\"").into())
    };
    Ok(Config {
        node: file.node.clone(),
        routes: Routes::Kernel(kernel_routes(file)?),
        tor,
        tors: TORS,
        scheme: scheme::resolve(&scheme_of(file, &ports)?, &place, refused)?,
        salt,
        hook: super::hook(file),
        pin: file.pin.clone().unwrap_or_else(|| super::pin(&file.node)),
        admin: file.admin.clone().unwrap_or_else(|| super::admin(&file.node)),
        metrics: file.metrics,
        icmp_source: (None, None),
        source_check: false,
        probe_protocol: super::probe_protocol(file)?,
        postcards: super::postcards(file, path),
        ports,
    })
}

/// The name is a part of paths.
fn check_node(name: &str) -> Result<(), Problem> {
    if !name.is_empty() && !name.starts_with('.') && !name.contains('/') {
        return Ok(());
    }
    let message = format!("\"{name}\" cannot be the name of a switch");
    Err(Problem::at("node", message).help("without / and no dot in front, as in \"leaf-1\""))
}

fn refuse_fabric_keys(file: &raw::File) -> Result<(), Problem> {
    let given = [
        ("fabric", file.fabric.is_some(), "leave it out: the kernel has the routes"),
        ("icmp_source", file.icmp_source.is_some(), "leave it out: the kernel answers"),
        (
            "source_check",
            file.source_check,
            "leave it out, and set net.ipv4.conf.DEVICE.rp_filter = 1",
        ),
    ];
    match given.iter().find(|(_, is_given, _)| *is_given) {
        None => Ok(()),
        Some((key, _, help)) => {
            Err(Problem::at(key, "does not go with routes = \"kernel\"").help(*help))
        }
    }
}

/// A scheme's own checks are those of a fabric of leaves and spines in which a switch has as many
/// next hops as this one has ports to switches.
fn scheme_of(file: &raw::File, ports: &[Port]) -> Result<Scheme, Problem> {
    let spines = ports.iter().filter(|port| port.role != SwitchRole::Host).count().max(1);
    let text = format!(
        "[fabric]\nkind = \"leaf-spine\"\nspines = {spines}\nhosts_per_leaf = 1\nparallel_links = 1\n"
    );
    let none = |path: &str| Err(std::io::Error::other(path.to_owned()));
    let fabric = load_fabric(&Source::new("fabric", text), &none)
        .map_err(|error| Problem::at("port", error.to_string()))?;
    file.scheme.resolve(&fabric.fabric.graph)
}

fn kernel_routes(file: &raw::File) -> Result<KernelRoutes, Problem> {
    let table = match (&file.vrf, file.table) {
        (Some(_), Some(_)) => {
            return Err(Problem::at("table", "`vrf` names a table already"));
        }
        (Some(vrf), None) => {
            super::check_interface("vrf", vrf)?;
            Table::Vrf(vrf.clone())
        }
        (None, Some(0)) => {
            return Err(Problem::at("table", "no routing table has the number 0")
                .help("254 is the main one; `ip route show table all` names others"));
        }
        (None, number) => Table::Number(number.unwrap_or(MAIN)),
    };
    let tors = tors(file)?;
    if tors.is_empty() && !file.realms {
        let message = "nothing says which prefixes are behind which ToR";
        return Err(Problem::at("tors", message)
            .help("[tors] with 1 = [\"10.0.1.0/24\"], or realms = true"));
    }
    Ok(KernelRoutes { table, tors, realms: file.realms })
}

fn tors(file: &raw::File) -> Result<BTreeMap<IpNet, u16>, Problem> {
    let mut tors = BTreeMap::new();
    for (name, prefixes) in &file.tors {
        let key = format!("tors.{name}");
        let tor = name.parse().map_err(|_| {
            Problem::at(&key, format!("{name} is no number of a ToR")).help("as in 1 = [...]")
        })?;
        let tor = number(&key, tor)?;
        for (index, text) in prefixes.iter().enumerate() {
            let key = format!("{key}.{index}");
            let prefix: IpNet = text.parse().map_err(|_| {
                Problem::at(&key, format!("{text} is no prefix")).help("as in \"10.0.1.0/24\"")
            })?;
            if prefix != prefix.trunc() {
                let message = format!("{text} has bits behind its length");
                return Err(Problem::at(&key, message).help(format!("\"{}\"", prefix.trunc())));
            }
            if tors.insert(prefix, tor).is_some_and(|other| other != tor) {
                return Err(Problem::at(&key, format!("{text} is behind another ToR, too")));
            }
        }
    }
    Ok(tors)
}

fn number(key: &str, tor: u16) -> Result<u16, Problem> {
    if tor < TORS {
        return Ok(tor);
    }
    Err(Problem::at(key, format!("the programs have no room for ToR {tor}"))
        .help(format!("0 to {}", TORS - 1)))
}

fn ports(file: &raw::File) -> Result<Vec<Port>, Problem> {
    if file.port.is_empty() {
        return Err(Problem::at("port", "the switch has no ports")
            .help("[[port]] with device, role and rate for each interface"));
    }
    if file.port.len() > PORTS {
        let message = format!("the programs have room for {PORTS} ports");
        return Err(Problem::at("port", message));
    }
    let mut ports: Vec<Port> = Vec::new();
    for (number, raw) in (0_u16..).zip(&file.port) {
        let port = port(number, raw, &ports)
            .map_err(|problem| problem.inside(&format!("port.{number}")))?;
        ports.push(port);
    }
    Ok(ports)
}

fn port(number: u16, raw: &raw::Port, before: &[Port]) -> Result<Port, Problem> {
    super::check(raw)?;
    if raw.link.is_some() {
        return Err(Problem::at("link", "does not go with routes = \"kernel\""));
    }
    if before.iter().any(|port| port.device == raw.device) {
        return Err(Problem::at("device", "a port before has this device"));
    }
    let role = match raw.role {
        Some(raw::Role::Host) => SwitchRole::Host,
        Some(raw::Role::Up) => SwitchRole::Up,
        Some(raw::Role::Down) => SwitchRole::Down,
        None => {
            let missing = Problem::at("role", "this key is missing");
            return Err(missing.help("\"up\", \"down\" or \"host\": what is at the far end"));
        }
    };
    let rate = match (raw.rate, role) {
        (Some(rate), _) => rate,
        // Utilisation of ports to hosts is not measured.
        (None, SwitchRole::Host) => Rate::gbps(10),
        (None, _) => {
            let missing = Problem::at("rate", "this key is missing");
            return Err(missing.help("that of the link, as in rate = \"10Gbps\""));
        }
    };
    let (device, mac) = (raw.device.clone(), super::mac(raw)?);
    let peer = raw.peer.clone().unwrap_or_else(|| device.clone());
    Ok(Port { number, device, peer, role, mac, rate })
}
