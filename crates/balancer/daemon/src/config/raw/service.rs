//! Services and their backends.

use std::net::IpAddr;

use heddle_balancer_api::BackendEntry as Backend;
use heddle_config::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Access;
use crate::service::{MptcpMode, Protocol};

/// An address, ports and a protocol whose flows are spread over backends.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::config) struct Service {
    /// Its name, in metrics and commands.
    pub(in crate::config) name: String,
    /// Its virtual address, which clients connect to and every backend has on `lo`.
    pub(in crate::config) address: IpAddr,
    /// Its port. A service has this, or `ports`.
    pub(in crate::config) port: Option<u16>,
    /// Several ports instead: "8000-8099", first and last, or "all", those without another service
    /// of the same address and protocol. They count against `tables.ports`. Packets of one client
    /// port to several of them are one flow.
    pub(in crate::config) ports: Option<String>,
    /// Its transport protocol. Default: tcp.
    #[serde(default)]
    pub(in crate::config) protocol: Protocol,
    /// Services of the same group have backends of the same names, which are the same hosts: a
    /// connection to one of them can be joined through all, over the other address family or
    /// another port. Default: none.
    pub(in crate::config) group: Option<String>,
    /// Method to keep the subflows of one MPTCP connection together. Default: learn for TCP, off
    /// for UDP.
    pub(in crate::config) mptcp: Option<MptcpMode>,
    /// UDP: packets of QUIC whose connection id names a backend go to that backend, from whatever
    /// address and port the client sends (draft-ietf-quic-load-balancers, without encryption); each
    /// backend has a `server_id` then. Default: none, all datagrams go by flow.
    pub(in crate::config) quic: Option<Quic>,
    /// Each backend has a program that replaces the kernel's own MPTCP keys by those that the
    /// balancer has assigned. For `mptcp = "assign"` only, which is refused without it. Default:
    /// false.
    #[serde(default)]
    pub(in crate::config) translated: bool,
    /// Forwarding of packets to backends, all of which answer clients directly. Default: l2.
    #[serde(default)]
    pub(in crate::config) forwarding: Forwarding,
    /// UDP port that backends take GUE at (`forwarding = "gue"`; the same in all services).
    /// Default: 6080.
    pub(in crate::config) gue_port: Option<u16>,
    /// Packets to its address that cannot be read up to their ports: malformed, with more than four
    /// IPv6 extension headers, or of another protocol than TCP, UDP and ICMP. They are the
    /// address's: one service that drops them does so for all of its address. Default: pass.
    #[serde(default)]
    pub(in crate::config) unparsable: Unparsable,
    /// Packets to ports of its address that have no service. The choice is the address's: services
    /// that make one agree. Default: pass.
    pub(in crate::config) closed_ports: Option<ClosedPorts>,
    /// ICMP echo requests to its address. The choice is the address's: services that make one
    /// agree. Default: pass.
    pub(in crate::config) echo: Option<Echo>,
    /// Sources that may use it, and limits of the connections that they open. Default: all may, any
    /// number.
    pub(in crate::config) access: Option<Access>,
    /// Health check. Default: none, a backend counts as up.
    pub(in crate::config) health: Option<Health>,
    /// Time in which the share of a backend that is new, or up again, grows to that of its weight;
    /// at most 1h; "0s": at once. Default: 0s.
    #[serde(default)]
    pub(in crate::config) slow_start: Option<Duration>,
    /// The name of another service, whose backends this one has: with their weights, states and
    /// health checks, and in the same Maglev table, so that thousands of services take the memory
    /// of one. Both have the same `mptcp` and `forwarding`. Default: backends of its own.
    pub(in crate::config) backends_of: Option<String>,
    /// Backends.
    #[serde(default)]
    pub(in crate::config) backend: Vec<Backend>,
}

