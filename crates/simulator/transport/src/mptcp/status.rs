//! Status of a subflow, as the client's scheduler and timers read it.

use heddle_units::Time;

/// Phase of a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SubflowPhase {
    /// The handshake is not complete.
    Handshake,
    /// Established, without a suspected loss.
    Open,
    /// Established, with a loss or a suspected one.
    Recovering,
}

/// Fields that the scheduler reads of each subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SubflowStatus {
    /// Time of the next timer; [`Time::NEVER`] if none runs.
    pub(super) deadline: Time,
    /// Smoothed round-trip time, zero before the first sample.
    pub(super) srtt: Time,
    /// Phase.
    pub(super) phase: SubflowPhase,
    /// True if new data may be sent now.
    pub(super) can_send: bool,
}
