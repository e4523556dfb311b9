//! This machine, table sizes, times.

use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use heddle_balancer_maps::Sizes;
use heddle_balancer_maps::abi::MACS;
use heddle_config::Problem;

use super::super::raw;
use super::super::resolved::{Balancer, Limits, Timeouts};
use super::addresses::check_unicast;
use super::ids::member;
use super::names::check_name;
use crate::mac::{Mac, NotAMac};

/// IFNAMSIZ - 1.
const LONGEST_INTERFACE: usize = 15;
/// Of a Unix socket's path: `sun_path` without the byte that ends it.
const LONGEST_SOCKET: usize = 107;
const LONGEST_TIMEOUT: Duration = Duration::from_secs(30 * 86_400);

pub(super) fn balancer(file: &raw::Balancer, members: &[raw::Member]) -> Result<Balancer, Problem> {
    interfaces(&file.interfaces).map_err(|problem| problem.inside("balancer"))?;
    check_name("balancer.name", &file.name)?;
    admin(&file.admin)?;
    let listed = listed(&file.name, members)?;
    let addresses = addresses(file, listed)?;
    let [ipv4, ipv6] = families(&addresses)?;
    let first = addresses.first();
    let alone = first.map(|&address| raw::Member { name: file.name.clone(), address, id: None });
    Ok(Balancer {
        name: file.name.clone(),
        interfaces: file.interfaces.clone(),
        ipv4: ipv4.and_then(|address| if let IpAddr::V4(v4) = address { Some(v4) } else { None }),
        ipv6: ipv6.and_then(|address| if let IpAddr::V6(v6) = address { Some(v6) } else { None }),
        member: listed.or(alone.as_ref()).map(member),
        accept_macs: accept_macs(file)?,
        forwards_invalid: matches!(file.invalid, raw::Invalid::Forward),
        admin: file.admin.clone(),
        metrics: file.metrics,
        pin: file.pin.clone(),
        state_dir: file.state_dir.clone(),
    })
}

fn admin(path: &Path) -> Result<(), Problem> {
    let length = path.as_os_str().len();
    if length > LONGEST_SOCKET {
        let message = format!("a socket's path has {LONGEST_SOCKET} bytes at most, not {length}");
        return Err(Problem::at("balancer.admin", message).help("/run/heddle/heddled.sock"));
    }
    Ok(())
}

/// Its addresses: as given, or else that of its entry in the list.
fn addresses(file: &raw::Balancer, listed: Option<&raw::Member>) -> Result<Vec<IpAddr>, Problem> {
    match (&file.addresses[..], listed) {
        ([], listed) => Ok(listed.iter().map(|member| member.address).collect()),
        (addresses, Some(member)) if !addresses.contains(&member.address) => {
            let message = format!("`[[balancers]]` has {} for this balancer", member.address);
            Err(Problem::at("balancer.addresses", message).help("add that address here"))
        }
        (addresses, _) => Ok(addresses.to_vec()),
    }
}

/// This balancer among all.
fn listed<'m>(name: &str, members: &'m [raw::Member]) -> Result<Option<&'m raw::Member>, Problem> {
    let found = members.iter().find(|member| member.name == name);
    if found.is_some() || members.is_empty() {
        return Ok(found);
    }
    let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
    let problem = Problem::at("balancer.name", format!("`{name}` is not among `[[balancers]]`"));
    Err(problem.suggest(name, &names))
}

fn accept_macs(file: &raw::Balancer) -> Result<Vec<Mac>, Problem> {
    let most = MACS as usize;
    if file.interfaces.len() + file.accept_macs.len() > most {
        let message = "too many Ethernet addresses to compare each frame's with";
        return Err(Problem::at("balancer.accept_macs", message)
            .help(format!("{most} interfaces and further addresses at most")));
    }
    let mac = |(number, text): (usize, &String)| {
        let key = format!("balancer.accept_macs.{number}");
        text.parse().map_err(|error: NotAMac| Problem::at(&key, error.to_string()))
    };
    file.accept_macs.iter().enumerate().map(mac).collect()
}

