//! From the file's types to [`Config`].

mod fabric;
mod kernel;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

use heddle_config::Problem;
use heddle_daemon::mac::{Mac, NotAMac};
use heddle_path_files::files;
use heddle_policy::mix;
use heddle_switch_maps::Hook;
use heddle_switch_maps::abi::SWITCH_PORTS;
use heddle_units::Rate;

use super::refused::Refused;
use super::{Config, Postcards, raw, scheme};

/// Most ports of the programs' tables.
const PORTS: usize = SWITCH_PORTS as usize;

pub(super) fn resolve(file: &raw::File, path: &Path) -> Result<Config, Refused> {
    match file.routes {
        raw::Routes::Fabric => fabric::resolve(file, path),
        raw::Routes::Kernel => kernel::resolve(file, path),
    }
}

fn hook(file: &raw::File) -> Hook {
    match file.hook {
        raw::Hook::Tc => Hook::Tc,
        raw::Hook::Xdp => Hook::Xdp,
        raw::Hook::XdpGeneric => Hook::XdpGeneric,
    }
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

fn postcards(file: &raw::File, path: &Path) -> Option<Postcards> {
    let given = file.postcards.as_ref()?;
    Some(Postcards { one_in: given.one_in, file: files::folder(path).join(&given.file) })
}

fn pin(node: &str) -> PathBuf {
    Path::new("/sys/fs/bpf/heddle-switch").join(node)
}

fn admin(node: &str) -> PathBuf {
    format!("/run/heddle/switch-{node}.sock").into()
}

/// The salt of a switch, by a number of its own: other switches have others.
fn salt(seed: u64, own: u32) -> u32 {
    mix(mix(seed as u32, (seed >> 32) as u32), own)
}

/// Most bytes of an interface's name (linux/if.h, `IFNAMSIZ`, less the zero behind it).
const NAME: usize = 15;

/// Refuses what cannot be the name of an interface.
fn check_interface(key: &str, name: &str) -> Result<(), Problem> {
    if !(1..=NAME).contains(&name.len()) || name.contains(|c: char| c == '/' || c.is_whitespace()) {
        let message = format!("\"{name}\" cannot be the name of an interface");
        return Err(Problem::at(key, message)
            .help(format!("1 to {NAME} characters, as `ip link` shows it")));
    }
    Ok(())
}

/// Refuses what cannot be the name of an interface, or a link's rate.
fn check(port: &raw::Port) -> Result<(), Problem> {
    check_interface("device", &port.device)?;
    match port.rate {
        Some(Rate(0)) => {
            Err(Problem::at("rate", "0bps is not a link's rate").help("as in rate = \"10Gbps\""))
        }
        _ => Ok(()),
    }
}

fn mac(port: &raw::Port) -> Result<Option<Mac>, Problem> {
    let parsed = port.mac.as_deref().map(str::parse).transpose();
    let mac: Option<Mac> =
        parsed.map_err(|error: NotAMac| Problem::at("mac", error.to_string()))?;
    // A group's has the lowest bit of the first byte.
    match mac.filter(|mac| mac.0[0] & 1 == 1 || mac.0 == [0; 6]) {
        None => Ok(mac),
        Some(other) => Err(Problem::at("mac", format!("{other} is no single interface's address"))
            .help("the neighbour's, as `ip link` shows it there")),
    }
}
