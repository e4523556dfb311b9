//! This machine: its kernel, its BPF file system, its memory, and the interfaces of the
//! configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::net::{IpAddr, TcpListener};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread::available_parallelism;

use heddle_balancer_maps::{Mode, link_pin, links_of};
use heddled::config::{ClosedPorts, Config, Flaw, Memory, file_flaws};
use heddled::mtu;
use ipnet::Ipv4Net;

use super::ethtool::Device;
use super::finding::Finding;
use super::interfaces::Interface;
use super::link::{self, Link};
use super::vlan;
use super::xdp_features;
use crate::addresses;

/// The oldest kernel on which the program was seen to work (results/vlan).
const OLDEST: (u32, u32) = (6, 1);
/// The magic number of BPF file systems (linux/magic.h).
const BPF_FS_MAGIC: rustix::fs::FsWord = 0xcafe_4a11;

/// Findings about this machine for this configuration.
pub(crate) fn findings(config: &Config) -> Vec<Finding> {
    let mut found: Vec<Finding> = [
        kernel(&rustix::system::uname().release().to_string_lossy()),
        jit(setting("net/core/bpf_jit_enable")),
        bpf_file_system(&config.balancer.pin),
        memory(available_memory(), Memory::of(&config.sizes).total()),
    ]
    .into_iter()
    .flatten()
    .collect();
    found.extend(reverse_path_filters(config));
    found.extend(files(config));
    found.extend(listens(config));
    let (own_addresses, all) = (addresses::on(&config.balancer.interfaces), addresses::all());
    found.extend(closed_ports(config, &own_addresses));
    found.extend(balancers_addresses(config, &all));
    found.extend(backends_addresses(config, &all, &addresses::networks()));
    found.extend(metrics(config, &own_addresses));
    found.extend(interfaces(config));
    found
}

fn kernel(release: &str) -> Option<Finding> {
    let mut numbers = release.split(['.', '-']).map(|number| number.parse::<u32>().unwrap_or(0));
    let version = (numbers.next()?, numbers.next()?);
    let (major, minor) = OLDEST;
    let finding =
        || Finding::error("kernel", format!("Linux {release} is older than {major}.{minor}"));
    (version < OLDEST).then(|| finding().fix("a newer kernel: Debian 12's own is new enough"))
}

fn jit(enabled: Option<u64>) -> Option<Finding> {
    let finding = || Finding::warning("kernel", "eBPF programs are interpreted, not compiled");
    (enabled == Some(0)).then(|| finding().fix("sysctl -w net.core.bpf_jit_enable=1"))
}

/// The place where systemd mounts the BPF file system.
const BPF_FS: &str = "/sys/fs/bpf";

fn bpf_file_system(pin: &Path) -> Option<Finding> {
    let above = pin.ancestors().find(|path| path.exists())?;
    let system = rustix::fs::statfs(above).ok()?;
    if system.f_type == BPF_FS_MAGIC {
        return None;
    }
    let is_usual = pin.starts_with(BPF_FS);
    let hides = if is_usual { "; `ip netns exec` hides that of the machine" } else { "" };
    let message = format!("{} is on no BPF file system here{hides}", pin.display());
    Some(Finding::error("kernel", message).at("balancer.pin").fix(match is_usual {
        true => format!("mount -t bpf bpf {BPF_FS}; in a network namespace: nsenter --net=/run/netns/NAME heddled, instead of ip netns exec"),
        false => format!("pin = \"{BPF_FS}/heddle\", or another folder below {BPF_FS}"),
    }))
}

/// Bytes.
fn available_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}

fn memory(available: Option<u64>, needed: u64) -> Option<Finding> {
    let available = available.filter(|available| *available < needed)?;
    let message =
        format!("the tables take {} MiB, and {} MiB are available", needed >> 20, available >> 20);
    Some(
        Finding::error("memory", message)
            .at("tables")
            .fix("smaller [tables]: flows, tokens, services"),
    )
}

