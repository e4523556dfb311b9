//! The file as it is written: every key and its default. The doc comments become the descriptions
//! of the JSON Schema.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use heddle_config::Rate;
use heddle_scenario::SchemeTable;
use schemars::JsonSchema;
use serde::Deserialize;

/// heddle-switch's configuration: one switch of a fabric.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// The switch's name in the fabric: `"tor-1"`.
    pub(super) node: String,
    /// The fabric file, from whose `[fabric]` and `[addresses]` routes and hosts come; the same at
    /// all switches. Relative to this file's folder.
    pub(super) fabric: PathBuf,
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
    /// 2001:2:: + n.
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
    /// The devices of the switch's ports. A port of the fabric without a device is down.
    #[serde(default)]
    pub(super) port: Vec<Port>,
}

fn one() -> u64 {
    1
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

/// The device of a port.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Port {
    /// The network interface.
    pub(super) device: String,
    /// The neighbour's name in the fabric: a switch or a host.
    pub(super) peer: String,
    /// Of parallel links to one neighbour: which, from 1 in the fabric's order. Default: in the
    /// order of these tables.
    pub(super) link: Option<u32>,
    /// The neighbour's Ethernet address, as in `"02:00:00:00:00:01"`. Default: that of the last
    /// frame from there.
    pub(super) mac: Option<String>,
    /// The rate to which utilisation is relative: that of the device's queue, where it is not the
    /// link's. Default: the link's.
    pub(super) rate: Option<Rate>,
}
