//! The text form of a quantity: a decimal number and a unit, read and written without rounding.
//!
//! ```text
//! quantity = spaces digits [ "." digits ] spaces unit spaces
//! ```

use core::fmt;

/// Units by name, each with its multiple of the smallest, from large to small.
pub(crate) type UnitTable = &'static [(&'static str, u64)];

/// A kind of quantity: its name, its units and an example, for messages.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) units: UnitTable,
    /// Other names of units, in lower case, each with the unit.
    pub(crate) aliases: &'static [(&'static str, &'static str)],
    pub(crate) example: &'static str,
}

/// A text that is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// There is no number before the unit.
    #[error("a {what} starts with a number, as in {example}")]
    NoNumber {
        /// The kind of quantity.
        what: &'static str,
        /// A good text.
        example: &'static str,
    },
    /// The number has a sign.
    #[error("a {what} is not negative and has no sign, as in {example}")]
    Sign {
        /// The kind of quantity.
        what: &'static str,
        /// A good text.
        example: &'static str,
    },
    /// The number has a comma.
    #[error("a {what} has a decimal point and no comma, as in {example}")]
    Comma {
        /// The kind of quantity.
        what: &'static str,
        /// A good text.
        example: &'static str,
    },
    /// The unit is missing or unknown.
    #[error("a {what} needs a unit ({units}), as in {example}{meant}")]
    Unit {
        /// The kind of quantity.
        what: &'static str,
        /// The units it may have.
        units: Units,
        /// A good text.
        example: &'static str,
        /// The unit that was meant.
        meant: Meant,
    },
    /// The value is not a whole number of the type's units, or larger than the type holds.
    #[error("the {what} is too large or too finely divided")]
    Range {
        /// The kind of quantity.
        what: &'static str,
    },
}

/// The unit that was meant, if that is plain: a help on a line of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meant(Option<&'static str>);

impl fmt::Display for Meant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |unit| write!(f, "\nhelp: did you mean `{unit}`?"))
    }
}

/// The names of a quantity's units, for error messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units(UnitTable);

impl fmt::Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, _)) in self.0.iter().enumerate() {
            f.write_str(if i == 0 { "" } else { ", " })?;
            f.write_str(name)?;
        }
        Ok(())
    }
}

/// Reads a quantity as a number of the smallest unit.
pub(crate) fn quantity(text: &str, kind: Kind) -> Result<u128, UnitError> {
    let Kind { name: what, units, example, .. } = kind;
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim());
    if text.starts_with(['-', '+', '\u{2212}']) {
        return Err(UnitError::Sign { what, example });
    }
    if number.is_empty() {
        return Err(UnitError::NoNumber { what, example });
    }
    if unit.starts_with(',') {
        return Err(UnitError::Comma { what, example });
    }
    let Some((_, scale)) = units.iter().find(|(name, _)| *name == unit) else {
        let meant = Meant(meant(unit, kind));
        return Err(UnitError::Unit { what, units: Units(units), example, meant });
    };
    scaled(number, u128::from(*scale)).ok_or(UnitError::Range { what })
}

/// The unit that another spelling stands for: in other capitals, or by a name of its own.
fn meant(unit: &str, kind: Kind) -> Option<&'static str> {
    let same = |name: &str| name.eq_ignore_ascii_case(unit);
    let by_name = || kind.units.iter().map(|(name, _)| *name).find(|name| same(name));
    let alias = kind.aliases.iter().find(|(alias, _)| same(alias));
    alias.map(|(_, unit)| *unit).or_else(by_name)
}

/// `number * scale` if it is a whole number.
fn scaled(number: &str, scale: u128) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole = u128::from(whole.parse::<u64>().ok()?) * scale;
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() {
        return Some(whole);
    }
    let tenths = 10u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let parts = u128::from(fraction.parse::<u64>().ok()?) * scale;
    if !parts.is_multiple_of(tenths) {
        return None;
    }
    Some(whole + parts / tenths)
}

/// Writes `value` in the largest of `units` in which it is short and exact.
pub(crate) fn display(value: u128, units: UnitTable, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let is_short = |scale: u128| value >= scale && value.is_multiple_of((scale / 1000).max(1));
    let unit = units.iter().find(|(_, scale)| is_short(u128::from(*scale)));
    let (name, scale) = unit.copied().unwrap_or_else(|| smallest(units));
    let scale = u128::from(scale);
    let (whole, rest) = (value / scale, value % scale);
    if rest == 0 {
        return write!(f, "{whole}{name}");
    }
    let thousandths = rest / (scale / 1000);
    let (digits, width) = match thousandths {
        t if t % 100 == 0 => (t / 100, 1),
        t if t % 10 == 0 => (t / 10, 2),
        t => (t, 3),
    };
    write!(f, "{whole}.{digits:0width$}{name}")
}

fn smallest(units: UnitTable) -> (&'static str, u64) {
    units.iter().copied().find(|(_, scale)| *scale == 1).unwrap_or(("", 1))
}

#[cfg(feature = "serde")]
pub(crate) fn deserialize<'de, D, T>(from: D, kind: Kind) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: core::str::FromStr<Err = UnitError>,
{
    struct Visitor<T>(Kind, core::marker::PhantomData<T>);
    impl<T: core::str::FromStr<Err = UnitError>> serde::de::Visitor<'_> for Visitor<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a {} in quotes with its unit, as in {}", self.0.name, self.0.example)
        }
        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }
    }
    from.deserialize_str(Visitor(kind, core::marker::PhantomData))
}

#[cfg(test)]
mod tests {
    use crate::{Bytes, Duration, Rate, Time};
    use proptest::prelude::*;
    use std::string::{String, ToString};