/// Secrets, certificates, keys and passwords that the daemon could not use.
fn files(config: &Config) -> Vec<Finding> {
    let is_root = rustix::process::geteuid().is_root();
    let finding = |Flaw { key, message, help }: Flaw| {
        let found = match is_root {
            true => Finding::error(&key, message),
            false => Finding::warning(&key, format!("{message}; root may see more")),
        };
        let found = found.at(&*key);
        help.into_iter().fold(found, Finding::fix)
    };
    file_flaws(config).into_iter().map(finding).collect()
}

/// Strict filters drop what comes by another interface than answers would leave by: with several
/// interfaces, heartbeats and answers to health checks. Balanced packets never meet them.
fn reverse_path_filters(config: &Config) -> Vec<Finding> {
    let interfaces = &config.balancer.interfaces;
    let strict = |(_, name): &(usize, &String)| {
        let filter_of = |name: &str| {
            setting(&format!("net/ipv4/conf/{}/rp_filter", name.replace('.', "/"))).unwrap_or(0)
        };
        filter_of(name).max(filter_of("all")) == 1
    };
    let several = interfaces.iter().enumerate().filter(|_| interfaces.len() > 1);
    several
        .filter(strict)
        .map(|(number, name)| {
            let message = "rp_filter is strict: answers to health checks and heartbeats that come by another interface are dropped";
            Finding::warning(name, message)
                .at(interface_key(number))
                .fix(format!("sysctl -w net.ipv4.conf.{}.rp_filter=2", name.replace('.', "/")))
        })
        .collect()
}

/// Addresses that heddled sends from, to backends and other balancers, and this machine does not have.
fn balancers_addresses(config: &Config, own: &BTreeSet<IpAddr>) -> Vec<Finding> {
    let balancer = &config.balancer;
    let given = [balancer.ipv4.map(IpAddr::from), balancer.ipv6.map(IpAddr::from)];
    let strange = given.into_iter().flatten().filter(|address| !own.contains(address));
    let finding = |address| {
        let message =
            format!("this machine has no address {address}: what is sent to it does not come here");
        Finding::error("addresses", message)
            .at("balancer.addresses")
            .fix(format!("one of: ip -brief address; or ip address add {address} dev ..."))
    };
    strange.map(finding).collect()
}

/// Backends at an address that is no other machine's: this one's own, or one that a network here has
/// for all of its machines.
fn backends_addresses(
    config: &Config,
    own: &BTreeSet<IpAddr>,
    networks: &BTreeMap<Ipv4Net, String>,
) -> Vec<Finding> {
    let mut found = Vec::new();
    for (number, service) in config.services.iter().enumerate().filter(|(_, s)| s.owns_backends()) {
        for (index, backend) in service.backends.iter().enumerate() {
            let address = backend.address;
            let own = || own.contains(&address).then(|| "this machine's own".to_owned());
            let what = own().or_else(|| networks.iter().find_map(|one| of_all(address, one)));
            found.extend(what.map(|what| {
                Finding::error(&service.name, format!("{address} of {} is {what}", backend.name))
                    .at(format!("service.{number}.backend.{index}.address"))
                    .fix("the address of another machine")
            }));
        }
    }
    found
}

/// The role of an address that stands for a network of its own, or for all machines there. Networks
/// of 31 and 32 bits have none (RFC 3021).
fn of_all(address: IpAddr, (network, interface): (&Ipv4Net, &String)) -> Option<String> {
    let IpAddr::V4(address) = address else { return None };
    let role = match address {
        _ if network.prefix_len() > 30 => return None,
        address if address == network.network() => "network",
        address if address == network.broadcast() => "broadcast",
        _ => return None,
    };
    Some(format!("the {role} address of {network} on {interface}"))
}

/// Services at an address that the machine has on an interface of the balancer: what is done with
/// ports without a service is done with SSH, too.
fn closed_ports(config: &Config, own: &BTreeMap<IpAddr, String>) -> Vec<Finding> {
    let finding = |service: &heddled::config::Service| {
        let name = match service.closed_ports? {
            ClosedPorts::Pass => return None,
            ClosedPorts::Drop => "drop",
            ClosedPorts::Refuse => "refuse",
        };
        let interface = own.get(&service.address)?;
        let message = format!(
            "closed_ports = \"{name}\", and this machine has {} itself, on {interface}: its own services there, as SSH, cannot be reached",
            service.address
        );
        let fix = "closed_ports = \"pass\"; or log in by another address";
        Some(Finding::warning(&service.name, message).fix(fix))
    };
    config.services.iter().filter_map(finding).collect()
}

