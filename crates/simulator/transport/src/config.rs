//! Parameters of a TCP connection.

use heddle_units::{Bytes, Time};

/// Congestion control algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Control {
    /// RFC 5681 and RFC 6582.
    #[default]
    NewReno,
    /// RFC 9438.
    Cubic,
    /// RFC 8257. Requires links that mark (ECN).
    Dctcp,
    /// Coupled with the connection's other subflows; set by MPTCP. Without MPTCP the window does not grow beyond slow start.
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

/// Loss recovery algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// RFC 6675, with selective acknowledgements (RFC 2018).
    #[default]
    Sack,
    /// RFC 6582, cumulative acknowledgements alone.
    NewReno,
}

/// Loss detection: what an acknowledgement must show for a segment to count as lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossDetection {
    /// Duplicate acknowledgements: [`TcpConfig::dup_threshold`] later segments have arrived (RFC 5681, RFC 6675).
    #[default]
    DupAck,
    /// RACK-TLP (RFC 8985): a segment that was sent long enough after it has arrived. Requires [`Recovery::Sack`].
    Rack,
}

/// Pacing: data segments leave at a rate that follows from window and round-trip time, instead of with each acknowledgement, as Linux's
/// `tcp_update_pacing_rate` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacing {
    /// Percent of window over smoothed round-trip time while the window is below half of the slow start threshold. 0 counts as 1.
    pub slow_start_ratio: u16,
    /// The same from there on. 0 counts as 1.
    pub avoidance_ratio: u16,
}

impl Default for Pacing {
    /// Linux's `tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`.
    fn default() -> Pacing {
        Pacing { slow_start_ratio: 200, avoidance_ratio: 120 }
    }
}

/// A connection's parameters, the same at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpConfig {
    /// Largest payload of a segment, at least 1.
    pub mss: u16,
    /// Initial window, in segments (RFC 6928: 10). 0 counts as 1.
    pub initial_window: u32,
    /// Slow start threshold of a new connection, in segments; `None` is as high as the window can grow (RFC 5681 section 3.1: "SHOULD be set
    /// arbitrarily high").
    pub initial_ssthresh: Option<u32>,
    /// Congestion controller.
    pub control: Control,
    /// Loss recovery.
    pub recovery: Recovery,
    /// Loss detection.
    pub loss_detection: LossDetection,
    /// Lower bound of the retransmission timeout (RFC 6298: 1 s; data centres use less). Should exceed `delayed_ack`.
    pub min_rto: Time,
    /// Upper bound of the retransmission timeout, back-off included.
    pub max_rto: Time,
    /// Retransmission timeout before the first RTT sample: that of a SYN.
    pub initial_rto: Time,
    /// Receive window, at least 1; values above 2^32 - 1 count as 2^32 - 1.
    pub receive_window: Bytes,
    /// Delayed acknowledgements: longest delay, with an acknowledgement for every second full segment (RFC 5681 section 4.2). `None`
    /// acknowledges each segment at once.
    pub delayed_ack: Option<Time>,
    /// Reset of the congestion window to the initial one after an idle period of one RTO (RFC 5681 section 4.1).
    pub idle_restart: bool,
    /// DupThresh: duplicate acknowledgements that indicate a loss (RFC 5681: 3). A higher threshold tolerates more reordering and detects
    /// losses later. With RACK it counts only until reordering is seen (RFC 8985 section 6.2 step 4).
    pub dup_threshold: u32,
    /// Pacing of data segments; `None` sends all that the windows allow at once.
    pub pacing: Option<Pacing>,
}

impl Default for TcpConfig {
    fn default() -> TcpConfig {
        TcpConfig {
            mss: 1460,
            initial_window: 10,
            initial_ssthresh: None,
            control: Control::NewReno,
            recovery: Recovery::Sack,
            loss_detection: LossDetection::DupAck,
            min_rto: Time::millis(10),
            max_rto: Time::secs(60),
            initial_rto: Time::millis(10),
            receive_window: Bytes::mb(4),
            delayed_ack: None,
            idle_restart: true,
            dup_threshold: 3,
            pacing: None,
        }
    }
}
