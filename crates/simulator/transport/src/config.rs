//! Parameters of a TCP connection.

use heddle_units::{Bytes, Time};

/// Which congestion controller runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Control {
    /// RFC 5681 and RFC 6582.
    #[default]
    NewReno,
    /// RFC 9438.
    Cubic,
    /// RFC 8257. Needs links that mark.
    Dctcp,
    /// As the connection says that the subflow belongs to: MPTCP sets it for coupled subflows. On its own it does not grow beyond
    /// slow start.
    Coupled,
}

/// Coupling of the congestion windows of an MPTCP connection's subflows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coupling {
    /// None: each subflow runs the controller of [`crate::mptcp::MptcpConfig::tcp`].
    Uncoupled,
    /// The linked increases algorithm, RFC 6356.
    #[default]
    Lia,
    /// The opportunistic linked increases algorithm (Khalili et al., CoNEXT 2012).
    Olia,
    /// The balanced linked adaptation algorithm (Peng et al., ToN 2016).
    Balia,
}

/// How loss is repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// RFC 6675, with selective acknowledgements (RFC 2018).
    #[default]
    Sack,
    /// RFC 6582, cumulative acknowledgements alone.
    NewReno,
}

/// A connection's parameters, the same at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpConfig {
    /// Largest payload of a segment, at least 1.
    pub mss: u16,
    /// Initial window, in segments (RFC 6928: 10). 0 counts as 1.
    pub initial_window: u32,
    /// Congestion controller.
    pub control: Control,
    /// Loss recovery.
    pub recovery: Recovery,
    /// Lower bound of the retransmission timeout (RFC 6298 says 1 s; data centres set less). Should exceed `delayed_ack`.
    pub min_rto: Time,
    /// Upper bound of the retransmission timeout, back-off included.
    pub max_rto: Time,
    /// The timeout before the first RTT sample: a SYN's.
    pub initial_rto: Time,
    /// Receive window, at least 1; what is above 2^32 - 1 counts as that.
    pub receive_window: Bytes,
    /// Longest delay of an acknowledgement, for every second full segment (RFC 5681 section 4.2); `None` acknowledges each at once.
    pub delayed_ack: Option<Time>,
    /// Whether the window falls back to the initial one after an idle timeout (RFC 5681 section 4.1).
    pub idle_restart: bool,
    /// Duplicate acknowledgements that mean a loss (RFC 5681: 3). More of them bear more reordering, and find losses later.
    pub dup_threshold: u32,
}

impl Default for TcpConfig {
    fn default() -> TcpConfig {
        TcpConfig {
            mss: 1460,
            initial_window: 10,
            control: Control::NewReno,
            recovery: Recovery::Sack,
            min_rto: Time::millis(10),
            max_rto: Time::secs(60),
            initial_rto: Time::millis(10),
            receive_window: Bytes::mb(4),
            delayed_ack: None,
            idle_restart: true,
            dup_threshold: 3,
        }
    }
}
