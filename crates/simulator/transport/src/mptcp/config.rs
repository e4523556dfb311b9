//! Parameters of an MPTCP connection.

pub use heddle_wire::Version;

use heddle_units::Bytes;

use crate::config::{Control, Coupling, TcpConfig};

/// Choice of the subflow that takes the next data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(rename_all = "kebab-case")
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Scheduler {
    /// The one with the lowest smoothed round-trip time whose window has room.
    #[default]
    LowestRtt,
    /// Each in turn, as far as its window has room.
    RoundRobin,
    /// Every subflow carries everything; the first copy counts.
    Redundant,
}

/// Actions of a client whose receive window is full while a subflow could send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(rename_all = "kebab-case")
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum FullWindow {
    /// It waits.
    #[default]
    Wait,
    /// The subflow sends the first missing segment once more, if one much slower carries it
    /// (opportunistic retransmission).
    Retransmit,
    /// That, and the slower subflow's congestion window is halved (penalising).
    Penalise,
}

/// Time at which a client opens its further subflows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(rename_all = "kebab-case")
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum JoinTime {
    /// Once data has been acknowledged.
    // As RFC 8684 section 3.1 requires and Linux does.
    #[default]
    AfterData,
    /// With the first SYN/ACK, as RFC 6824 allows.
    // In version 0, where the server knows both keys by then. In version 1 the server learns the
    // client's key later, and this is
    // [`JoinTime::AfterData`]: a join that arrives earlier finds no connection.
    AtOnce,
}

/// An MPTCP connection's parameters, the same at both ends.
// serde reads its own keys, not those of TCP, which are in the same table: a reader of files reads
// one after the other, and knows the place of a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(default, deny_unknown_fields)
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename = "Multipath"))]
pub struct MptcpConfig {
    /// Parameters of each subflow. The receive window is shared by all subflows (RFC 8684 section
    /// 3.3.1).
    #[cfg_attr(feature = "serde", serde(flatten, skip_deserializing))]
    pub tcp: TcpConfig,
    /// The protocol's version: 0 is RFC 6824, 1 is RFC 8684. They differ in handshakes. Default: 1.
    #[cfg_attr(feature = "serde", serde(serialize_with = "number", deserialize_with = "version"))]
    #[cfg_attr(feature = "schemars", schemars(with = "u8"))]
    pub version: Version,
    /// Subflows of a connection, the first included: 1 to 16. Default: 2 (MP-HULA section 3).
    pub subflows: u8,
    /// Coupling of the subflows' congestion windows. Default: "lia" (RFC 6356). All but "uncoupled"
    /// are controllers of their own and take no `control`.
    pub coupling: Coupling,
    /// Choice of the subflow that takes the next data. Default: "lowest-rtt" (Linux's default).
    pub scheduler: Scheduler,
    /// Time at which a client opens its further subflows. Default: "after-data" (RFC 8684 section
    /// 3.1).
    pub join: JoinTime,
    /// The client's action when the connection's receive window is full although a subflow could
    /// send. Default: "wait", as Linux since 5.6. multipath-tcp.org's Linux does "penalise".
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "FullWindow::waits"))]
    #[cfg_attr(feature = "schemars", schemars(extend("default" = "wait")))]
    pub full_window: FullWindow,
    /// Most bytes of a subflow without an acknowledgement, beside the receive window, as each of
    /// ns-2's TCP agents has its `window_`. Default: none.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub subflow_window: Option<Bytes>,
}

impl Default for MptcpConfig {
    fn default() -> MptcpConfig {
        MptcpConfig {
            tcp: TcpConfig::default(),
            version: Version::V1,
            subflows: 2,
            coupling: Coupling::Lia,
            scheduler: Scheduler::LowestRtt,
            join: JoinTime::AfterData,
            full_window: FullWindow::Wait,
            subflow_window: None,
        }
    }
}

#[cfg(feature = "serde")]
impl FullWindow {
    fn waits(&self) -> bool {
        *self == FullWindow::Wait
    }
}

#[cfg(feature = "serde")]
fn number<S: serde::Serializer>(version: &Version, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u8(match version {
        Version::V0 => 0,
        Version::V1 => 1,
    })
}

#[cfg(feature = "serde")]
fn version<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Version, D::Error> {
    match <u8 as serde::Deserialize>::deserialize(from)? {
        0 => Ok(Version::V0),
        1 => Ok(Version::V1),
        other => Err(serde::de::Error::custom(format_args!(
            "MPTCP has no version {other}\nhelp: 0 (RFC 6824) or 1 (RFC 8684)"
        ))),
    }
}

/// Prepared form of [`MptcpConfig`], shared by connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    pub(crate) config: MptcpConfig,
    /// TCP parameters of a subflow: the controller follows from the coupling, and the receive
    /// window is the subflow's own, or unlimited.
    pub(super) subflow: TcpConfig,
}

impl From<MptcpConfig> for Parameters {
    fn from(config: MptcpConfig) -> Parameters {
        let control = match config.coupling {
            Coupling::Uncoupled => config.tcp.control,
            Coupling::Lia | Coupling::Olia | Coupling::Balia => Control::Coupled,
        };
        let receive_window = config.subflow_window.unwrap_or(Bytes(u32::MAX.into()));
        Parameters { config, subflow: TcpConfig { control, receive_window, ..config.tcp } }
    }
}
