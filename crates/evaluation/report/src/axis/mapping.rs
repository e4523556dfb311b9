//! From values to positions and back.

use super::Span;
use crate::model::Scale;

/// A monotone map from the values of an axis to positions on the page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapping {
    pub scale: Scale,
    /// The values at both ends; the first is the smaller one.
    pub values: Span,
    /// The positions of both ends, in pixels, in either order.
    pub positions: (f64, f64),
}

impl Mapping {
    /// The position of a value that the scale admits.
    pub fn at(&self, value: f64) -> f64 {
        let (low, high) = (self.bend(self.values.low), self.bend(self.values.high));
        let share = (self.bend(value) - low) / (high - low);
        // Neighbouring floats may have one logarithm: then there is nothing to tell apart.
        let share = if share.is_nan() { 0.5 } else { share };
        self.positions.0 + share * (self.positions.1 - self.positions.0)
    }

    /// The value that the scale shows evenly.
    fn bend(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Log => libm::log10(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mapping(scale: Scale, low: f64, high: f64) -> Mapping {
        Mapping { scale, values: Span { low, high }, positions: (300.0, 20.0) }
    }

    #[test]
    fn ends_and_middles() {
        let linear = mapping(Scale::Linear, 0.0, 10.0);
        assert_eq!([0.0, 5.0, 10.0].map(|v| linear.at(v)), [300.0, 160.0, 20.0]);
        let log = mapping(Scale::Log, 1.0, 10_000.0);
        assert_eq!([1.0, 100.0, 10_000.0].map(|v| log.at(v)), [300.0, 160.0, 20.0]);
    }

    #[test]
    fn the_narrowest_axis_does_not_divide_by_zero() {
        assert_eq!(mapping(Scale::Log, 1.0, 1.0 + f64::EPSILON / 2.0).at(1.0), 160.0);
    }

    proptest! {
        #[test]
        fn larger_values_lie_further(low in 1e-9..1e3_f64, ratio in 1.1..1e9_f64, a in 0.0..1.0_f64, b in 0.0..1.0_f64) {
            let high = low * ratio;
            let (a, b) = (low + a.min(b) * (high - low), low + a.max(b) * (high - low));
            for scale in [Scale::Linear, Scale::Log] {
                let map = mapping(scale, low, high);
                prop_assert!(map.at(b) <= map.at(a) + 1e-9);
                prop_assert!((20.0 - 1e-6..=300.0 + 1e-6).contains(&map.at(a)));
            }
        }

        #[test]
        fn equal_steps_are_equal_differences_or_ratios(low in 1e-6..1e3_f64, step in 1e-3..1e3_f64) {
            let linear = mapping(Scale::Linear, low, low + 2.0 * step);
            prop_assert!((linear.at(low + step) - 160.0).abs() < 1e-3);
            let ratio = 1.0 + step;
            let log = mapping(Scale::Log, low, low * ratio * ratio);
            prop_assert!((log.at(low * ratio) - 160.0).abs() < 1e-3);
        }
    }
}