/// The address of the metrics, opened as the daemon does. While it runs, it has it.
fn listens(config: &Config) -> Option<Finding> {
    let at = config.balancer.metrics?;
    let error = TcpListener::bind(at).err()?;
    let finding = |message: String| Finding::error("metrics", message).at("balancer.metrics");
    match error.kind() {
        ErrorKind::AddrInUse if UnixStream::connect(&config.balancer.admin).is_ok() => None,
        ErrorKind::AddrInUse => {
            let message = format!("another program listens at {at}");
            Some(
                finding(message)
                    .fix(format!("another port; ss -ltnp sport = {} names it", at.port())),
            )
        }
        ErrorKind::AddrNotAvailable => {
            let message = format!("this machine has no address {}", at.ip());
            Some(finding(message).fix("one of: ip -brief address; or leave `metrics` out"))
        }
        _ => Some(finding(format!("cannot listen at {at}: {error}"))),
    }
}

/// Metrics where clients' packets arrive: whoever sends them can also ask for the metrics.
fn metrics(config: &Config, own: &BTreeMap<IpAddr, String>) -> Option<Finding> {
    let at = config.balancer.metrics?;
    let place = match own.get(&at.ip()) {
        Some(interface) => format!("an address on {interface}, where clients' packets arrive"),
        None if at.ip().is_unspecified() => "all addresses, those for clients' packets, too".into(),
        None => return None,
    };
    let message = format!("{at} is {place}: anybody there can ask for metrics");
    let fix =
        format!("metrics = \"127.0.0.1:{}\", or an address of a management network", at.port());
    Some(Finding::warning("metrics", message).fix(fix).at("balancer.metrics"))
}

/// A number below /proc/sys.
fn setting(name: &str) -> Option<u64> {
    fs::read_to_string(Path::new("/proc/sys").join(name)).ok()?.trim().parse().ok()
}

/// The key of the configuration's interface of this number.
fn interface_key(number: usize) -> String {
    format!("balancer.interfaces.{number}")
}

fn interfaces(config: &Config) -> Vec<Finding> {
    let links = match link::all() {
        Ok(links) => links,
        Err(error) => {
            let message = format!("interfaces were not looked at: {error}");
            return vec![
                Finding::warning("machine", message).fix("apt-get install iproute2 ethtool"),
            ];
        }
    };
    let (mut found, mut devices) = (vec![], BTreeMap::new());
    for (number, name) in config.balancer.interfaces.iter().enumerate() {
        let key = interface_key(number);
        match device(name, &links) {
            Ok((device, findings)) => {
                devices.entry(&*device.name).or_insert((device, key.clone()));
                found.extend(findings.into_iter().map(|finding| finding.at(&*key)));
            }
            Err(finding) => found.push(finding.at(&*key)),
        }
    }
    found.extend(narrow_paths(config, &links));
    for (device, key) in devices.into_values() {
        found.extend(look_at(device, &links, config).into_iter().map(|one| one.at(&*key)));
    }
    found
}

/// Paths without room for outer headers, if the widest of the interfaces leads there: routes may be narrower still.
fn narrow_paths(config: &Config, links: &[Link]) -> Vec<Finding> {
    let named = links.iter().filter(|link| config.balancer.interfaces.contains(&link.name));
    let Some(widest) = named.max_by_key(|link| link.mtu) else { return vec![] };
    let own_address = config.balancer.member.as_ref().map(|member| member.address);
    let others: Vec<_> = config.members().iter().map(|member| member.address).collect();
    let others: Vec<_> =
        others.into_iter().filter(|address| Some(*address) != own_address).collect();
    let found = mtu::narrow(config, &others, |_| u32::try_from(widest.mtu).ok());
    let finding = |narrow: mtu::Narrow| {
        let fix =
            format!("ip link set dev {} mtu {}, there and on the way", widest.name, narrow.least);
        Finding::warning(&widest.name, narrow.message).at("balancer.interfaces").fix(fix)
    };
    found.into_iter().map(finding).collect()
}

