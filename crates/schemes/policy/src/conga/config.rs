//! CONGA's parameters.

use super::tag;
use crate::{DreShift, Nanos};

/// CONGA's parameters (section 3.6 of the paper).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CongaConfig {
    /// T_fl: an idle time longer than this ends a flowlet.
    pub flowlet_gap: Nanos,
    /// Slots of a leaf's flowlet table.
    pub flowlet_slots: usize,
    /// Time constant of the utilisation estimator.
    pub tau: DreShift,
    /// Q, bits of a metric: 1 to 3, other values are clamped.
    pub metric_bits: u32,
    /// A metric older than this reads 0.
    pub metric_age: Nanos,
}

impl CongaConfig {
    /// Q, clamped to the range of the header field.
    pub(crate) fn q(&self) -> u32 {
        self.metric_bits.clamp(1, tag::METRIC_BITS)
    }
}
