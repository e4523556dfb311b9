//! Short forms of times, numbers and tokens.

use std::time::Duration;

use heddled::config::{Forwarding, Service};

/// The two largest units: `3d 4h`, `2m 5s`, `12s`; below 10 s with tenths.
pub(crate) fn age(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0, 0..=9) => format!("{:.1}s", time.as_secs_f64()),
        (0, 0, 0, s) => format!("{s}s"),
        (0, 0, m, s) => format!("{m}m {s}s"),
        (0, h, m, _) => format!("{h}h {m}m"),
        (d, h, _, _) => format!("{d}d {h}h"),
    }
}

/// Backends by their state: `3 of 4 up`, `1 of 4 up, 2 not checked yet`.
pub(crate) fn backends(up: u32, unchecked: u32, all: u32) -> String {
    match unchecked {
        0 => format!("{up} of {all} up"),
        unchecked => format!("{up} of {all} up, {unchecked} not checked yet"),
    }
}

/// Three digits and a unit of 1000: `999`, `1.23k`, `45.6M`.
pub(crate) fn short(number: f64) -> String {
    const UNITS: [&str; 5] = ["", "k", "M", "G", "T"];
    let mut number = number;
    let mut unit = 0;
    while number >= 999.5 && unit + 1 < UNITS.len() {
        number /= 1000.0;
        unit += 1;
    }
    let digits = match number {
        _ if unit == 0 => 0,
        n if n < 9.995 => 2,
        n if n < 99.95 => 1,
        _ => 0,
    };
    format!("{number:.digits$}{}", UNITS[unit])
}

/// A part of a whole, in percent.
pub(crate) fn percent(part: f64) -> String {
    match part * 100.0 {
        0.0 => "0 %".into(),
        p if p < 0.1 => "< 0.1 %".into(),
        p if p < 10.0 => format!("{p:.1} %"),
        p => format!("{p:.0} %"),
    }
}

/// As `ss -Mti` has it, with 0x in front.
pub(crate) fn token(token: Option<u32>) -> String {
    token.map_or_else(|| "-".into(), |token| format!("{token:#010x}"))
}

/// A forwarding mode, as configurations write it.
pub(crate) fn forwarding(forwarding: Forwarding) -> &'static str {
    match forwarding {
        Forwarding::L2 => "l2",
        Forwarding::Ipip => "ipip",
        Forwarding::Gue => "gue",
    }
}

/// A service's address, port and protocol.
pub(crate) fn place(service: &Service) -> String {
    format!("{} {}", service.endpoint(), service.protocol)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_units_of_time() {
        let told = |millis| age(Duration::from_millis(millis));
        assert_eq!([told(0), told(9_940), told(10_000)], ["0.0s", "9.9s", "10s"]);
        assert_eq!([told(125_000), told(7_500_000), told(90_000_000)], ["2m 5s", "2h 5m", "1d 1h"]);
    }

    #[test]
    fn three_digits() {
        for (number, text) in [
            (0.0, "0"),
            (999.4, "999"),
            (999.6, "1.00k"),
            (12_345.0, "12.3k"),
            (999_600.0, "1.00M"),
            (2.5e9, "2.50G"),
            (1e16, "10000T"),
        ] {
            assert_eq!(short(number), text);
        }
    }

    #[test]
    fn a_little_is_not_nothing() {
        assert_eq!(
            [percent(0.0), percent(1e-6), percent(0.034), percent(1.0)],
            ["0 %", "< 0.1 %", "3.4 %", "100 %"]
        );
    }
}
