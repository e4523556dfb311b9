//! The switch's configuration: a TOML file with the source of its routes (a fabric file and the
//! switch's node in it, or the kernel), its scheme, and the devices of its ports.
//!
//! [`read`] gives a [`Config`] in which every default is filled in and nothing contradicts anything
//! else. [`schema`] is the file's JSON Schema, with every key's
//! meaning and default.

mod raw;
mod refused;
mod resolve;
mod scheme;

use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use heddle_config::{Document, Problem};
use heddle_daemon::mac::Mac;
use heddle_fabric::{Fabric, PortInfo};
use heddle_program::{Failure, Report};
use heddle_scenario::FabricFile;
use heddle_switch_maps::abi::SwitchRole;
use heddle_switch_maps::{Hook, Parameters};
use heddle_units::Rate;
use ipnet::IpNet;

/// A switch's configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// The switch's name.
    pub node: String,
    /// The source of its routes.
    pub routes: Routes,
    /// Its number as a ToR, as in its probes; none: it is no ToR.
    pub tor: Option<u16>,
    /// Numbers of ToRs are below.
    pub tors: u16,
    /// The scheme with its parameters.
    pub scheme: Parameters,
    /// The switch's salt.
    pub salt: u32,
    /// The hook of the programs.
    pub hook: Hook,
    /// The folder of pinned maps and links.
    pub pin: PathBuf,
    /// The admin socket.
    pub admin: PathBuf,
    /// The listening address of the Prometheus endpoint.
    pub metrics: Option<SocketAddr>,
    /// Sources of ICMP "time exceeded", of IPv4 and of IPv6; none: packets whose TTL ends are
    /// dropped without an answer.
    pub icmp_source: (Option<Ipv4Addr>, Option<Ipv6Addr>),
    /// True if packets of a host must have a source address of its own.
    pub source_check: bool,
    /// IPv4's protocol number of probes; none: they are behind Ethernet's header.
    pub probe_protocol: Option<u8>,
    /// A sample of packets, each of which has a postcard.
    pub postcards: Option<Postcards>,
    /// Ports that have a device, by number.
    pub ports: Vec<Port>,
}

/// A sample of packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Postcards {
    /// One in so many packets.
    pub one_in: NonZeroU32,
    /// The file that tells of them.
    pub file: PathBuf,
}

/// The source of a switch's routes.
#[derive(Clone, Debug)]
pub enum Routes {
    /// A fabric file.
    Fabric(Box<FabricRoutes>),
    /// The kernel's forwarding tables.
    Kernel(KernelRoutes),
}

/// Routes by a fabric file.
#[derive(Clone, Debug)]
pub struct FabricRoutes {
    /// The file: links that are down from the start, hosts' addresses, CFLB's constants.
    pub file: FabricFile,
    /// Its fabric, with ports numbered.
    pub fabric: Fabric,
    /// The switch's number in the fabric, ToRs first.
    pub switch: u32,
}

impl FabricRoutes {
    /// The switch's ports, by number.
    pub fn ports(&self) -> &[PortInfo] {
        self.fabric.ports_of(self.fabric.hosts + self.switch)
    }
}

/// Routes by the kernel's forwarding tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelRoutes {
    /// The table.
    pub table: Table,
    /// The ToR behind which each prefix is.
    pub tors: BTreeMap<IpNet, u16>,
    /// True if a route's realm is the number of its ToR, and goes before `tors`.
    pub realms: bool,
}

/// One of the kernel's routing tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Table {
    /// By number: 254 is the main one.
    Number(u32),
    /// That of a VRF, by its device.
    Vrf(String),
}

impl Config {
    /// The fabric, if routes come from one.
    pub fn fabric(&self) -> Option<&FabricRoutes> {
        match &self.routes {
            Routes::Fabric(fabric) => Some(fabric),
            Routes::Kernel(_) => None,
        }
    }

    /// The name of a ToR.
    pub fn tor_name(&self, tor: u16) -> String {
        match self.fabric() {
            Some(own) => own.fabric.node(own.fabric.hosts + u32::from(tor)).name.clone(),
            None => format!("ToR {tor}"),
        }
    }

    /// Likely mistakes: with them the switch runs, and does not balance.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let scheme = self.scheme.scheme;
        if self.hook != Hook::Tc && self.tor.is_some() && scheme.has_probes() {
            let kind = scheme.kind();
            warnings.push(format!(
                "under XDP a ToR sends no probes, without which {kind} knows no best hop: hook = \"tc\""
            ));
        }
        let has_hosts = self.ports.iter().any(|port| port.role == SwitchRole::Host);
        if self.fabric().is_none() && self.tor.is_none() && has_hosts {
            let why = "a port has role = \"host\", but this switch is no ToR";
            warnings.push(format!("{why}: it sends no probes unless `tor` gives its number"));
        }
        warnings
    }

    /// The name of the neighbour at a port, with a device or without.
    pub fn peer(&self, port: u16) -> String {
        let name = self.ports.iter().find(|own| own.number == port).map(|own| own.peer.clone());
        let in_fabric = || {
            let own = self.fabric()?;
            own.ports().get(usize::from(port)).map(|info| own.fabric.node(info.to).name.clone())
        };
        name.or_else(in_fabric).unwrap_or_default()
    }
}

/// A port with a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its number at the switch: the fabric's, or its place in the file.
    pub number: u16,
    /// The network interface.
    pub device: String,
    /// The neighbour's name.
    pub peer: String,
    /// The far end.
    pub role: SwitchRole,
    /// The neighbour's Ethernet address; none: the kernel's neighbour, or to be learnt.
    pub mac: Option<Mac>,
    /// The rate to which utilisation is relative.
    pub rate: Rate,
}

/// Reads a configuration and the files that it names.
///
/// # Errors
/// The first thing that is wrong with one of them, or a file that cannot be read.
pub fn read(path: &Path) -> Result<Config, Failure> {
    let name = path.display().to_string();
    let document = Document::parse(&name, &text(path)?)?;
    refuse_cflb_constants(&document).map_err(|problem| document.locate(problem))?;
    let file: raw::File = document.read()?;
    match resolve::resolve(&file, path) {
        Err(refused::Refused::Problem(problem)) => Err(document.locate(problem).into()),
        Err(refused::Refused::Other(failure)) => Err(failure),
        Ok(config) => Ok(config),
    }
}

/// Keys of a scenario's `[scheme]` that all switches and senders of a network have in common, or
/// senders alone.
const CFLB_KEYS: [&str; 7] =
    ["field", "source_ports", "cipher", "radix", "rules", "elephants", "placing"];

/// CFLB's constants have one place, the fabric file.
fn refuse_cflb_constants(document: &Document) -> Result<(), Problem> {
    let keys = CFLB_KEYS.map(|key| format!("scheme.{key}"));
    match keys.iter().find(|key| document.contains(key)) {
        None => Ok(()),
        Some(key) => Err(Problem::at(key, "CFLB's constants are the whole network's")
            .help("write it in `[cflb]` of the fabric file; `scheme = \"cflb\"` suffices here")),
    }
}

/// The JSON Schema (draft 2020-12) of the configuration, with every key's meaning and default.
pub fn schema() -> serde_json::Value {
    heddle_config::schema::<raw::File>("heddle-switch")
}

/// The report of a wrong configuration or scenario; `None` for other errors.
#[must_use]
pub fn describe(error: &anyhow::Error) -> Option<Report> {
    heddle_path_files::describe(error)
}

fn text(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| {
        let message = format!("{}: {error}", path.display());
        Failure::advised(message, "name the configuration of a switch; docs/src/switch.md has one")
    })
}
