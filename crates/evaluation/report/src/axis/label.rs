//! Values as text: SI prefixes, powers of ten, equal decimals along an axis.

use super::ticks::power_of;
use crate::model::{Axis, Scale, Unit};

/// Everything written along an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AxisText {
    /// The quantity and its unit.
    pub title: String,
    /// One label for each major tick.
    pub labels: Vec<String>,
}

const PREFIXES: [(i32, &str); 9] =
    [(-12, "p"), (-9, "n"), (-6, "µ"), (-3, "m"), (0, ""), (3, "k"), (6, "M"), (9, "G"), (12, "T")];

/// The title of an axis and the labels of its ticks.
pub(crate) fn axis_text(axis: &Axis, scale: Scale, ticks: &[f64]) -> AxisText {
    match (&axis.unit, scale) {
        (Unit::Si(unit), Scale::Log) => {
            let labels = ticks.iter().map(|&v| si_text(v, unit)).collect();
            AxisText { title: axis.label.clone(), labels }
        }
        (Unit::Si(unit), Scale::Linear) => {
            let (power, prefix) = prefix(largest(ticks), unit);
            let title = titled(&axis.label, &format!("{prefix}{unit}"));
            AxisText { title, labels: even_decimals(ticks, power) }
        }
        (Unit::Plain(unit), _) => plain_text(axis, unit, scale, ticks),
        (Unit::None, _) => plain_text(axis, "", scale, ticks),
    }
}

/// A value with an SI prefix: 0.00025 s is "250 µs".
fn si_text(value: f64, unit: &str) -> String {
    let (power, prefix) = prefix(value.abs(), unit);
    format!("{} {prefix}{unit}", number(shift(value, power)))
}

fn plain_text(axis: &Axis, unit: &str, scale: Scale, ticks: &[f64]) -> AxisText {
    let largest = largest(ticks);
    let smallest = ticks.iter().copied().fold(f64::INFINITY, f64::min);
    if scale == Scale::Log && (largest >= 1e5 || smallest < 1e-3) {
        let labels = ticks.iter().map(|&v| power_text(v)).collect();
        return AxisText { title: titled(&axis.label, unit), labels };
    }
    if scale == Scale::Log {
        let labels = ticks.iter().map(|&v| number(v)).collect();
        return AxisText { title: titled(&axis.label, unit), labels };
    }
    let power = if (1e-4..1e7).contains(&largest) || largest == 0.0 {
        0
    } else {
        power_of(largest).div_euclid(3) * 3
    };
    let factor =
        if power == 0 { String::new() } else { format!("10{} ", superscript(&power.to_string())) };
    let title = titled(&axis.label, format!("{factor}{unit}").trim_end());
    AxisText { title, labels: even_decimals(ticks, power) }
}

fn titled(label: &str, unit: &str) -> String {
    match (label, unit) {
        (_, "") => label.to_owned(),
        ("", _) => unit.to_owned(),
        _ => format!("{label} ({unit})"),
    }
}

fn largest(ticks: &[f64]) -> f64 {
    ticks.iter().fold(0.0, |largest, v| v.abs().max(largest))
}

/// The prefix under which a value reads as 1 to 999. Nobody counts kiloseconds; bytes and bits per
/// second have a capital K, as in scenario files.
fn prefix(value: f64, unit: &str) -> (i32, &'static str) {
    let ceiling = if unit == "s" { 0 } else { 12 };
    let power = if value > 0.0 { power_of(value) } else { 0 };
    let fits = |&&(p, _): &&(i32, &str)| p <= power && p <= ceiling;
    match PREFIXES.iter().rev().find(fits).copied().unwrap_or(PREFIXES[0]) {
        (3, _) if ["B", "bps"].contains(&unit) => (3, "K"),
        other => other,
    }
}

/// `value / 10^power`, free of the last bits' noise.
fn shift(value: f64, power: i32) -> f64 {
    let moved = value / super::decimal(1, power);
    format!("{moved:.11e}").parse().unwrap_or(moved)
}

/// Labels of a linear axis, in units of `10^power`, all with the same decimals (zero has none).
fn even_decimals(ticks: &[f64], power: i32) -> Vec<String> {
    let values: Vec<f64> = ticks.iter().map(|&v| shift(v, power)).collect();
    let decimals = values.iter().map(|&v| decimals(v)).max().unwrap_or(0);
    values.iter().map(|&v| if v == 0.0 { "0".into() } else { fixed(v, decimals) }).collect()
}

fn decimals(value: f64) -> usize {
    value.to_string().split_once('.').map_or(0, |(_, after)| after.len())
}

