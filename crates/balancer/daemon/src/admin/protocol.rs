//! The messages of the admin socket. Unknown fields and words are errors at either end: both ends are one release.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::token;

use crate::health::State;
use crate::heartbeat::Liveness;
use crate::metrics::Snapshot;
use crate::service::{MptcpMode, Protocol};

/// Grows with every change that an older end would misread.
pub const VERSION: u32 = 2;

/// A line: the version, and the message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Envelope<T> {
    /// The writer's [`VERSION`].
    pub version: u32,
    /// A [`Request`] or an [`Answer`].
    pub body: T,
}

impl<T> Envelope<T> {
    /// In this version.
    pub fn new(body: T) -> Envelope<T> {
        Envelope { version: VERSION, body }
    }
}

/// A request to the daemon.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// The daemon's state.
    Status,
    /// All services' backends.
    Backends,
    /// No new connections to a backend, or new ones again.
    Drain {
        /// Only in this service; none: in all that have the backend.
        service: Option<String>,
        /// The backend's name.
        backend: String,
        /// On: drain; off: take it back.
        switch: Switch,
    },
    /// Another weight for a backend, until the next reload or start reads the file's.
    Weigh {
        /// Only in this service; none: in all that have the backend.
        service: Option<String>,
        /// The backend's name.
        backend: String,
        /// Its share of new connections, relative to the others'; 1000 at most; 0: none.
        weight: u32,
    },
    /// Entries of the flow table.
    Connections {
        /// The entries that are wanted.
        filter: Filter,
        /// The most that are answered.
        limit: u32,
    },
    /// The way of a packet, and its reasons. Changes nothing.
    Explain(Packet),
    /// All counters.
    Counters,
    /// Reads the configuration again.
    Reload,
    /// The balancers that share the work.
    Members,
}

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It was done.
    Ok(Reply),
    /// It was not.
    Error(Problem),
}

/// The answer to the [`Request`] of the same name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The daemon's state.
    Status(Status),
    /// All services' backends; after a change, those changed.
    Backends(Vec<BackendStatus>),
    /// Entries of the flow table.
    Connections(Connections),
    /// The way of the packet.
    Explained(Explained),
    /// All counters.
    Counters(Box<Snapshot>),
    /// The configuration was read: what changed, in words.
    Reloaded(Vec<String>),
    /// The balancers that share the work.
    Members(Vec<MemberStatus>),
}

/// The reason why a request was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    /// For programs.
    pub kind: ProblemKind,
    /// For people.
    pub message: String,
}

/// Kinds of problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// Not a request, or one of another version.
    Malformed,
    /// Longer than the daemon reads.
    TooLong,
    /// The client may not.
    Forbidden,
    /// It names something that does not exist.
    NotFound,
    /// It cannot be done as it is, such as a reload of a wrong file.
    Refused,
    /// The daemon has failed.
    Internal,
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

/// The daemon's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Its name among the balancers.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The kernel's release.
    pub kernel: String,
    /// For how long it has run.
    pub uptime: Duration,
    /// Interfaces that its program is attached to, and how (`native`, `generic`).
    pub interfaces: BTreeMap<String, String>,
    /// Services by name, and the mode of each.
    pub services: BTreeMap<String, MptcpMode>,
    /// Backends that are up.
    pub backends_up: u32,
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
}

/// A backend of a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackendStatus {
    /// The service.
    pub service: String,
    /// The backend.
    pub name: String,
    /// The address that packets for it are sent to.
    pub address: IpAddr,
    /// Its configured weight.
    pub weight: u32,
    /// By its health checks.
    pub health: State,
    /// For how long.
    pub since: Duration,
    /// The failure of its last check; none if that has succeeded.
    pub reason: Option<String>,
    /// True if it gets no new connections.
    pub draining: bool,
    /// The reason why no packet can be sent to it: no route, no neighbour; none: packets can be sent.
    pub unreachable: Option<String>,
    /// Its live flows.
    pub flows: u64,
    /// Packets sent to it.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A selection of flows; a field that is not given matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Filter {
    /// Of this service.
    pub service: Option<String>,
    /// To this backend.
    pub backend: Option<String>,
    /// From this address.
    pub client: Option<IpAddr>,
    /// Of the MPTCP connection with this token.
    #[serde(with = "token")]
    pub token: Option<u32>,
}

/// Entries of the flow table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connections {
    /// The number of flows that match.
    pub matching: u64,
    /// The first of them.
    pub flows: Vec<Connection>,
}

/// An entry of the flow table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connection {
    /// Its other end.
    pub client: SocketAddr,
    /// Its service.
    pub service: String,
    /// Its backend.
    pub backend: String,
    /// The MPTCP connection's token at the backend, if known.
    #[serde(with = "token", default)]
    pub token: Option<u32>,
    /// `new`, `learning`, `joining`, `established`, `closing`.
    pub state: String,
    /// Since its last packet.
    pub idle: Duration,
}

/// A packet to explain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Bytes behind the TCP or UDP header.
    #[serde(default)]
    pub payload: u16,
}

/// MPTCP options that matter here (RFC 8684).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    pub token: Option<u32>,
    /// The state of its flow, if that is known.
    pub flow_state: Option<String>,
    /// All of it in sentences, first things first.
    pub reasons: Vec<String>,
}

/// A balancer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Its answers to heartbeats; none of the balancer that answers, and where there are no heartbeats.
    pub heartbeats: Option<Heartbeats>,
    /// Slots of the ring that it owns.
    pub slots: u32,
}

/// A balancer's answers to heartbeats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeats {
    /// The conclusion.
    pub liveness: Liveness,
    /// The time between a heartbeat and its answer.
    pub round_trip: Option<Duration>,
    /// Heartbeats that were not answered.
    pub missed: u64,
    /// Messages with another secret.
    pub refused: u64,
    /// True if its seed, services or backends are not those of the balancer that answers this request.
    pub differs: bool,
}
