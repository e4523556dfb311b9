//! `[transport]`.

use heddle_transport::mptcp::{Coupling, FullWindow, JoinTime, Scheduler};
use heddle_transport::{Control, LossDetection, Recovery, TcpConfig};
use heddle_units::{Bytes, Time};
use serde::{Deserialize, Deserializer, Serialize};

/// The hosts' protocol.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", schemars(tag = "kind"))]
pub(crate) enum Transport {
    /// TCP.
    Tcp(Tcp),
    /// Multipath TCP (RFC 8684): a connection's subflows differ in their client's port.
    Mptcp(Mptcp),
}

impl Default for Transport {
    fn default() -> Transport {
        Transport::Tcp(Tcp::default())
    }
}

#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Tcp {
    /// Largest payload of a segment, in bytes; headers add 58 on the wire. Default: 1460 (an MTU of
    /// 1500).
    pub(crate) mss: u16,
    /// Initial window, in segments. Default: 10 (RFC 6928).
    pub(crate) initial_window: u32,
    /// Slow start threshold of a new connection, in segments, from 2; congestion avoidance begins
    /// there. Default: none, as high as the window can grow (RFC 5681 section 3.1).
    pub(crate) initial_ssthresh: Option<u32>,
    /// Congestion controller. Default: "newreno".
    pub(crate) control: Control,
    /// Loss recovery. Default: "sack".
    pub(crate) recovery: Recovery,
    /// Loss detection. Default: "dup-ack" (RFC 5681, RFC 6675).
    pub(crate) loss_detection: LossDetection,
    /// Lower bound of the retransmission timeout. Default: 10ms (DCTCP section 4 lowers it to this
    /// from TCP's 300 ms; Vasudevan et al., SIGCOMM 2009).
    pub(crate) min_rto: Time,
    /// Upper bound of the retransmission timeout, back-off included. Default: 60s (RFC 6298 rule
    /// 2.5).
    pub(crate) max_rto: Time,
    /// The timeout before the first RTT sample. Default: `min_rto` (RFC 6298's 1 s is for the
    /// Internet).
    pub(crate) initial_rto: Option<Time>,
    /// Receive window. Default: 4MB, more than a fabric's bandwidth times delay, so that it does
    /// not limit.
    pub(crate) receive_window: Bytes,
    /// Longest delay of an acknowledgement. Default: every segment is acknowledged at once, as by
    /// ns-2's TCPSink.
    pub(crate) delayed_ack: Option<Time>,
    /// True if the window falls back to the initial one after an idle timeout. Default: true (RFC
    /// 5681 section 4.1).
    pub(crate) idle_restart: bool,
    /// Duplicate acknowledgements that mean a loss; with RACK-TLP, until reordering has been seen.
    /// Default: 3 (RFC 5681).
    pub(crate) dup_threshold: u32,
    /// Pacing of data segments as Linux's TCP has it: `true`, or the ratios of
    /// `tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`. Default: false.
    pub(crate) pacing: Pacing,
}

impl Default for Tcp {
    fn default() -> Tcp {
        let default = TcpConfig::default();
        Tcp {
            mss: default.mss,
            initial_window: default.initial_window,
            initial_ssthresh: default.initial_ssthresh,
            control: Control::NewReno,
            recovery: Recovery::Sack,
            loss_detection: LossDetection::DupAck,
            min_rto: default.min_rto,
            max_rto: default.max_rto,
            initial_rto: None,
            receive_window: default.receive_window,
            delayed_ack: default.delayed_ack,
            idle_restart: default.idle_restart,
            dup_threshold: default.dup_threshold,
            pacing: Pacing::Switch(false),
        }
    }
}

/// Pacing of data segments.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(
    untagged,
    expecting = "true, false or { slow_start_ratio = 200, avoidance_ratio = 120 } is expected"
)]
pub(crate) enum Pacing {
    /// On with Linux's ratios, or off.
    Switch(bool),
    /// On with these ratios.
    Ratios(heddle_transport::Pacing),
}

/// MPTCP: the parameters of each subflow, and those of the connection. The receive window is the
/// connection's.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(deny_unknown_fields))]
pub(crate) struct Mptcp {
    #[serde(flatten)]
    pub(crate) connection: Multipath,
    #[serde(flatten)]
    pub(crate) tcp: Tcp,
}

impl<'de> Deserialize<'de> for Mptcp {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Mptcp, D::Error> {
        #[derive(Deserialize)]
        struct Layers(Multipath, Tcp);
        Layers::deserialize(from).map(|Layers(connection, tcp)| Mptcp { connection, tcp })
    }
}

/// Parameters that MPTCP adds to TCP's.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Multipath {
    /// Subflows of a connection, the first included: 1 to 16. Default: 2 (MP-HULA section 3).
    pub(crate) subflows: u8,
    /// Coupling of the subflows' congestion windows. Default: "lia" (RFC 6356). All but "uncoupled"
    /// are controllers of their own and take no `control`.
    pub(crate) coupling: Coupling,
    /// Choice of the subflow that takes the next data. Default: "lowest-rtt" (Linux's default).
    pub(crate) scheduler: Scheduler,
    /// Time at which a client opens its further subflows. Default: "after-data" (RFC 8684 section
    /// 3.1).
    pub(crate) join: JoinTime,
    /// The client's action when the connection's receive window is full although a subflow could
    /// send. Default: "wait", as Linux since 5.6. multipath-tcp.org's Linux does "penalise".
    pub(crate) full_window: FullWindow,
    /// Most bytes of a subflow without an acknowledgement, beside the receive window, as each of
    /// ns-2's TCP agents has its `window_`. Default: none.
    pub(crate) subflow_window: Option<Bytes>,
    /// The protocol's version: 0 is RFC 6824, 1 is RFC 8684. They differ in handshakes. Default: 1.
    pub(crate) version: u8,
}

impl Default for Multipath {
    fn default() -> Multipath {
        Multipath {
            subflows: 2,
            coupling: Coupling::Lia,
            scheduler: Scheduler::LowestRtt,
            join: JoinTime::AfterData,
            full_window: FullWindow::Wait,
            subflow_window: None,
            version: 1,
        }
    }
}