    #[test]
    fn reads_what_people_write() {
        assert_eq!("100us".parse(), Ok(Time::micros(100)));
        assert_eq!("0.5 ms".parse(), Ok(Time::micros(500)));
        assert_eq!("40Gbps".parse(), Ok(Rate::gbps(40)));
        assert_eq!("1.5MB".parse(), Ok(Bytes(1_500_000)));
        assert_eq!("4KiB".parse(), Ok(Bytes(4096)));
        assert_eq!("0s".parse(), Ok(Time::ZERO));
    }

    #[test]
    fn says_what_is_missing() {
        let no_unit = "100".parse::<Time>().unwrap_err().to_string();
        assert_eq!(no_unit, "a time needs a unit (d, h, m, s, ms, us, ns, ps), as in \"100us\"");
        let no_number = "Gbps".parse::<Rate>().unwrap_err().to_string();
        assert_eq!(no_number, "a rate starts with a number, as in \"40Gbps\"");
        let sign = "-1us".parse::<Time>().unwrap_err().to_string();
        assert_eq!(sign, "a time is not negative and has no sign, as in \"100us\"");
        let comma = "1,5ms".parse::<Time>().unwrap_err().to_string();
        assert_eq!(comma, "a time has a decimal point and no comma, as in \"100us\"");
        assert!("0.5ps".parse::<Time>().is_err());
        assert!("99999999999s".parse::<Time>().is_err());
        assert!("-1s".parse::<Time>().is_err());
    }

    #[test]
    fn another_spelling_of_a_unit_is_understood() {
        fn help<T: core::str::FromStr<Err = crate::UnitError>>(text: &str) -> Option<String> {
            let message = text.parse::<T>().err()?.to_string();
            message.split_once("\nhelp: did you mean `").map(|(_, unit)| unit.replace("`?", ""))
        }
        for text in ["10Gb", "10GBps", "10 Gb/s", "10Gbit/s", "10gbps", "10G", "10GbE", "10GB"] {
            assert_eq!(help::<Rate>(text).as_deref(), Some("Gbps"), "{text}");
        }
        for (text, unit) in [("5mbps", "Mbps"), ("5kb/s", "Kbps"), ("9b/s", "bps"), ("1T", "Tbps")]
        {
            assert_eq!(help::<Rate>(text).as_deref(), Some(unit), "{text}");
        }
        for (text, unit) in [
            ("1\u{b5}s", "us"),
            ("1\u{3bc}s", "us"),
            ("1usec", "us"),
            ("1 microseconds", "us"),
            ("1MS", "ms"),
            ("3sec", "s"),
            ("3S", "s"),
            ("5 minutes", "m"),
            ("2hr", "h"),
            ("2 days", "d"),
        ] {
            assert_eq!(help::<Time>(text).as_deref(), Some(unit), "{text}");
        }
        for (text, unit) in [
            ("1kB", "KB"),
            ("1K", "KB"),
            ("1mb", "MB"),
            ("9bytes", "B"),
            ("4Kib", "KiB"),
            ("1G", "GB"),
        ] {
            assert_eq!(help::<Bytes>(text).as_deref(), Some(unit), "{text}");
        }
        for text in ["10", "10 parsecs", "10XB"] {
            assert_eq!((help::<Rate>(text), help::<Time>(text)), (None, None), "{text}");
        }
    }

    /// A text that either quantity reads means the same time to both.
    #[test]
    fn times_and_durations_have_one_grammar() {
        for (text, millis) in [
            ("500ms", 500),
            ("10s", 10_000),
            ("5 m", 300_000),
            ("1.5 h", 5_400_000),
            ("2d", 172_800_000),
            ("0.001s", 1),
        ] {
            assert_eq!(text.parse(), Ok(Time::millis(millis)), "{text}");
            assert_eq!(text.parse(), Ok(Duration::from_millis(millis)), "{text}");
        }
        for wrong in ["10", "s", "-1s", "10 parsecs", "99999999999999999999s", "", ".5s", "1e3s"] {
            assert!(
                wrong.parse::<Time>().is_err() && wrong.parse::<Duration>().is_err(),
                "{wrong}"
            );
        }
    }

    /// Each holds what its integers hold: 213 days in picoseconds, 584 542 million years in
    /// nanoseconds.
    #[test]
    fn ranges_are_those_of_the_integers() {
        assert!("1ps".parse::<Time>().is_ok() && "1ps".parse::<Duration>().is_err());
        assert!("214d".parse::<Time>().is_err());
        assert_eq!("18446744073709551615ms".parse(), Ok(Duration::from_millis(u64::MAX)));
        assert!("18446744073709551615d".parse::<Duration>().is_err());
    }

    #[test]
    fn a_byte_never_rounds_at_common_rates() {
        for (gbps, ps) in [(1, 8000), (10, 800), (25, 320), (40, 200), (100, 80), (400, 20)] {
            assert_eq!(Rate::gbps(gbps).time_for(Bytes(1)), Time(ps));
        }
    }

    proptest! {
        #[test]
        fn every_quantity_survives_its_text(value: u64) {
            prop_assert_eq!(Time(value).to_string().parse(), Ok(Time(value)));
            let duration = Duration(core::time::Duration::from_nanos(value));
            prop_assert_eq!(duration.to_string().parse(), Ok(duration));
            prop_assert_eq!(Rate(value).to_string().parse(), Ok(Rate(value)));
            prop_assert_eq!(Bytes(value).to_string().parse(), Ok(Bytes(value)));
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".*") {
            let _ = text.parse::<Time>();
            let _ = text.parse::<Duration>();
            let _ = text.parse::<Bytes>();
        }
    }
}
