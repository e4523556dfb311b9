//! CONGA's parameters.

use heddle_units::Time;

use super::tag;
use crate::{DreShift, FLOWLET_SLOTS};

/// CONGA's parameters. Defaults are those of CONGA section 3.6: Q = 3, tau = 160 us, a flowlet gap
/// of 500 us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(default, deny_unknown_fields)
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename = "Conga"))]
pub struct CongaConfig {
    /// Silence longer than this ends a flowlet. Default: 500us.
    pub flowlet_gap: Time,
    /// Slots of a switch's flowlet table, rounded up to a power of two. Default: 65536 (CONGA
    /// section 3.4).
    pub flowlet_slots: u32,
    /// Time constant of the utilisation estimator. Default: 160us.
    /// A switch shifts instead of dividing: it runs with the next power of two in nanoseconds
    /// (400us as 524us).
    pub tau: Time,
    /// Bits of a congestion metric, Q: 1 to 3. Default: 3.
    pub metric_bits: u8,
    /// A remote metric older than this counts as 0. Default: 10ms (CONGA section 3.3).
    pub metric_age: Time,
}

impl Default for CongaConfig {
    fn default() -> CongaConfig {
        CongaConfig {
            flowlet_gap: Time::micros(500),
            flowlet_slots: FLOWLET_SLOTS,
            tau: Time::micros(160),
            metric_bits: 3,
            metric_age: Time::millis(10),
        }
    }
}

impl CongaConfig {
    /// Q, clamped to the range of the header field.
    pub(crate) fn q(&self) -> u32 {
        u32::from(self.metric_bits).clamp(1, tag::METRIC_BITS)
    }

    /// The estimator's time constant.
    pub(crate) fn dre_shift(&self) -> DreShift {
        DreShift::at_least(self.tau.as_nanos())
    }
}
