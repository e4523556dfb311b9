//! Parameters of an MPTCP connection.

pub use heddle_wire::Version;

use heddle_units::Bytes;

use crate::{Control, TcpConfig};

/// How the congestion windows of a connection's subflows hang together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coupling {
    /// Not at all: each subflow runs the controller of [`MptcpConfig::tcp`].
    Uncoupled,
    /// The linked increases algorithm, RFC 6356.
    #[default]
    Lia,
    /// The opportunistic linked increases algorithm (Khalili et al., CoNEXT 2012).
    Olia,
    /// The balanced linked adaptation algorithm (Peng et al., ToN 2016).
    Balia,
}

/// Which subflow takes the next data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduler {
    /// The one with the lowest smoothed round-trip time whose window has room.
    #[default]
    LowestRtt,
    /// Each in turn, as far as its window has room.
    RoundRobin,
    /// Every subflow carries everything; the first copy counts.
    Redundant,
}

/// When a client opens its further subflows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JoinTime {
    /// Once data has been acknowledged: RFC 8684 section 3.1 requires it of the client, and Linux does it.
    #[default]
    AfterData,
    /// With the first SYN/ACK, as soon as both keys are known: RFC 6824 allows it, and simulators do it.
    AtOnce,
}

/// An MPTCP connection's parameters, the same at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MptcpConfig {
    /// Each subflow's parameters. Its receive window is the connection's, which the subflows share (RFC 8684 section 3.3.1).
    pub tcp: TcpConfig,
    /// The protocol's version.
    pub version: Version,
    /// Subflows, the first included: 1 to 16.
    pub subflows: u8,
    /// How their windows are coupled.
    pub coupling: Coupling,
    /// Which subflow takes the next data.
    pub scheduler: Scheduler,
    /// When the further subflows open.
    pub join: JoinTime,
}

/// [`MptcpConfig`], made ready for connections to share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    pub(super) config: MptcpConfig,
    /// What a subflow runs with: the controller by the coupling, and no receive window of its own.
    pub(super) subflow: TcpConfig,
}

impl From<MptcpConfig> for Parameters {
    fn from(config: MptcpConfig) -> Parameters {
        let control = match config.coupling {
            Coupling::Uncoupled => config.tcp.control,
            Coupling::Lia | Coupling::Olia | Coupling::Balia => Control::Coupled,
        };
        let receive_window = Bytes(u32::MAX.into());
        Parameters { config, subflow: TcpConfig { control, receive_window, ..config.tcp } }
    }
}
