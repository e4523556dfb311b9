//! Parameters of Ultra Ethernet's transport.

use heddle_units::{Bytes, Rate, Time};

use crate::TcpConfig;

/// Control of a sender's window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(rename_all = "kebab-case")
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum WindowControl {
    /// NSCC, network signalled congestion control: by marks and delay. Needs ports that mark.
    #[default]
    Nscc,
    /// None: the window stays as large as it may be.
    Fixed,
    /// RCCC, receiver credit congestion control: receivers grant what is sent to them, at the rate
    /// of their links, to all in turn.
    Rccc,
    /// Both: a packet is sent if the window has room for it, and some credit is left. Needs ports
    /// that mark; those to hosts should not (`red.to_hosts`).
    NsccRccc,
}

impl WindowControl {
    /// True if receivers grant credit.
    pub fn grants_credit(self) -> bool {
        matches!(self, WindowControl::Rccc | WindowControl::NsccRccc)
    }

    /// True if senders wait for marks.
    pub fn needs_marks(self) -> bool {
        matches!(self, WindowControl::Nscc | WindowControl::NsccRccc)
    }
}

/// A connection's parameters, the same at both ends. Defaults are those of the public uet-htsim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(default, deny_unknown_fields)
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename = "Uet"))]
pub struct UetConfig {
    /// Largest payload of a packet, in bytes, at least 1; headers add 58 on the wire. Default:
    /// 4096.
    pub mss: u16,
    /// Control of what may be in flight. Default: "nscc".
    pub control: WindowControl,
    /// Round-trip time of a full packet and its acknowledgement between the hosts farthest apart,
    /// in an empty fabric. Default: that of the fabric.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub base_rtt: Option<Time>,
    /// Queueing delay that NSCC aims at. Default: three quarters of `base_rtt` with trimming,
    /// `base_rtt` without.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub target_delay: Option<Time>,
    /// Largest window, with which a connection begins, of hosts farthest apart; others have a part
    /// of it by their round-trip times. With RCCC: the credit with which a connection begins, and the
    /// most. Default: 1.5 times `base_rtt` at the rate of the hosts' links.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub window: Option<Bytes>,
    /// Time after which a packet without an answer is sent again. Default: 15us and six times what
    /// a full switch port takes to drain to a host.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub rto: Option<Time>,
    /// Packets for each acknowledgement, at least 1; marked packets, and those for which the sender
    /// waits, are acknowledged at once. Default: 1.
    pub packets_per_ack: u8,
    /// Asks for what has arrived before `rto` is over, by packets without payload: losses are found
    /// sooner where no switch trims. Default: false.
    pub probes: bool,
}

impl Default for UetConfig {
    fn default() -> UetConfig {
        UetConfig {
            mss: 4096,
            control: WindowControl::Nscc,
            base_rtt: None,
            target_delay: None,
            window: None,
            rto: None,
            packets_per_ack: 1,
            probes: false,
        }
    }
}

impl UetConfig {
    /// The parameters that it shares with TCP, for what reads those of any connection; the others
    /// have TCP's defaults.
    pub fn as_tcp(&self) -> TcpConfig {
        let rto = self.rto.unwrap_or(DEFAULT_RTO);
        let timeouts = TcpConfig { min_rto: rto, max_rto: rto, ..TcpConfig::default() };
        TcpConfig { mss: self.mss, initial_rto: Some(rto), ..timeouts }
    }
}

/// The round-trip time for which NSCC's constants are given (uet-htsim).
const DEFAULT_RTT: Time = Time::micros(12);

/// A timeout where no fabric gives one: six full round trips and 15 us.
const DEFAULT_RTO: Time = Time::micros(87);

/// Parameters with every default, and the rate of the hosts' links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UetParameters {
    pub(crate) mss: u16,
    pub(crate) control: WindowControl,
    pub(crate) rate: Rate,
    pub(crate) base_rtt: Time,
    pub(crate) target_delay: Time,
    pub(crate) window: u64,
    pub(crate) rto: Time,
    pub(crate) packets_per_ack: u8,
    pub(crate) probes: bool,
}

impl UetParameters {
    /// Parameters of hosts whose links have a rate.
    pub fn new(config: &UetConfig, rate: Rate) -> UetParameters {
        let base_rtt = config.base_rtt.unwrap_or(DEFAULT_RTT).max(Time(1));
        let window = rate.bytes_in(base_rtt).0 * 3 / 2;
        UetParameters {
            mss: config.mss.max(1),
            control: config.control,
            rate,
            base_rtt,
            target_delay: config.target_delay.unwrap_or(base_rtt).max(Time(1)),
            window: config.window.map_or(window, |bytes| bytes.0),
            rto: config.rto.unwrap_or(DEFAULT_RTO),
            packets_per_ack: config.packets_per_ack.max(1),
            probes: config.probes,
        }
    }

    pub(crate) fn as_tcp(&self) -> TcpConfig {
        UetConfig { mss: self.mss, rto: Some(self.rto), ..UetConfig::default() }.as_tcp()
    }
}
