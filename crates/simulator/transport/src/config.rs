//! Parameters of a TCP connection.

use heddle_units::{Bytes, Time};

use crate::{HEADER_BYTES, MIN_FRAME_BYTES, PREAMBLE_AND_GAP_BYTES};

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

/// RACK-TLP's reordering window: how much longer than a round trip a segment may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(untagged, expecting = "\"adaptive\", \"srtt\" or a time (\"50us\") is expected")
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum ReorderingWindow {
    /// By what the connection measures.
    Measured(MeasuredWindow),
    /// This time, from the first segment on.
    Fixed(Time),
}

/// A reordering window that a connection measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(rename_all = "lowercase")
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum MeasuredWindow {
    /// A quarter of the least RTT once reordering has been seen, a quarter more for each round with
    /// a DSACK, up to the smoothed RTT (RFC 8985 section 6.2 step 4).
    Adaptive,
    /// The smoothed RTT, from the first segment on.
    Srtt,
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

/// `pacing` as it is written.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename = "Pacing"))]
#[serde(
    untagged,
    expecting = "true, false or { slow_start_ratio = 200, avoidance_ratio = 120 } is expected"
)]
enum WrittenPacing {
    /// On with Linux's ratios, or off.
    Switch(bool),
    /// On with these ratios.
    Ratios(Pacing),
}

#[cfg(feature = "serde")]
fn pacing<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Pacing>, D::Error> {
    <WrittenPacing as serde::Deserialize>::deserialize(from).map(|written| match written {
        WrittenPacing::Switch(is_on) => is_on.then(Pacing::default),
        WrittenPacing::Ratios(ratios) => Some(ratios),
    })
}

/// A connection's parameters, the same at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(default, deny_unknown_fields)
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename = "Tcp"))]
pub struct TcpConfig {
    /// Largest payload of a segment, in bytes, at least 1; headers add 58 on the wire. Default:
    /// 1460 (an MTU of 1500).
    pub mss: u16,
    /// Initial window, in segments. Default: 10 (RFC 6928). 0 counts as 1.
    pub initial_window: u32,
    /// Slow start threshold of a new connection, in segments, from 2; congestion avoidance begins
    /// there. Default: none, as high as the window can grow (RFC 5681 section 3.1).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub initial_ssthresh: Option<u32>,
    /// Congestion controller. Default: "newreno".
    pub control: Control,
    /// Loss recovery. Default: "sack".
    pub recovery: Recovery,
    /// Loss detection. Default: "dup-ack" (RFC 5681, RFC 6675).
    pub loss_detection: LossDetection,
    /// Reordering window of RACK-TLP. Default: "srtt" where switches or hosts choose a path for
    /// each packet, else "adaptive" (RFC 8985).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub reordering_window: Option<ReorderingWindow>,
    /// Lower bound of the retransmission timeout, which should exceed `delayed_ack`. Default: 10ms
    /// (DCTCP section 4 lowers it to this from TCP's 300 ms; Vasudevan et al., SIGCOMM 2009).
    pub min_rto: Time,
    /// Upper bound of the retransmission timeout, back-off included. Default: 60s (RFC 6298 rule
    /// 2.5).
    pub max_rto: Time,
    /// The timeout before the first RTT sample: that of a SYN. Default: `min_rto` (RFC 6298's 1 s
    /// is for the Internet).
    pub initial_rto: Option<Time>,
    /// Receive window, at least 1; values above 2^32 - 1 count as 2^32 - 1. Default: 4MB, more than
    /// a fabric's bandwidth times delay, so that it does not limit.
    pub receive_window: Bytes,
    /// Longest delay of an acknowledgement; every second full segment is acknowledged (RFC 5681
    /// section 4.2). Default: every segment is acknowledged at once, as by ns-2's TCPSink.
    pub delayed_ack: Option<Time>,
    /// True if the window falls back to the initial one after an idle timeout. Default: true (RFC
    /// 5681 section 4.1).
    pub idle_restart: bool,
    /// Duplicate acknowledgements that mean a loss; with RACK-TLP, until reordering has been seen
    /// (RFC 8985 section 6.2 step 4). Default: 3 (RFC 5681). A higher one tolerates more reordering
    /// and detects losses later.
    pub dup_threshold: u32,
    /// Pacing of data segments as Linux's TCP has it: `true`, or the ratios of
    /// `tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`. Default: false.
    #[cfg_attr(
        feature = "serde",
        serde(deserialize_with = "pacing", skip_serializing_if = "Option::is_none")
    )]
    #[cfg_attr(
        feature = "schemars",
        schemars(with = "WrittenPacing", extend("default" = false))
    )]
    pub pacing: Option<Pacing>,
    /// Bytes that a connection (a subflow of MPTCP) may have in its host's own queue: with more it
    /// sends no new data. As Linux's TCP small queues (`tcp_limit_output_bytes`). Default: none.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub output_limit: Option<Bytes>,
    /// True if each frame takes the time of its preamble (8 bytes) and of the gap behind it (12) on
    /// links, and as many bytes in queues (IEEE 802.3). The same for all workloads. Default: false,
    /// as in ns-2.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "core::ops::Not::not"))]
    pub preamble_and_gap: bool,
}

impl TcpConfig {
    /// Bytes that a frame takes on links beside itself.
    pub const fn extra_bytes(&self) -> u32 {
        if self.preamble_and_gap { PREAMBLE_AND_GAP_BYTES } else { 0 }
    }

    /// Bytes that a segment takes on links beside its payload.
    pub const fn header_bytes(&self) -> u32 {
        HEADER_BYTES + self.extra_bytes()
    }

    /// Bytes that the smallest frame takes on links.
    pub const fn least_frame_bytes(&self) -> u32 {
        MIN_FRAME_BYTES + self.extra_bytes()
    }

    /// The timeout before the first RTT sample, the default if none is given.
    pub fn initial_rto(&self) -> Time {
        self.initial_rto.unwrap_or(self.min_rto)
    }
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
            reordering_window: None,
            min_rto: Time::millis(10),
            max_rto: Time::secs(60),
            initial_rto: None,
            receive_window: Bytes::mb(4),
            delayed_ack: None,
            idle_restart: true,
            dup_threshold: 3,
            pacing: None,
            output_limit: None,
            preamble_and_gap: false,
        }
    }
}
