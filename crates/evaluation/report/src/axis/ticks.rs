//! Ticks at round numbers.
//!
//! Linear axes follow P. Heckbert, "Nice numbers for graph labels", Graphics Gems (1990): steps of
//! 1, 2 or 5 times a power of ten. Logarithmic axes label decades, every n-th one when they are
//! many, and 1, 2 and 5 when they are few.

use super::Span;
use crate::model::Scale;

/// Ticks of an axis. Both lists ascend.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ticks {
    /// With a label and a grid line.
    pub major: Vec<f64>,
    /// With a short stroke only.
    pub minor: Vec<f64>,
}

/// A step of `digit * 10^power`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    digit: i64,
    power: i32,
}

/// The ticks of an axis with room for about `room` labels.
pub(crate) fn ticks(scale: Scale, span: Span, room: usize) -> Ticks {
    match scale {
        Scale::Linear => Ticks { major: linear(span, room), minor: Vec::new() },
        Scale::Log => log(span, room),
    }
}

/// `span`, widened to where the next ticks stand, and the ticks.
pub(crate) fn widen(scale: Scale, span: Span, room: usize) -> (Span, Ticks) {
    match scale {
        Scale::Linear => {
            let step = step(span, room);
            let wide = widen_linear(span, step);
            (wide, Ticks { major: multiples(wide, step, room), minor: Vec::new() })
        }
        Scale::Log => {
            let wide = widen_log(span);
            (wide, log(wide, room))
        }
    }
}

/// `digits * 10^power`, rounded once: ticks are the closest numbers to what their labels say.
pub(crate) fn decimal(digits: i64, power: i32) -> f64 {
    format!("{digits}e{power}").parse().unwrap_or(f64::NAN)
}

/// The largest `p` with `10^p <= value`, for a positive value.
pub(crate) fn power_of(value: f64) -> i32 {
    let guess = libm::floor(libm::log10(value)) as i32;
    if decimal(1, guess + 1) <= value {
        guess + 1
    } else if decimal(1, guess) > value {
        guess - 1
    } else {
        guess
    }
}

fn step(span: Span, room: usize) -> Step {
    let raw = (span.high - span.low) / room.max(1) as f64;
    let power = power_of(raw);
    let digit = match raw / decimal(1, power) {
        f if f < 1.5 => 1,
        f if f < 3.0 => 2,
        f if f < 7.0 => 5,
        _ => 10,
    };
    Step { digit, power }
}

fn linear(span: Span, room: usize) -> Vec<f64> {
    multiples(span, step(span, room), room)
}

/// The multiples of a step inside `span`.
fn multiples(span: Span, step: Step, room: usize) -> Vec<f64> {
    let size = decimal(step.digit, step.power);
    // A whisker of slack keeps an end that is a tick but for rounding.
    let first = libm::ceil(span.low / size - 1e-9) as i64;
    let last = libm::floor(span.high / size + 1e-9) as i64;
    let last = last.min(first.saturating_add(4 * room as i64));
    let values = (first..=last).map(|i| decimal(i.saturating_mul(step.digit), step.power));
    values.collect()
}

fn widen_linear(span: Span, step: Step) -> Span {
    let size = decimal(step.digit, step.power);
    let first = libm::floor(span.low / size + 1e-9) as i64;
    let last = libm::ceil(span.high / size - 1e-9) as i64;
    let at = |i: i64| decimal(i.saturating_mul(step.digit), step.power);
    Span { low: at(first), high: at(last) }
}

/// To the next number of one digit: 0.23 to 47 becomes 0.2 to 50.
fn widen_log(span: Span) -> Span {
    let (low, high) = (power_of(span.low), power_of(span.high));
    let first = libm::floor(span.low / decimal(1, low) + 1e-9) as i64;
    let last = libm::ceil(span.high / decimal(1, high) - 1e-9) as i64;
    Span { low: decimal(first, low), high: decimal(last, high) }
}

