//! The file as it is written: every key and its default. The doc comments become the descriptions
//! of the JSON Schema.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::path::PathBuf;

use heddle_config::Rate;
use heddle_scenario::SchemeTable;
use schemars::JsonSchema;
use serde::Deserialize;

/// heddle-switch's configuration: one switch of a fabric that a file describes, or one with the
/// kernel's routes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// The switch's name, in the fabric if there is one: `"tor-1"`.
    pub(super) node: String,
    /// The source of next hops: `"fabric"`, the fabric file, or `"kernel"`, the routes that a routing
    /// daemon or `ip route` writes into the kernel. Default: "fabric".
    #[serde(default)]
    pub(super) routes: Routes,
    /// The fabric file, from whose `[fabric]` and `[addresses]` routes and hosts come; the same at
    /// all switches. Relative to this file's folder. None with `routes = "kernel"`.
    pub(super) fabric: Option<PathBuf>,
    /// With `routes = "kernel"`: this switch's number as a ToR, 0 to 1023, as its probes name it.
    /// Default: none, it is no ToR.
    pub(super) tor: Option<u16>,
    /// With `routes = "kernel"`: the prefixes behind each ToR, by its number, the same at all
    /// switches: `1 = ["10.0.1.0/24"]`. Routes to a part of one belong to its ToR.
    #[serde(default)]
    pub(super) tors: BTreeMap<String, Vec<String>>,
    /// With `routes = "kernel"`: true if a route's realm is the number of its ToR (`krt_realm` in
    /// BIRD, `realm` in `ip route`, of IPv4 alone); it goes before `[tors]`. Default: false.
    #[serde(default)]
    pub(super) realms: bool,
    /// With `routes = "kernel"`: the number of the routing table. Default: 254, the main table.
    pub(super) table: Option<u32>,
    /// With `routes = "kernel"`: the VRF whose table it is, in place of `table`.
    pub(super) vrf: Option<String>,
    /// The switch's load balancing, with the keys that a scenario has: `scheme = "hula"`, or a
    /// table. CFLB's constants and its key are those of the fabric file's `[cflb]`.
    pub(super) scheme: SchemeTable,
    /// Seed of the switches' salts, by which each hashes flows differently; the same at all
    /// switches. Default: 1.
    #[serde(default = "one")]
    pub(super) seed: u64,
    /// The hook of the programs: `"tc"` (behind queues), `"xdp"` (in the driver) or
    /// `"xdp-generic"`. Default: "tc".
    #[serde(default)]
    pub(super) hook: Hook,
    /// Folder in which maps and links are pinned, so that a restart drops nothing; below a BPF file
    /// system. Default: /sys/fs/bpf/heddle-switch/NODE.
    pub(super) pin: Option<PathBuf>,
    /// The Unix socket that `heddle-switch status` and others talk to; root's alone. Default:
    /// /run/heddle/switch-NODE.sock.
    pub(super) admin: Option<PathBuf>,
    /// Address at which Prometheus reads metrics over HTTP. Default: none.
    pub(super) metrics: Option<SocketAddr>,
    /// Addresses from which the switch answers packets whose TTL or hop limit ends (ICMP "time
    /// exceeded", traceroute): one of IPv4, one of IPv6, or none of a family, whose packets are then
    /// dropped without an answer. Default: the switch's own of those set aside for benchmarks
    /// (RFC 2544, RFC 5180), by its number n from 1 in the fabric, ToRs first: 198.18.0.0 + n and
    /// 2001:2:: + n. Not with `routes = "kernel"`, where the kernel answers.
    pub(super) icmp_source: Option<Vec<IpAddr>>,
    /// True if packets of a host at this ToR must have one of its `[addresses]` as their source;
    /// others are dropped and counted (`dropped_source`). No effect at switches that are no ToR.
    /// Default: false.
    #[serde(default)]
    pub(super) source_check: bool,
    /// The header in front of this ToR's probes: `"ethernet"`, or `"ipv4"` as in HULA's paper
    /// (section 5.2), whose probes are taken and replicated then, too; the same at all switches.
    /// Default: "ethernet".
    #[serde(default)]
    pub(super) probe: Probe,
    /// IPv4's protocol number of probes with `probe = "ipv4"`, 143 to 254; the paper does not tell
    /// its own. Default: 253, for experiments (RFC 3692).
    pub(super) probe_protocol: Option<u8>,
    /// Postcards of a sample of the packets that it forwards. Default: none.
    pub(super) postcards: Option<Postcards>,
    /// The devices of the switch's ports. A port of the fabric without a device is down.
    #[serde(default)]
    pub(super) port: Vec<Port>,
}

fn one() -> u64 {
    1
}

/// A source of next hops.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Routes {
    /// The fabric file.
    #[default]
    Fabric,
    /// The kernel's routes.
    Kernel,
}

/// A point in the kernel.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Hook {
    /// tc (tcx) at ingress and egress.
    #[default]
    Tc,
    /// XDP in the driver.
    Xdp,
    /// XDP behind the driver.
    XdpGeneric,
}

/// The header in front of a probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Probe {
    /// Ethernet's, with an EtherType of the probe's own.
    #[default]
    Ethernet,
    /// IPv4's.
    Ipv4,
}

/// A sample of packets, and a file for what is told of them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Postcards {
    /// One in so many packets, by a hash: switches with the same number tell of the same packets.
    pub(super) one_in: NonZeroU32,
    /// The file, as CSV, to which lines are added until it has 1 GiB. Relative to this file's
    /// folder.
    pub(super) file: PathBuf,
}

/// The device of a port.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Port {
    /// The network interface.
    pub(super) device: String,
    /// The neighbour's name in the fabric: a switch or a host. With `routes = "kernel"` any name;
    /// default: the device's.
    pub(super) peer: Option<String>,
    /// With `routes = "kernel"`: what is at the far end, `"up"` (a switch of a higher tier),
    /// `"down"` (one of a lower tier) or `"host"` (hosts of this ToR; a bridge or a VLAN interface,
    /// too). Otherwise the fabric says.
    pub(super) role: Option<Role>,
    /// Of parallel links to one neighbour: which, from 1 in the fabric's order. Default: in the
    /// order of these tables.
    pub(super) link: Option<u32>,
    /// The neighbour's Ethernet address, as in `"02:00:00:00:00:01"`. Default: that of the last
    /// frame from there.
    pub(super) mac: Option<String>,
    /// The rate to which utilisation is relative: that of the device's queue, where it is not the
    /// link's. Default: the link's in the fabric; with `routes = "kernel"` it is needed at ports to
    /// switches.
    pub(super) rate: Option<Rate>,
}

/// The far end of a port.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Role {
    /// Hosts of this ToR.
    Host,
    /// A switch of a higher tier.
    Up,
    /// A switch of a lower tier.
    Down,
}
