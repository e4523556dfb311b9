//! This machine, its tables, and their times.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use heddle_config::Duration;
use schemars::JsonSchema;
use serde::Deserialize;

/// This machine.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::config) struct Balancer {
    /// Its name, in logs and among `[[balancers]]`.
    pub(in crate::config) name: String,
    /// Network interfaces at which clients' packets come in: an XDP program is attached to each, or
    /// to the device below if it is a VLAN interface, where frames with its tag are balanced then.
    pub(in crate::config) interfaces: Vec<String>,
    /// Its addresses, one of IPv4, one of IPv6 at most: the source of encapsulated packets, and
    /// where the other balancers reach it. Default: its address in `[[balancers]]`.
    #[serde(default)]
    pub(in crate::config) addresses: Vec<IpAddr>,
    /// Further Ethernet addresses whose frames are for this machine, as in `["00:00:5e:00:01:01"]`:
    /// of a virtual router (VRRP), of a bridge above. Frames to others than these and the
    /// interfaces' own are passed to the machine's own stack. Default: none.
    #[serde(default)]
    pub(in crate::config) accept_macs: Vec<String>,
    /// Packets to services that no host sends: TTL 0, a wrong checksum of the IPv4 header, impossible TCP flags, a
    /// source that is no host's or a service's address, a source route. Default: drop.
    #[serde(default)]
    pub(in crate::config) invalid: Invalid,
    /// The Unix socket that `heddle lb` talks to; root's alone. Its folder is made if that alone is
    /// missing. Default: /run/heddle/heddled.sock.
    #[serde(default = "admin")]
    pub(in crate::config) admin: PathBuf,
    /// Address at which Prometheus reads metrics over HTTP. Default: none.
    pub(in crate::config) metrics: Option<SocketAddr>,
    /// Folder in which maps and links are pinned, so that a restart drops nothing; below a BPF file
    /// system. Default: /sys/fs/bpf/heddle.
    #[serde(default = "pin")]
    pub(in crate::config) pin: PathBuf,
    /// Folder for what survives a restart of the daemon: the last list of balancers of etcd.
    /// Default: /var/lib/heddle.
    #[serde(default = "state_dir")]
    pub(in crate::config) state_dir: PathBuf,
}

/// Packets that no host sends.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in crate::config) enum Invalid {
    /// Dropped, and counted by reason.
    #[default]
    Drop,
    /// As any others.
    Forward,
}

fn admin() -> PathBuf {
    "/run/heddle/heddled.sock".into()
}

fn pin() -> PathBuf {
    "/sys/fs/bpf/heddle".into()
}

fn state_dir() -> PathBuf {
    "/var/lib/heddle".into()
}

/// Table sizes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::config) struct Tables {
    /// Flows (5-tuples) at a time; 44 bytes each, up to twice that by rounding: the capacity that
    /// is shown is that of the table, 5632 for 4096. Default: 1048576.
    pub(in crate::config) flows: u32,
    /// MPTCP connections at a time, by token; 22 bytes each, up to twice that by rounding.
    /// Default: 1048576.
    pub(in crate::config) tokens: u32,
    /// Services that there may be after reloads. Default: 31.
    pub(in crate::config) services: u32,
    /// Services with backends of their own (without `backends_of`) that there may be after reloads;
    /// each takes 512 KiB: a table, and its next. Default: as many as `services`.
    pub(in crate::config) own_backends: Option<u32>,
    /// Ports of all services with several ports (`ports`) together, after reloads; about 100 bytes
    /// each. Default: 1024.
    pub(in crate::config) ports: u32,
    /// Backends of all services together, and other balancers, after reloads. Default: 4095.
    pub(in crate::config) targets: u32,
}

impl Default for Tables {
    fn default() -> Tables {
        Tables {
            flows: 1 << 20,
            tokens: 1 << 20,
            services: 31,
            own_backends: None,
            ports: 1024,
            targets: 4095,
        }
    }
}

/// Timeouts of table entries. Resolution: 17 ms.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::config) struct Timeouts {
    /// A flow of which only the SYN was seen. Default: 10s.
    pub(in crate::config) syn: Duration,
    /// A flow without packets. Linux sends TCP keepalives after 2 hours, most clients of NATs much
    /// sooner. Default: 3600s (1 hour).
    pub(in crate::config) established: Duration,
    /// A flow after FIN or RST. Default: 10s.
    pub(in crate::config) closing: Duration,
    /// A UDP flow without packets (RFC 4787 REQ-5 asks NATs for 2 minutes at least). Default: 120s
    /// (2 minutes).
    pub(in crate::config) udp: Duration,
    /// A token of which nothing was seen but its keys. Default: 10s.
    pub(in crate::config) provisional: Duration,
    /// A token that no subflow refreshed. Default: 600s (10 minutes).
    pub(in crate::config) token: Duration,
    /// A flow that passes sends one packet through its token's owner this often. At most a third of
    /// `token`. Default: 120s (2 minutes).
    pub(in crate::config) refresh: Duration,
    /// Time after a SYN with MP_CAPABLE during which packets are searched for keys. Default: 10s.
    pub(in crate::config) learning: Duration,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts {
            syn: Duration::from_secs(10),
            established: Duration::from_secs(3600),
            closing: Duration::from_secs(10),
            udp: Duration::from_secs(120),
            provisional: Duration::from_secs(10),
            token: Duration::from_secs(600),
            refresh: Duration::from_secs(120),
            learning: Duration::from_secs(10),
        }
    }
}

/// Draining backends.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::config) struct Drain {
    /// UDP flows stay with a backend that drains for so long, and move then: datagrams have no
    /// connection that would end. Connections of QUIC by id stay. Default: 300s (5 minutes).
    pub(in crate::config) udp: Duration,
}

impl Default for Drain {
    fn default() -> Drain {
        Drain { udp: Duration::from_secs(300) }
    }
}

/// Limits on work that unauthenticated packets cause. Rates are per second and processor; 0: no
/// limit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::config) struct Limits {
    /// Tokens learnt from flows whose opening was not seen. Default: 6000.
    #[serde(alias = "learn")]
    pub(in crate::config) midstream_keys: u32,
    /// Queries to other balancers about unknown flows. Default: 60000.
    #[serde(alias = "ask")]
    pub(in crate::config) queries: u32,
    /// Joins of one token between two refreshes, 255 at most; 0: no limit. Default: 64.
    pub(in crate::config) joins: u8,
    /// Joins of one token from one address between two refreshes, 255 at most; 0: no limit.
    /// Default: 16.
    pub(in crate::config) source_joins: u8,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { midstream_keys: 6000, queries: 60_000, joins: 64, source_joins: 16 }
    }
}
