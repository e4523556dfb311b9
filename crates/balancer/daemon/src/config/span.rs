//! Durations as they are written: `"500ms"`, `"10s"`, `"5m"`, `"2h"`, `"5d"`.

use std::borrow::Cow;
use std::str::FromStr;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

const UNITS: [(&str, u64); 5] =
    [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// A duration of the file, in whole milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span(pub(super) Duration);

impl Span {
    pub(super) const fn secs(secs: u64) -> Span {
        Span(Duration::from_secs(secs))
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Span, String> {
        let wrong = || {
            format!(
                "`{text}` is no duration; write a whole number and a unit (ms, s, m, h, d), as in \"10s\""
            )
        };
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, unit) = text.split_at(digits);
        let number: u64 = number.parse().map_err(|_| wrong())?;
        let (_, millis) =
            UNITS.into_iter().find(|(name, _)| *name == unit.trim()).ok_or_else(wrong)?;
        number
            .checked_mul(millis)
            .map(|millis| Span(Duration::from_millis(millis)))
            .ok_or_else(wrong)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Span, D::Error> {
        let text: Cow<'de, str> = Deserialize::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// As it would be written, for the schema's defaults.
impl serde::Serialize for Span {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let millis = self.0.as_millis();
        let whole = |(_, unit): &&(&str, u64)| millis.is_multiple_of(u128::from(*unit));
        let (name, unit) = UNITS.iter().rev().find(whole).unwrap_or(&UNITS[0]);
        serializer.collect_str(&format_args!("{}{name}", millis / u128::from(*unit)))
    }
}

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A duration with its unit.",
            "pattern": "^[0-9]+ *(ms|s|m|h|d)$",
            "examples": ["10s"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_a_unit() {
        let millis = |text: &str| text.parse::<Span>().map(|span| span.0.as_millis());
        assert_eq!(millis("500ms"), Ok(500));
        assert_eq!(millis("10s"), Ok(10_000));
        assert_eq!(millis("5 m"), Ok(300_000));
        assert_eq!(millis("2d"), Ok(172_800_000));
        for wrong in [
            "10",
            "s",
            "1.5s",
            "-1s",
            "10 parsecs",
            "99999999999999999999s",
            "999999999999999d",
            "",
        ] {
            assert!(millis(wrong).is_err(), "{wrong}");
        }
    }
}