fn families(addresses: &[IpAddr]) -> Result<[Option<IpAddr>; 2], Problem> {
    let mut of_family = [None; 2];
    for (number, &address) in addresses.iter().enumerate() {
        let family = &mut of_family[usize::from(address.is_ipv6())];
        let key = format!("balancer.addresses.{number}");
        check_unicast(&key, address)?;
        if family.replace(address).is_some() {
            let message = format!("{address} is the second of its family");
            return Err(Problem::at(&key, message).help("one IPv4 and one IPv6 address at most"));
        }
    }
    Ok(of_family)
}

fn interfaces(names: &[String]) -> Result<(), Problem> {
    if names.is_empty() {
        return Err(Problem::at("interfaces", "at least one is needed")
            .help("interfaces = [\"eth0\"]")
            .because_of(["interfaces"]));
    }
    for (number, name) in names.iter().enumerate() {
        let key = format!("interfaces.{number}");
        if name.is_empty() || name.len() > LONGEST_INTERFACE || name.contains(['/', ' ']) {
            return Err(Problem::at(&key, format!("`{name}` is not an interface's name"))
                .help("`ip link` lists them"));
        }
        if names[..number].contains(name) {
            let problem = Problem::at(&key, format!("`{name}` is given twice"));
            return Err(problem.help("leave one out"));
        }
    }
    Ok(())
}

pub(super) fn sizes(file: &raw::Tables) -> Result<Sizes, Problem> {
    let ranges = [
        ("flows", file.flows, 1024, 1 << 28),
        ("tokens", file.tokens, 1024, 1 << 28),
        ("services", file.services, 1, 4095),
        ("own_backends", file.own_backends.unwrap_or(1), 1, 4095),
        ("ports", file.ports, 0, 1 << 22),
        ("targets", file.targets, 1, 65_534),
    ];
    for (key, value, least, most) in ranges {
        if !(least..=most).contains(&value) {
            let message = format!("{value} is out of range");
            return Err(Problem::at(key, message)
                .help(format!("{least} to {most}"))
                .inside("tables"));
        }
    }
    Ok(Sizes {
        flows: file.flows,
        tokens: file.tokens,
        // A service and its address; a backend's join address with the port and alone; where
        // balancers reach this one; further ports.
        vips: 2 * file.services + 2 * file.targets + 2 + file.ports,
        services: file.services,
        maglev_tables: 2 * file.own_backends.unwrap_or(file.services),
        targets: file.targets + 1,
        ..Sizes::default()
    })
}

pub(super) fn timeouts(file: &raw::Timeouts) -> Result<Timeouts, Problem> {
    let checked = |key: &str, given: heddle_config::Duration| match given.0 {
        time if time.is_zero() || time > LONGEST_TIMEOUT => Err(Problem::at(key, "out of range")
            .help("more than 0, at most 30d")
            .inside("timeouts")),
        time => Ok(time),
    };
    let timeouts = Timeouts {
        syn: checked("syn", file.syn)?,
        established: checked("established", file.established)?,
        closing: checked("closing", file.closing)?,
        udp: checked("udp", file.udp)?,
        provisional: checked("provisional", file.provisional)?,
        token: checked("token", file.token)?,
        refresh: checked("refresh", file.refresh)?,
        learning: checked("learning", file.learning)?,
    };
    if timeouts.refresh * 3 > timeouts.token {
        let message = "a token would expire when two refreshes are lost";
        return Err(
            Problem::at("timeouts.refresh", message).help("at most a third of `timeouts.token`")
        );
    }
    Ok(timeouts)
}

/// For how long UDP flows stay with a backend that drains; zero: they move at once.
pub(super) fn drain_udp(file: &raw::Drain) -> Result<Duration, Problem> {
    match file.udp.0 {
        time if time > LONGEST_TIMEOUT => {
            Err(Problem::at("udp", "out of range").help("at most 30d").inside("drain"))
        }
        time => Ok(time),
    }
}

pub(super) fn limits(file: &raw::Limits) -> Limits {
    let raw::Limits { midstream_keys, queries, joins, source_joins } = *file;
    Limits { midstream_keys, queries, joins, source_joins }
}
