//! The text form of a quantity: a decimal number and a unit, read and written without rounding.

use core::fmt;

/// Why a text is not a quantity.
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
    /// The unit is missing or unknown.
    #[error("a {what} needs a unit ({units}), as in {example}")]
    Unit {
        /// The kind of quantity.
        what: &'static str,
        /// The units it may have.
        units: Units,
        /// A good text.
        example: &'static str,
    },
    /// The number has more digits than the smallest unit can hold.
    #[error("the {what} is too large or too finely divided")]
    Range {
        /// The kind of quantity.
        what: &'static str,
    },
}

/// A list of units, for error messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units(&'static [(&'static str, u64)]);

impl fmt::Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, _)) in self.0.iter().enumerate() {
            f.write_str(if i == 0 { "" } else { ", " })?;
            f.write_str(name)?;
        }
        Ok(())
    }
}

pub(crate) fn quantity(
    text: &str,
    units: &'static [(&'static str, u64)],
    what: &'static str,
    example: &'static str,
) -> Result<u64, UnitError> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim());
    if number.is_empty() {
        return Err(UnitError::NoNumber { what, example });
    }
    let Some((_, scale)) = units.iter().find(|(name, _)| *name == unit) else {
        return Err(UnitError::Unit { what, units: Units(units), example });
    };
    scaled(number, *scale).ok_or(UnitError::Range { what })
}

/// `number * scale` if it is a whole number that fits.
fn scaled(number: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    if whole.is_empty() {
        return None;
    }
    let whole = whole.parse::<u64>().ok()?.checked_mul(scale)?;
    if fraction.is_empty() {
        return Some(whole);
    }
    let tenths = 10u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let parts = u128::from(fraction.parse::<u64>().ok()?) * u128::from(scale);
    if parts % tenths != 0 {
        return None;
    }
    whole.checked_add(u64::try_from(parts / tenths).ok()?)
}

/// Writes `value` in the largest unit in which it is short and exact.
pub(crate) fn display(
    value: u64,
    units: &[(&str, u64)],
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let is_short = |scale: u64| value >= scale && value.is_multiple_of((scale / 1000).max(1));
    let unit = units.iter().find(|(_, scale)| is_short(*scale));
    let (name, scale) = unit.copied().unwrap_or_else(|| smallest(units));
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

fn smallest<'a>(units: &[(&'a str, u64)]) -> (&'a str, u64) {
    units.iter().copied().find(|(_, scale)| *scale == 1).unwrap_or(("", 1))
}

#[cfg(feature = "serde")]
pub(crate) fn from_text<'de, D, T>(
    from: D,
    what: &'static str,
    example: &'static str,
) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: core::str::FromStr<Err = UnitError>,
{
    struct Visitor<T>(&'static str, &'static str, core::marker::PhantomData<T>);
    impl<T: core::str::FromStr<Err = UnitError>> serde::de::Visitor<'_> for Visitor<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a {} in quotes with its unit, as in {}", self.0, self.1)
        }
        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }
    }
    from.deserialize_str(Visitor(what, example, core::marker::PhantomData))
}

#[cfg(test)]
mod tests {
    use crate::{Bytes, Rate, Time};
    use proptest::prelude::*;
    use std::string::ToString;

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
        assert_eq!(no_unit, "a time needs a unit (s, ms, us, ns, ps), as in \"100us\"");
        let no_number = "Gbps".parse::<Rate>().unwrap_err().to_string();
        assert_eq!(no_number, "a rate starts with a number, as in \"40Gbps\"");
        assert!("0.5ps".parse::<Time>().is_err());
        assert!("99999999999s".parse::<Time>().is_err());
        assert!("-1s".parse::<Time>().is_err());
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
            prop_assert_eq!(Rate(value).to_string().parse(), Ok(Rate(value)));
            prop_assert_eq!(Bytes(value).to_string().parse(), Ok(Bytes(value)));
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".*") {
            let _ = text.parse::<Time>();
            let _ = text.parse::<Bytes>();
        }
    }
}