/// The device that heddled attaches to for an interface, and what is to be known about the
/// interface itself.
fn device<'a>(name: &str, links: &'a [Link]) -> Result<(&'a Link, Vec<Finding>), Box<Finding>> {
    let Some(link) = links.iter().find(|link| link.name == name) else {
        let there: Vec<&str> =
            links.iter().map(|link| &*link.name).filter(|name| *name != "lo").collect();
        let fix = format!("interfaces = [...] with one of: {}", there.join(", "));
        return Err(Box::new(Finding::error(name, "there is no such interface").fix(fix)));
    };
    if link.kind != "vlan" {
        return Ok((link, vec![]));
    }
    let lower = vlan::lower(link, links)?;
    Ok((lower, vlan::findings(link, lower)))
}

fn look_at(link: &Link, links: &[Link], config: &Config) -> Vec<Finding> {
    let above = |other: &&Link| other.kind == "vlan" && other.lower.as_deref() == Some(&*link.name);
    let port = |other: &&Link| link.kind == "bond" && other.master.as_deref() == Some(&*link.name);
    let mut receivers: Vec<&Link> = links.iter().filter(port).collect();
    if receivers.is_empty() {
        receivers.push(link);
    }
    let (device, unknown) = settings(link);
    let interface = Interface {
        link,
        device,
        features: xdp_features::of(link.index).ok(),
        receivers: receivers.iter().map(|one| (one.name.clone(), settings(one).0)).collect(),
        vlans: links.iter().filter(above).map(|vlan| &*vlan.name).collect(),
        processors: available_parallelism().map_or(1, |count| count.get() as u64),
        accepts_macs: !config.balancer.accept_macs.is_empty(),
        is_pinned: is_pinned(&config.balancer.pin, link.index),
        links: link.program.as_ref().and_then(|program| links_of(program.id).ok()),
    };
    unknown.into_iter().chain(interface.findings()).collect()
}

/// True if a daemon of this configuration has attached its program to an interface; none: that is
/// root's to see.
fn is_pinned(pin: &Path, interface: u32) -> Option<bool> {
    let is_there = |mode: Mode| link_pin(pin, mode.hook(), interface).ok()?.try_exists().ok();
    Some(is_there(Mode::Native)? || is_there(Mode::Generic)?)
}

