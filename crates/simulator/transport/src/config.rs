//! Parameters of a TCP connection.

use heddle_units::{Bytes, Time};

/// A congestion controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(rename_all = "lowercase")
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Control {
    /// RFC 5681 and RFC 6582.
    #[default]
    NewReno,
    /// RFC 9438.
    Cubic,
    /// RFC 8257; links then mark by default.
    Dctcp,
    /// Coupled with the connection's other subflows; set by MPTCP. Without MPTCP the window does
    /// not grow beyond slow start.
    #[cfg_attr(feature = "serde", serde(skip))]
    Coupled,
}

/// Coupling of the subflows' congestion windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(rename_all = "lowercase")
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Coupling {
    /// Not at all: each runs `control`.
    Uncoupled,
    /// Linked increases (RFC 6356).
    #[default]
    Lia,
    /// Opportunistic linked increases (Khalili et al., CoNEXT 2012).
    Olia,
    /// Balanced linked adaptation (Peng et al., ToN 2016).
    Balia,
}

/// Loss recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(rename_all = "lowercase")
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Recovery {
    /// Selective acknowledgements (RFC 2018, RFC 6675).
    #[default]
    Sack,
    /// Cumulative acknowledgements alone (RFC 6582).
    NewReno,
}

/// Loss detection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(rename_all = "kebab-case")
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum LossDetection {
    /// Duplicate acknowledgements: `dup_threshold` later segments have arrived.
    #[default]
    DupAck,
    /// RACK-TLP (RFC 8985): a later segment has arrived, and this one has not in time. Tolerates
    /// reordering. Needs `recovery = "sack"`.
    Rack,
}

/// Pacing rate as a share of the window over the smoothed round-trip time.
// Data segments leave at that rate instead of with each acknowledgement, as Linux's
// `tcp_update_pacing_rate` has it. A ratio of 0 counts as 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(default, deny_unknown_fields)
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename = "PacingRatios"))]
pub struct Pacing {
    /// Percent while the window is below half of the slow start threshold: 1 to 1000. Default: 200
    /// (`tcp_pacing_ss_ratio`).
    pub slow_start_ratio: u16,
    /// Percent from there on: 1 to 1000. Default: 120 (`tcp_pacing_ca_ratio`).
    pub avoidance_ratio: u16,
}

impl Default for Pacing {
    fn default() -> Pacing {
        Pacing { slow_start_ratio: 200, avoidance_ratio: 120 }
    }
}

/// A connection's parameters, the same at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TcpConfig {
    /// Largest payload of a segment, at least 1.
    pub mss: u16,
    /// Initial window, in segments (RFC 6928: 10). 0 counts as 1.
    pub initial_window: u32,
    /// Slow start threshold of a new connection, in segments; `None` is as high as the window can
    /// grow (RFC 5681 section 3.1: "SHOULD be set arbitrarily high").
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub initial_ssthresh: Option<u32>,
    /// Congestion controller.
    pub control: Control,
    /// Loss recovery.
    pub recovery: Recovery,
    /// Loss detection.
    pub loss_detection: LossDetection,
    /// Lower bound of the retransmission timeout (RFC 6298: 1 s; data centres use less). Should
    /// exceed `delayed_ack`.
    pub min_rto: Time,
    /// Upper bound of the retransmission timeout, back-off included.
    pub max_rto: Time,
    /// Retransmission timeout before the first RTT sample: that of a SYN.
    pub initial_rto: Time,
    /// Receive window, at least 1; values above 2^32 - 1 count as 2^32 - 1.
    pub receive_window: Bytes,
    /// Delayed acknowledgements: longest delay, with an acknowledgement for every second full
    /// segment (RFC 5681 section 4.2). `None` acknowledges each segment at once.
    pub delayed_ack: Option<Time>,
    /// Reset of the congestion window to the initial one after an idle period of one RTO (RFC 5681
    /// section 4.1).
    pub idle_restart: bool,
    /// DupThresh: duplicate acknowledgements that indicate a loss (RFC 5681: 3). A higher threshold
    /// tolerates more reordering and detects losses later. With RACK it counts only until
    /// reordering is seen (RFC 8985 section 6.2 step 4).
    pub dup_threshold: u32,
    /// Pacing of data segments; `None` sends all that the windows allow at once.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
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