fn log(span: Span, room: usize) -> Ticks {
    let decades = one_digit_numbers(span, &[1]);
    let few = one_digit_numbers(span, &[1, 2, 5]);
    let major = match decades.len() {
        0..=2 if few.len() >= 2 && few.len() <= room + 2 => few,
        0..=1 => linear(span, room),
        n => decades.into_iter().step_by(n.div_ceil(room.max(1))).collect(),
    };
    let all = one_digit_numbers(span, &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    // Beyond a dozen decades the strokes would merge.
    let kept = |v: &f64| !major.contains(v) && all.len() < 9 * 12;
    let minor = all.iter().copied().filter(kept).collect();
    Ticks { major, minor }
}

/// The numbers `digit * 10^p` inside `span`, ascending.
fn one_digit_numbers(span: Span, digits: &[i64]) -> Vec<f64> {
    let powers = power_of(span.low)..=power_of(span.high);
    let inside = |v: &f64| (span.low * (1.0 - 1e-9)..=span.high * (1.0 + 1e-9)).contains(v);
    powers.flat_map(|p| digits.iter().map(move |&d| decimal(d, p))).filter(inside).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn major(scale: Scale, low: f64, high: f64, room: usize) -> Vec<f64> {
        ticks(scale, Span { low, high }, room).major
    }

    #[test]
    fn linear_ticks_are_the_nice_numbers() {
        let linear = |low, high, room| major(Scale::Linear, low, high, room);
        // Heckbert's own example: 105 to 543 in about five steps goes by hundreds.
        assert_eq!(linear(105.0, 543.0, 5), [200.0, 300.0, 400.0, 500.0]);
        assert_eq!(linear(0.0, 1.0, 5), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]); // 0.6, not 0.6000000000000001
        assert_eq!(linear(-1.0, 1.0, 4), [-1.0, -0.5, 0.0, 0.5, 1.0]);
        assert_eq!(linear(10.0, 90.0, 9), [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0]);
        assert_eq!(linear(0.0, 3e-6, 3), [0.0, 1e-6, 2e-6, 3e-6]);
    }

    #[test]
    fn ends_widen_to_ticks() {
        let wide = |scale, low, high| widen(scale, Span { low, high }, 5).0;
        assert_eq!(wide(Scale::Linear, 105.0, 543.0), Span { low: 100.0, high: 600.0 });
        assert_eq!(wide(Scale::Log, 0.23, 47.0), Span { low: 0.2, high: 50.0 });
        assert_eq!(wide(Scale::Log, 1e-3, 99.0), Span { low: 1e-3, high: 100.0 });
    }

    #[test]
    fn a_widened_axis_ends_at_labels() {
        // 0 to 148 goes by 20; for 0 to 160 alone the step would be 50, and the top unlabelled.
        let (wide, ticks) = widen(Scale::Linear, Span { low: 0.0, high: 148.0 }, 5);
        assert_eq!((wide.high, ticks.major.last()), (160.0, Some(&160.0)));
    }

    #[test]
    fn log_ticks_are_decades_or_one_two_five() {
        assert_eq!(major(Scale::Log, 1.0, 1e4, 8), [1.0, 10.0, 100.0, 1e3, 1e4]);
        assert_eq!(major(Scale::Log, 1.0, 1e8, 5), [1.0, 100.0, 1e4, 1e6, 1e8]);
        assert_eq!(major(Scale::Log, 0.9, 30.0, 8), [1.0, 2.0, 5.0, 10.0, 20.0]);
        // Less than one such number inside: plain steps.
        assert_eq!(major(Scale::Log, 3.1, 3.5, 4), [3.1, 3.2, 3.3, 3.4, 3.5]);
    }

    #[test]
    fn log_axes_mark_the_other_digits() {
        let minor = ticks(Scale::Log, Span { low: 1.0, high: 1e3 }, 8).minor;
        assert_eq!(minor[..9], [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 20.0]);
        assert_eq!(minor.len(), 24);
    }

    #[test]
    fn powers_are_exact_at_the_edges() {
        let cases = [(1000.0, 3), (999.999, 2), (1e-3, -3), (9.99e-4, -4), (1e300, 300)];
        cases.iter().for_each(|&(value, power)| assert_eq!(power_of(value), power, "{value}"));
    }

    proptest! {
        #[test]
        fn ticks_lie_inside_ascend_and_are_a_few(low in -1e12..1e12_f64, size in 1e-3..1e12_f64, room in 2..12_usize) {
            let span = Span { low, high: low + size };
            let found = linear(span, room);
            let slack = size * 1e-6;
            prop_assert!(found.iter().all(|v| (low - slack..=span.high + slack).contains(v)));
            prop_assert!(found.windows(2).all(|w| w[0] < w[1]));
            prop_assert!(found.len() <= 2 * room + 1, "{}", found.len());
            prop_assert!(found.len() + 1 >= room / 2, "{}", found.len());
        }

        #[test]
        fn a_widened_span_holds_the_span(low in 1e-9..1e9_f64, ratio in 1.001..1e6_f64) {
            let span = Span { low, high: low * ratio };
            for scale in [Scale::Linear, Scale::Log] {
                let (wide, _) = widen(scale, span, 6);
                prop_assert!(wide.low <= low * (1.0 + 1e-6) && wide.high >= span.high * (1.0 - 1e-6));
            }
        }
    }
}