/// The connection ids by which packets of QUIC name a service's backends.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::config) struct Quic {
    /// The first three bits of the connection ids that name a backend: 0 to 6. Default: 0.
    #[serde(default)]
    pub(in crate::config) config_rotation: u8,
    /// The bytes of a server id: 1 to 15. A client's first connection id is random: the more server
    /// ids are no backend's, the fewer of those name one.
    pub(in crate::config) server_id_length: u8,
}

/// Forwarding of packets to a backend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in crate::config) enum Forwarding {
    /// Its MAC address is written into the frame: backends are in the balancer's own network
    /// segment.
    #[default]
    L2,
    /// Inside an IP packet to it.
    Ipip,
    /// Inside a UDP packet to it (Generic UDP Encapsulation, variant 1).
    Gue,
}

/// The end of packets that cannot be read up to their ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in crate::config) enum Unparsable {
    /// They are passed to this machine's own stack.
    #[default]
    Pass,
    /// They are dropped.
    Drop,
}

/// The end of packets to a port without a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in crate::config) enum ClosedPorts {
    /// They are passed to this machine's own stack.
    Pass,
    /// They are dropped.
    Drop,
    /// They are answered as by a host where nothing listens: TCP by a reset, UDP by ICMP "port
    /// unreachable", 1000 a second and processor; beyond that they are dropped.
    Refuse,
}

/// The end of ICMP echo requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in crate::config) enum Echo {
    /// They are passed to this machine's own stack.
    Pass,
    /// They are dropped.
    Drop,
    /// They are answered: the address answers as long as a balancer does, whatever its backends do.
    Answer,
}

/// A health check, of each backend at its own address.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::config) struct Health {
    /// The health probe.
    pub(in crate::config) kind: HealthKind,
    /// The way of the probe: `address`, to the backend's own address; `forwarding`, there and then to
    /// the service's address at the backend, by L2, IPIP or GUE as packets go: a TCP connection has
    /// to open, or, of a UDP service, to be answered at the check's port, be it by a reset. Needs
    /// CAP_NET_RAW at the start. Default: address.
    #[serde(default)]
    pub(in crate::config) through: HealthThrough,
    /// TCP port that is probed. Default: the service's, if it has one alone.
    pub(in crate::config) port: Option<u16>,
    /// Path of the HTTP request. Default: /.
    pub(in crate::config) path: Option<String>,
    /// Host header of the HTTP request. Default: the service's address.
    pub(in crate::config) host: Option<String>,
    /// HTTP status of a success. Default: 200.
    pub(in crate::config) expect: Option<u16>,
    /// Time between two probes. Default: 2s.
    #[serde(default = "interval")]
    pub(in crate::config) interval: Duration,
    /// Time after which a probe without an answer has failed; at most `interval`. Default: 1s, or
    /// `interval` if that is shorter.
    pub(in crate::config) timeout: Option<Duration>,
    /// Successes in a row until a backend is up. Default: 2.
    #[serde(default = "rise")]
    pub(in crate::config) rise: u32,
    /// Failures in a row until a backend is down, and new connections go to others. Default: 3.
    #[serde(default = "fall")]
    pub(in crate::config) fall: u32,
    /// Time for which a backend that is down keeps its flows and joins, so that a wrong result
    /// breaks none; up to 5 s more pass until they go to other backends, which reset them. At most
    /// 1h; "0s": they go at once. Default: 10s.
    #[serde(default = "keep_flows")]
    pub(in crate::config) keep_flows: Duration,
}

fn interval() -> Duration {
    Duration::from_secs(2)
}

fn rise() -> u32 {
    2
}

fn fall() -> u32 {
    3
}

fn keep_flows() -> Duration {
    Duration::from_secs(10)
}

/// The way of a health probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in crate::config) enum HealthThrough {
    /// To the backend's own address.
    #[default]
    Address,
    /// There, and to the service's address as packets go.
    Forwarding,
}

/// The health probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in crate::config) enum HealthKind {
    /// Open a TCP connection.
    Tcp,
    /// HTTP GET.
    Http,
}
