//! The bodies of requests and replies.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{BackendEntry, BackendState, Forwarding, Liveness, MptcpMode, Protocol, State};
use crate::{seconds, token};

/// Balancers that a change is made on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The one that is asked, until the next reload or start.
    #[default]
    Balancer,
    /// All that share an etcd cluster, until the change is taken back.
    Cluster,
}

/// Changes that all balancers share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SharedChanges {
    /// By key.
    pub changes: Vec<SharedChange>,
    /// True if etcd answers: there are no others.
    pub current: bool,
}

/// Kinds of changes that all balancers share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SharedKind {
    /// The backend is there, whatever the file has.
    Add,
    /// The file's backend has another weight or state.
    Modify,
    /// The backend is not there, whatever the file has.
    Remove,
}

/// A change of a backend that all balancers share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SharedChange {
    /// Its key in etcd, behind the prefix.
    pub key: String,
    /// The service; none if the key cannot be read.
    pub service: Option<String>,
    /// The backend; none if the key cannot be read.
    pub backend: Option<String>,
    /// The kind of the change; none if it cannot be read.
    pub kind: Option<SharedKind>,
    /// The address of a backend that is added.
    pub address: Option<IpAddr>,
    /// Its weight, if the change has one.
    pub weight: Option<u32>,
    /// Its state, if the change has one.
    pub state: Option<BackendState>,
    /// The balancer that has written it.
    pub by: Option<String>,
    /// The reason why this balancer does not use it; none: it does.
    pub ignored: Option<String>,
}

/// A selection of backends; a field that is not given matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Selection {
    /// Of this service.
    pub service: Option<String>,
    /// Of this name.
    pub backend: Option<String>,
}

/// Backends to add, all of them or none: services of one group have backends of the same names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewBackends {
    /// The backends.
    pub backends: Vec<NewBackend>,
}

/// A backend to add to a service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewBackend {
    /// The service's name.
    pub service: String,
    /// The backend, with the keys of `[[service.backend]]` in the file.
    pub backend: BackendEntry,
}

/// A change of a backend, until the next reload or start. What is not given stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BackendChange {
    /// Its share of new connections, relative to the others'; 1000 at most; 0: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<u32>,
    /// True: no new connections; existing ones continue, joins included. False: new connections
    /// again. A reload keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draining: Option<bool>,
}

impl BackendChange {
    /// A backend with this change.
    pub fn applied(self, mut backend: BackendEntry) -> BackendEntry {
        backend.weight = self.weight.unwrap_or(backend.weight);
        backend.state = match (self.draining, backend.state) {
            (Some(true), BackendState::Up) => BackendState::Drain,
            (Some(false), BackendState::Drain) => BackendState::Up,
            (_, state) => state,
        };
        backend
    }
}

/// The balancer's own health.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HealthStatus {
    /// True if it does its work.
    pub healthy: bool,
    /// The reasons why it does not, in words.
    pub causes: Vec<String>,
}

/// All services.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Services {
    /// In the file's order.
    pub services: Vec<ServiceStatus>,
}

/// A service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceStatus {
    /// Its name.
    pub name: String,
    /// Its virtual address.
    pub address: IpAddr,
    /// Its ports: "443", "8000-8099", "all".
    pub ports: String,
    /// Its transport protocol.
    pub protocol: Protocol,
    /// Method to keep the subflows of one MPTCP connection together.
    pub mptcp: MptcpMode,
    /// Forwarding of packets to backends.
    pub forwarding: Forwarding,
    /// The group of services with the same backends that it is in.
    pub group: Option<String>,
    /// Backends that are up.
    pub backends_up: u32,
    /// Backends whose health check has no result yet: they get new connections.
    #[serde(default)]
    pub backends_unchecked: u32,
    /// Backends in all.
    pub backends: u32,
}

/// Backends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Backends {
    /// In the order of services.
    pub backends: Vec<BackendStatus>,
}

/// The configuration was read again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reloaded {
    /// The changes in words, those of commands that are undone included.
    pub changes: Vec<String>,
}

/// The balancers that share the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Members {
    /// By name.
    pub members: Vec<MemberStatus>,
}

/// The daemon's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// Its name among the balancers.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The kernel's release.
    pub kernel: String,
    /// For how long it has run, in seconds.
    #[serde(with = "seconds")]
    #[schemars(with = "f64")]
    pub uptime: Duration,
    /// Interfaces that its program is attached to, and how (`native`, `generic`).
    pub interfaces: BTreeMap<String, String>,
    /// Services by name, and the mode of each.
    pub services: BTreeMap<String, MptcpMode>,
    /// Backends that are up.
    pub backends_up: u32,
    /// Backends whose health check has no result yet: they get new connections.
    #[serde(default)]
    pub backends_unchecked: u32,
    /// Backends in all.
    pub backends: u32,
    /// Balancers, this one among them.
    pub members: u32,
    /// Live flows.
    pub flows: u64,
    /// Known tokens.
    pub tokens: u64,
    /// True as soon as ring, health and maps have been in step once.
    pub ready: bool,
    /// Problems, in words.
    pub warnings: Vec<String>,
    /// Differences from the file that commands have made, as text. A restart drops them; a reload
    /// drops all but draining.
    pub changes: Vec<String>,
    /// Differences from the file that changes of all balancers have made, as text.
    #[serde(default)]
    pub shared_changes: Vec<String>,
}