/// A number with as many decimals as it needs.
fn number(value: f64) -> String {
    fixed(value, decimals(value))
}

/// A number with `decimals` decimals, a true minus sign, and commas from 10,000 on. Numbers that
/// nobody would write out are powers of ten.
fn fixed(value: f64, decimals: usize) -> String {
    if value != 0.0 && !(1e-9..1e15).contains(&value.abs()) {
        return power_text(value);
    }
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let sign = if value < 0.0 { "−" } else { "" };
    format!("{sign}{}{rest}", grouped(whole))
}

fn grouped(digits: &str) -> String {
    if digits.len() < 5 {
        return digits.to_owned();
    }
    let comma = |i: usize| i > 0 && (digits.len() - i).is_multiple_of(3);
    let pairs = digits.chars().enumerate();
    pairs.flat_map(|(i, c)| comma(i).then_some(',').into_iter().chain([c])).collect()
}

/// A number of few digits as a power of ten: "10⁶", "2·10⁻⁴".
fn power_text(value: f64) -> String {
    let text = format!("{:e}", value.abs());
    let Some((digits, power)) = text.split_once('e') else { return text };
    let sign = if value < 0.0 { "−" } else { "" };
    let factor = if digits == "1" { String::new() } else { format!("{digits}·") };
    format!("{sign}{factor}10{}", superscript(power))
}

fn superscript(power: &str) -> String {
    let raised = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        _ => char::from_u32(0x2070 + c.to_digit(10).unwrap_or(0)).unwrap_or(c),
    };
    power.chars().map(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(unit: Unit, scale: Scale, ticks: &[f64]) -> (String, String) {
        let text = axis_text(&Axis::new("Size", unit), scale, ticks);
        (text.title, text.labels.join(" | "))
    }
    fn pair(title: &str, labels: &str) -> (String, String) {
        (title.into(), labels.into())
    }

    #[test]
    fn a_linear_si_axis_has_one_prefix() {
        let found = text(Unit::si("s"), Scale::Linear, &[0.0, 0.0005, 0.001, 0.0015]);
        assert_eq!(found, pair("Size (ms)", "0 | 0.5 | 1.0 | 1.5"));
        let found = text(Unit::si("bps"), Scale::Linear, &[0.0, 2e10, 4e10]);
        assert_eq!(found, pair("Size (Gbps)", "0 | 20 | 40"));
        let found = text(Unit::si("s"), Scale::Linear, &[0.0, 1000.0, 20_000.0]);
        assert_eq!(found, pair("Size (s)", "0 | 1000 | 20,000"));
    }

    #[test]
    fn a_log_si_axis_has_a_prefix_at_each_tick() {
        let found = text(Unit::si("B"), Scale::Log, &[1e2, 1e4, 1e6, 1e8]);
        assert_eq!(found, pair("Size", "100 B | 10 KB | 1 MB | 100 MB"));
        let found = text(Unit::si("s"), Scale::Log, &[2e-5, 5e-5, 1e-3]);
        assert_eq!(found, pair("Size", "20 µs | 50 µs | 1 ms"));
    }

    #[test]
    fn plain_axes_keep_to_plain_numbers_while_they_read_well() {
        let found = text(Unit::plain("%"), Scale::Linear, &[-10.0, 0.0, 10.0]);
        assert_eq!(found, pair("Size (%)", "−10 | 0 | 10"));
        let found = text(Unit::None, Scale::Linear, &[0.0, 0.25, 0.5]);
        assert_eq!(found, pair("Size", "0 | 0.25 | 0.50"));
        let found = text(Unit::None, Scale::Log, &[0.01, 0.1, 1.0, 1000.0]);
        assert_eq!(found, pair("Size", "0.01 | 0.1 | 1 | 1000"));
    }

    #[test]
    fn absurd_values_stay_short() {
        let found = text(Unit::si("s"), Scale::Log, &[1e-300, 1e300]);
        assert_eq!(found, pair("Size", "10⁻²⁸⁸ ps | 10³⁰⁰ s"));
    }

    #[test]
    fn large_plain_axes_use_powers_of_ten() {
        let found = text(Unit::None, Scale::Log, &[1.0, 2e3, 1e6]);
        assert_eq!(found, pair("Size", "10⁰ | 2·10³ | 10⁶"));
        let found = text(Unit::plain("packets"), Scale::Linear, &[0.0, 2e7, 4e7]);
        assert_eq!(found, pair("Size (10⁶ packets)", "0 | 20 | 40"));
        let found = text(Unit::None, Scale::Linear, &[0.0, 2e-5]);
        assert_eq!(found, pair("Size (10⁻⁶)", "0 | 20"));
    }
}