/// A link's settings; where ethtool does not tell them, none, and that as a finding.
fn settings(link: &Link) -> (Device, Option<Finding>) {
    match Device::of(&link.name) {
        Ok(device) => (device, None),
        Err(error) => {
            let text = format!("{error}: its offloads, channels and ring are not checked");
            let finding = Finding::note(&link.name, text).fix("apt-get install ethtool");
            (Device::default(), Some(finding))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_before_6_1_are_refused() {
        assert!(kernel("5.10.0-28-amd64").unwrap().message.contains("5.10.0-28"));
        assert!(kernel("6.0.12").unwrap().fix.unwrap().contains("newer kernel"));
        assert_eq!(
            [kernel("6.1.0-56-amd64"), kernel("6.12.100+deb12-amd64"), kernel("10.0")],
            [None, None, None]
        );
    }

    #[test]
    fn an_interpreter_is_a_warning() {
        assert_eq!([jit(Some(1)), jit(None)], [None, None]);
        assert!(jit(Some(0)).unwrap().fix.unwrap().contains("bpf_jit_enable=1"));
    }

    #[test]
    fn closed_ports_at_an_own_address_end_the_machines_own_services() {
        let found = |choice: &str| {
            let text = format!(
                "[balancer]\nname = \"lb1\"\ninterfaces = [\"eth0\"]\n[[service]]\nname = \"web\"\naddress = \"192.0.2.10\"\nport = 443\n{choice}\n[[service]]\nname = \"other\"\naddress = \"192.0.2.11\"\nport = 443\nclosed_ports = \"drop\""
            );
            let config = heddled::config::load("lb.toml", &text).unwrap();
            let addresses = BTreeMap::from([("192.0.2.10".parse().unwrap(), "eth0".to_owned())]);
            closed_ports(&config, &addresses)
        };
        assert_eq!(found(""), []);
        assert_eq!(found("closed_ports = \"pass\""), []);
        let found = found("closed_ports = \"refuse\"");
        assert_eq!((found.len(), &*found[0].subject), (1, "web"));
        assert!(found[0].message.contains("this machine has 192.0.2.10 itself, on eth0"));
    }

    #[test]
    fn addresses_of_another_machine_are_refused() {
        let text = "[balancer]\nname = \"lb1\"\ninterfaces = [\"eth0\"]\naddresses = [\"10.0.0.11\", \"fd00::11\"]";
        let config = heddled::config::load("lb.toml", text).unwrap();
        let addresses: Vec<IpAddr> =
            vec!["10.0.0.11".parse().unwrap(), "fd00::11".parse().unwrap()];
        assert_eq!(balancers_addresses(&config, &addresses.iter().copied().collect()), []);
        let found = balancers_addresses(&config, &addresses[..1].iter().copied().collect());
        assert_eq!(found.len(), 1);
        assert!(found[0].message.contains("no address fd00::11"), "{}", found[0]);
    }

    #[test]
    fn backends_at_addresses_of_no_other_machine_are_refused() {
        let found = |address: &str| {
            let text = format!(
                "[balancer]\nname = \"lb1\"\ninterfaces = [\"eth0\"]\n[[service]]\nname = \"web\"\naddress = \"192.0.2.10\"\nport = 443\n[[service.backend]]\nname = \"be1\"\naddress = \"{address}\""
            );
            let config = heddled::config::load("lb.toml", &text).unwrap();
            let own = BTreeSet::from(["10.0.0.9".parse().unwrap()]);
            let network = |text: &str| text.parse::<Ipv4Net>().unwrap();
            let networks = ["10.0.0.0/24", "10.0.1.0/31", "10.0.2.1/32"].map(network);
            let networks = networks.into_iter().map(|network| (network, "eth0".to_owned()));
            let found = backends_addresses(&config, &own, &networks.collect());
            found.into_iter().map(|finding| finding.to_string()).collect::<Vec<_>>()
        };
        for fine in ["10.0.0.1", "10.0.1.0", "10.0.1.1", "10.0.2.1", "10.0.3.255"] {
            assert_eq!(found(fine), [""; 0]);
        }
        for (address, what) in [
            ("10.0.0.9", "this machine's own"),
            ("10.0.0.0", "the network address of 10.0.0.0/24 on eth0"),
            ("10.0.0.255", "the broadcast address of 10.0.0.0/24 on eth0"),
        ] {
            let told = format!(
                "error: web: {address} of be1 is {what}\n  fix: the address of another machine"
            );
            assert_eq!(found(address), [told]);
        }
    }

    #[test]
    fn metrics_where_clients_packets_arrive_are_a_warning() {
        let found = |at: &str| {
            let text =
                format!("[balancer]\nname = \"lb1\"\ninterfaces = [\"eth0\"]\nmetrics = \"{at}\"");
            let config = heddled::config::load("lb.toml", &text).unwrap();
            let addresses = BTreeMap::from([("10.0.0.11".parse().unwrap(), "eth0".to_owned())]);
            metrics(&config, &addresses).map(|finding| finding.message)
        };
        assert_eq!([found("127.0.0.1:9100"), found("192.0.2.1:9100")], [None, None]);
        assert!(found("10.0.0.11:9100").unwrap().contains("on eth0"));
        assert!(found("[::]:9100").unwrap().contains("all addresses"));
    }

    #[test]
    fn a_pin_elsewhere_than_on_a_bpf_file_system_is_to_be_changed() {
        let folder = tempfile::tempdir().unwrap();
        let found = bpf_file_system(&folder.path().join("heddle")).unwrap();
        assert!(found.fix.unwrap().starts_with("pin = \"/sys/fs/bpf/heddle\""));
        assert!(!found.message.contains("ip netns exec"), "{}", found.message);
    }

    #[test]
    fn tables_larger_than_the_memory_are_refused() {
        assert_eq!([memory(None, 1), memory(Some(2), 1)], [None, None]);
        let found = memory(Some(64 << 20), 82 << 20).unwrap();
        assert_eq!(found.message, "the tables take 82 MiB, and 64 MiB are available");
    }
}