/// A backend of a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BackendStatus {
    /// The service.
    pub service: String,
    /// The backend.
    pub name: String,
    /// The address that packets for it are sent to.
    pub address: IpAddr,
    /// Its weight.
    pub weight: u32,
    /// By its health checks.
    pub health: State,
    /// For how long it drains, or else its health is as it is, in seconds.
    #[serde(with = "seconds")]
    #[schemars(with = "f64")]
    pub since: Duration,
    /// The failure of its last check; none if that has succeeded.
    pub reason: Option<String>,
    /// True if it gets no new connections.
    pub draining: bool,
    /// True if it gets new connections only while no other backend of its service is up.
    pub sorry: bool,
    /// The reason why no packet can be sent to it: no route, no neighbour; none: packets can be
    /// sent.
    pub unreachable: Option<String>,
    /// Its live flows.
    pub flows: u64,
    /// Packets sent to it.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A selection of flows; a field that is not given matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Filter {
    /// Of this service.
    pub service: Option<String>,
    /// To this backend.
    pub backend: Option<String>,
    /// From this address.
    pub client: Option<IpAddr>,
    /// Of the MPTCP connection with this token, in hexadecimal: "0x1c2d3e4f".
    #[serde(with = "token")]
    #[schemars(with = "Option<String>")]
    pub token: Option<u32>,
    /// With a packet in the last so many seconds.
    pub active: Option<u32>,
}

/// Entries of the flow table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Connections {
    /// The number of flows that match.
    pub matching: u64,
    /// The first of them.
    pub flows: Vec<Connection>,
}

/// An entry of the flow table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Connection {
    /// Its other end.
    pub client: SocketAddr,
    /// Its service.
    pub service: String,
    /// Its backend; one that was removed with `(gone)` behind its name or address.
    pub backend: String,
    /// The MPTCP connection's token at the backend, if known.
    #[serde(with = "token", default)]
    #[schemars(with = "Option<String>")]
    pub token: Option<u32>,
    /// `new`, `learning`, `joining`, `established`, `closing`.
    pub state: String,
    /// Since its last packet, in seconds.
    #[serde(with = "seconds")]
    #[schemars(with = "f64")]
    pub idle: Duration,
}

/// A packet to explain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Packet {
    /// The source.
    pub source: SocketAddr,
    /// The destination.
    pub destination: SocketAddr,
    /// The protocol.
    pub protocol: Protocol,
    /// TCP's flags as in RFC 9293: FIN 1, SYN 2, RST 4, PSH 8, ACK 16.
    #[serde(default)]
    pub flags: u8,
    /// Its MPTCP option.
    #[serde(default)]
    pub mptcp: Option<MptcpOption>,
    /// UDP: the packet of QUIC that it is.
    #[serde(default)]
    pub quic: Option<QuicPacket>,
    /// Bytes behind the TCP or UDP header; of a packet of QUIC, 0 stands for as many as such a
    /// packet has at least.
    #[serde(default)]
    pub payload: u16,
}

/// Packets of QUIC by the place of their destination connection id (RFC 8999), which is in
/// hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuicPacket {
    /// With a short header, as in an established connection.
    Short {
        /// The connection id: the server's.
        connection_id: String,
    },
    /// An Initial, with a long header.
    Initial {
        /// The connection id: first the client's choice, then the server's.
        connection_id: String,
    },
}

/// MPTCP options that matter here (RFC 8684).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MptcpOption {
    /// MP_CAPABLE without keys, as in a SYN.
    Capable,
    /// MP_CAPABLE with both keys, as in the third ACK.
    Keys {
        /// The client's.
        sender: u64,
        /// The server's: its hash is the token.
        receiver: u64,
    },
    /// MP_JOIN in a SYN.
    Join {
        /// The server's token.
        token: u32,
    },
}

/// The way of a packet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Explained {
    /// The program's verdict, by name.
    pub verdict: String,
    /// The events on the way, by name.
    pub events: Vec<String>,
    /// The service that it is for.
    pub service: Option<String>,
    /// The backend that it would reach.
    pub backend: Option<String>,
    /// The balancer that would be asked.
    pub owner: Option<String>,
    /// The token that it carries or means.
    #[serde(with = "token", default)]
    #[schemars(with = "Option<String>")]
    pub token: Option<u32>,
    /// The state of its flow, if that is known.
    pub flow_state: Option<String>,
    /// All of it in sentences, first things first.
    pub reasons: Vec<String>,
}

/// A balancer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemberStatus {
    /// Its name.
    pub name: String,
    /// The address that the others send to.
    pub address: IpAddr,
    /// True of the balancer that answers.
    pub own: bool,
    /// True if it has its part of the ring.
    pub alive: bool,
    /// False if its registration in the store has ended.
    pub registered: bool,
    /// Its answers to heartbeats; none of the balancer that answers, and where there are no
    /// heartbeats.
    pub heartbeats: Option<Heartbeats>,
    /// Slots of the ring that it owns.
    pub slots: u32,
}

/// A balancer's answers to heartbeats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Heartbeats {
    /// The conclusion.
    pub liveness: Liveness,
    /// The time between a heartbeat and its answer, in seconds.
    #[serde(with = "seconds::option", default)]
    #[schemars(with = "Option<f64>")]
    pub round_trip: Option<Duration>,
    /// Heartbeats that were not answered.
    pub missed: u64,
    /// Messages with another secret.
    pub refused: u64,
    /// True if one of them came within the last ten seconds.
    #[serde(default)]
    pub refused_recently: bool,
    /// True if its seed, services or backends are not those of the balancer that answers this
    /// request.
    pub differs: bool,
}
