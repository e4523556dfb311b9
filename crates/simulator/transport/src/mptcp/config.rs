//! Parameters of an MPTCP connection.

pub use heddle_wire::Version;

use heddle_units::Bytes;

use crate::config::{Control, Coupling, TcpConfig};

/// Packet scheduler: selects the subflow for the next data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduler {
    /// The subflow with the lowest smoothed round-trip time among those whose congestion window has room.
    #[default]
    LowestRtt,
    /// Round robin over the subflows whose congestion window has room.
    RoundRobin,
    /// Every subflow carries all data; the first copy to arrive is used.
    Redundant,
}

/// Action of a client when the connection's receive window is full although a subflow could send: it waits for data of another subflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FullWindow {
    /// It waits.
    #[default]
    Wait,
    /// Opportunistic retransmission: the subflow that could send sends the first missing segment once more.
    Retransmit,
    /// Opportunistic retransmission, and the window of the subflow that the connection waits for is halved.
    Penalise,
}

/// Time at which a client opens its further subflows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JoinTime {
    /// After the first data ACK, as RFC 8684 section 3.1 requires and Linux does.
    #[default]
    AfterData,
    /// With the first SYN/ACK in version 0, where the server knows both keys by then (RFC 6824). In version 1 the server learns the
    /// client's key later, and this is [`JoinTime::AfterData`]: a join that arrives earlier finds no connection.
    AtOnce,
}

/// An MPTCP connection's parameters, the same at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MptcpConfig {
    /// Parameters of each subflow. The receive window is shared by all subflows (RFC 8684 section 3.3.1).
    pub tcp: TcpConfig,
    /// Protocol version.
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
    pub full_window: FullWindow,
}

/// Prepared form of [`MptcpConfig`], shared by connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    pub(super) config: MptcpConfig,
    /// TCP parameters of a subflow: the controller follows from the coupling, and the receive window is unlimited.
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
