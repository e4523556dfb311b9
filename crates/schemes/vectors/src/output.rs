//! Decisions of steps.

use heddle_policy::cflb::{Decision, Reason};
use serde::{Deserialize, Serialize};

use crate::input::Shim;

/// Decision of a step. What a step does not decide is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Egress port of a packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The shim with which a packet leaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shim: Option<Shim>,
    /// The tag with which a packet leaves (CONGA).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<u16>,
    /// The probe to send or to replicate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<ProbeOutput>,
    /// After a probe: the next hops known towards its ToR, best first, as port and utilisation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<Vec<(u16, u16)>>,
    /// CFLB's reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<ReasonName>,
    /// With a digit: the router's position in the selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u8>,
    /// The digit there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digit: Option<u16>,
    /// The estimator's reading, of 65536.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub util: Option<u16>,
}

/// A probe that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeOutput {
    /// ToR that originated it.
    pub tor: u16,
    /// Utilisation in the probe's quantisation.
    pub util: u16,
}

/// Reason of CFLB's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReasonName {
    /// One next hop.
    Alone,
    /// The digit.
    Controlled,
    /// A hash: the digit has no next hop.
    DigitTooHigh,
    /// A hash: the value encodes no path.
    NoSelector,
    /// A hash: the packet has none of the controllable fields.
    NoField,
}

impl Output {
    /// CFLB's decision; the port is set by the caller.
    pub fn of_decision(decision: Decision) -> Output {
        let (reason, place) = match decision.reason {
            Reason::Alone => (ReasonName::Alone, None),
            Reason::Controlled { position, digit } => {
                (ReasonName::Controlled, Some((position, digit)))
            }
            Reason::DigitTooHigh { position, digit } => {
                (ReasonName::DigitTooHigh, Some((position, digit)))
            }
            Reason::NoSelector => (ReasonName::NoSelector, None),
            Reason::NoField => (ReasonName::NoField, None),
        };
        Output {
            reason: Some(reason),
            position: place.map(|(position, _)| position),
            digit: place.map(|(_, digit)| digit),
            ..Output::default()
        }
    }
}
