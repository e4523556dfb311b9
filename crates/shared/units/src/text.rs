//! The text form of each quantity: units, and what [`core::str::FromStr`], [`fmt::Display`], serde
//! and schemars make of it.

use core::fmt;

use crate::parse::{self, Kind, UnitTable};
use crate::{Bytes, Duration, Rate, Time, UnitError};

/// Units of all durations, in picoseconds.
const TIME_UNITS: UnitTable = &[
    ("d", 86_400_000_000_000_000),
    ("h", 3_600_000_000_000_000),
    ("m", 60_000_000_000_000),
    ("s", 1_000_000_000_000),
    ("ms", 1_000_000_000),
    ("us", 1_000_000),
    ("ns", 1_000),
    ("ps", 1),
];

/// The decimal units of durations, in which they are written.
const DECIMAL_TIME_UNITS: UnitTable = TIME_UNITS.split_at(3).1;

/// In bits per second.
const RATE_UNITS: UnitTable = &[
    ("Tbps", 1_000_000_000_000),
    ("Gbps", 1_000_000_000),
    ("Mbps", 1_000_000),
    ("Kbps", 1_000),
    ("bps", 1),
];

/// In bytes. The decimal ones come first, as sizes are written in them.
const BYTE_UNITS: UnitTable = &[
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("B", 1),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
];

const TIME: Kind =
    Kind { name: "time", units: TIME_UNITS, aliases: TIME_ALIASES, example: "\"100us\"" };
const DURATION: Kind =
    Kind { name: "duration", units: TIME_UNITS, aliases: TIME_ALIASES, example: "\"10s\"" };
const RATE: Kind =
    Kind { name: "rate", units: RATE_UNITS, aliases: RATE_ALIASES, example: "\"40Gbps\"" };
const SIZE: Kind =
    Kind { name: "size", units: BYTE_UNITS, aliases: BYTE_ALIASES, example: "\"1.5MB\"" };

/// Names of units that are not read, each with the unit: with the micro sign, the Greek letter, or
/// in full.
const TIME_ALIASES: &[(&str, &str)] = &[
    ("\u{b5}s", "us"),
    ("\u{3bc}s", "us"),
    ("usec", "us"),
    ("usecs", "us"),
    ("microsecond", "us"),
    ("microseconds", "us"),
    ("nsec", "ns"),
    ("nanosecond", "ns"),
    ("nanoseconds", "ns"),
    ("msec", "ms"),
    ("msecs", "ms"),
    ("millisecond", "ms"),
    ("milliseconds", "ms"),
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("min", "m"),
    ("mins", "m"),
    ("minute", "m"),
    ("minutes", "m"),
    ("hr", "h"),
    ("hour", "h"),
    ("hours", "h"),
    ("day", "d"),
    ("days", "d"),
];

/// Links' rates are in bits, whatever the capitals.
const RATE_ALIASES: &[(&str, &str)] = &[
    ("t", "Tbps"),
    ("tb", "Tbps"),
    ("tb/s", "Tbps"),
    ("tbit", "Tbps"),
    ("tbit/s", "Tbps"),
    ("g", "Gbps"),
    ("gb", "Gbps"),
    ("gb/s", "Gbps"),
    ("gbit", "Gbps"),
    ("gbit/s", "Gbps"),
    ("gbits/s", "Gbps"),
    ("gbe", "Gbps"),
    ("ge", "Gbps"),
    ("m", "Mbps"),
    ("mb", "Mbps"),
    ("mb/s", "Mbps"),
    ("mbit", "Mbps"),
    ("mbit/s", "Mbps"),
    ("k", "Kbps"),
    ("kb", "Kbps"),
    ("kb/s", "Kbps"),
    ("kbit", "Kbps"),
    ("kbit/s", "Kbps"),
    ("b", "bps"),
    ("b/s", "bps"),
    ("bit/s", "bps"),
];

const BYTE_ALIASES: &[(&str, &str)] = &[
    ("g", "GB"),
    ("gbyte", "GB"),
    ("gbytes", "GB"),
    ("m", "MB"),
    ("mbyte", "MB"),
    ("mbytes", "MB"),
    ("k", "KB"),
    ("kbyte", "KB"),
    ("kbytes", "KB"),
    ("byte", "B"),
    ("bytes", "B"),
    ("gi", "GiB"),
    ("mi", "MiB"),
    ("ki", "KiB"),
];

const PICOS_PER_NANO: u128 = 1_000;
const NANOS_PER_SEC: u128 = 1_000_000_000;

impl Duration {
    fn from_picos(picos: u128) -> Option<Duration> {
        let nanos = picos / PICOS_PER_NANO;
        let secs = u64::try_from(nanos / NANOS_PER_SEC).ok()?;
        let subsec = u32::try_from(nanos % NANOS_PER_SEC).ok()?;
        let duration = core::time::Duration::new(secs, subsec);
        picos.is_multiple_of(PICOS_PER_NANO).then_some(Duration(duration))
    }

    fn picos(self) -> u128 {
        self.0.as_nanos() * PICOS_PER_NANO
    }
}

macro_rules! text_form {
    ($type:ident, $kind:ident, $printed:ident, $from:expr, $to:expr, $schema:literal, $description:literal) => {
        impl core::str::FromStr for $type {
            type Err = UnitError;
            fn from_str(text: &str) -> Result<$type, UnitError> {
                let value = parse::quantity(text, $kind)?;
                $from(value).ok_or(UnitError::Range { what: $kind.name })
            }
        }
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                parse::display($to(*self), $printed, f)
            }
        }
        #[cfg(feature = "serde")]
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }
        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<$type, D::Error> {
                parse::deserialize(from, $kind)
            }
        }
        #[cfg(feature = "schemars")]
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $schema.into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                json_schema($kind, $description)
            }
        }
    };
}

fn narrow<T>(value: u128, of: fn(u64) -> T) -> Option<T> {
    u64::try_from(value).ok().map(of)
}

text_form!(
    Time,
    TIME,
    DECIMAL_TIME_UNITS,
    |value| narrow(value, Time),
    |Time(picos)| u128::from(picos),
    "Time",
    "A time with its unit."
);
text_form!(
    Duration,
    DURATION,
    DECIMAL_TIME_UNITS,
    Duration::from_picos,
    Duration::picos,
    "Duration",
    "A duration with its unit."
);
text_form!(
    Rate,
    RATE,
    RATE_UNITS,
    |value| narrow(value, Rate),
    |Rate(bps)| u128::from(bps),
    "Rate",
    "A rate with its unit."
);
text_form!(
    Bytes,
    SIZE,
    BYTE_UNITS,
    |value| narrow(value, Bytes),
    |Bytes(bytes)| u128::from(bytes),
    "Size",
    "A size with its unit: KB, MB and GB are decimal, KiB, MiB and GiB binary."
);

#[cfg(feature = "schemars")]
fn json_schema(kind: Kind, description: &str) -> schemars::Schema {
    let names: std::vec::Vec<&str> = kind.units.iter().map(|(name, _)| *name).collect();
    schemars::json_schema!({
        "type": "string",
        "description": description,
        "pattern": std::format!("^ *[0-9]+(\\.[0-9]*)? *({}) *$", names.join("|")),
        "examples": [kind.example.trim_matches('"')],
    })
}
