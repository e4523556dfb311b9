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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MptcpConfig {
    /// Parameters of each subflow. The receive window is shared by all subflows (RFC 8684 section
    /// 3.3.1).
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub tcp: TcpConfig,
    /// Protocol version.
    #[cfg_attr(feature = "serde", serde(serialize_with = "number"))]
    pub version: Version,
    /// Number of subflows, the first included: 1 to 16.
    pub subflows: u8,
    /// Coupling of the congestion windows.
    pub coupling: Coupling,
    /// Packet scheduler.
    pub scheduler: Scheduler,
    /// Time at which the further subflows open.
    pub join: JoinTime,
    /// Action when the receive window is full.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "FullWindow::waits"))]
    pub full_window: FullWindow,
    /// Most bytes of a subflow without an acknowledgement, beside the receive window; `None` does
    /// not limit a subflow by itself.
    // ns-2's `window_`, which each of its TCP agents has, and so each subflow.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub subflow_window: Option<Bytes>,
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

/// Prepared form of [`MptcpConfig`], shared by connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    pub(super) config: MptcpConfig,
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
