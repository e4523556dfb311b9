//! Quantities with units, as integers: [`Time`] in picoseconds, [`Rate`] in bits per second, [`Bytes`].
//!
//! A picosecond is the largest unit in which a byte takes a whole number of ticks at every common rate
//! (80 ps at 100 Gbps, 20 ps at 400 Gbps), so that simulated links never round.
//! Everything is `no_std`; text forms ("40Gbps", "100us", "1.5MB") are read and written exactly.
#![no_std]

#[cfg(any(feature = "serde", test))]
extern crate std;

mod parse;

pub use parse::UnitError;

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub};

/// An instant or a span, in picoseconds. Wraps after 213 days of simulated time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// Bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

/// A number of bytes. Multiples are decimal (1 KB = 1000 bytes) unless written KiB, MiB, GiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl Time {
    /// The start of a simulation.
    pub const ZERO: Time = Time(0);
    /// Later than every event: "never".
    pub const NEVER: Time = Time(u64::MAX);

    /// `n` nanoseconds.
    pub const fn nanos(n: u64) -> Time {
        Time(n * 1_000)
    }
    /// `n` microseconds.
    pub const fn micros(n: u64) -> Time {
        Time(n * 1_000_000)
    }
    /// `n` milliseconds.
    pub const fn millis(n: u64) -> Time {
        Time(n * 1_000_000_000)
    }
    /// `n` seconds.
    pub const fn secs(n: u64) -> Time {
        Time(n * 1_000_000_000_000)
    }
    /// Whole nanoseconds, rounded down.
    pub const fn as_nanos(self) -> u64 {
        self.0 / 1_000
    }
    /// Seconds, for output only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }
    /// `self - other`, or zero if `other` is later.
    pub const fn saturating_sub(self, other: Time) -> Time {
        Time(self.0.saturating_sub(other.0))
    }
    /// `self + other`, stopping at [`Time::NEVER`].
    pub const fn saturating_add(self, other: Time) -> Time {
        Time(self.0.saturating_add(other.0))
    }
}

impl Rate {
    /// `n` bits per second, in millions.
    pub const fn mbps(n: u64) -> Rate {
        Rate(n * 1_000_000)
    }
    /// `n` bits per second, in thousand millions.
    pub const fn gbps(n: u64) -> Rate {
        Rate(n * 1_000_000_000)
    }
    /// The time `bytes` take on a link of this rate, rounded up to a picosecond.
    ///
    /// A rate of zero takes for ever ([`Time::NEVER`]).
    pub fn time_for(self, bytes: Bytes) -> Time {
        if self.0 == 0 {
            return Time::NEVER;
        }
        let ps = (u128::from(bytes.0) * 8 * 1_000_000_000_000).div_ceil(u128::from(self.0));
        Time(u64::try_from(ps).unwrap_or(u64::MAX))
    }
    /// Bytes sent in `span` at this rate, rounded down.
    pub fn bytes_in(self, span: Time) -> Bytes {
        let bytes = u128::from(self.0) * u128::from(span.0) / 8_000_000_000_000;
        Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

impl Bytes {
    /// `n` thousand bytes.
    pub const fn kb(n: u64) -> Bytes {
        Bytes(n * 1_000)
    }
    /// `n` million bytes.
    pub const fn mb(n: u64) -> Bytes {
        Bytes(n * 1_000_000)
    }
}

impl Add for Time {
    type Output = Time;
    fn add(self, other: Time) -> Time {
        Time(self.0 + other.0)
    }
}
impl AddAssign for Time {
    fn add_assign(&mut self, other: Time) {
        self.0 += other.0;
    }
}
impl Sub for Time {
    type Output = Time;
    fn sub(self, other: Time) -> Time {
        Time(self.0 - other.0)
    }
}
impl Mul<u64> for Time {
    type Output = Time;
    fn mul(self, n: u64) -> Time {
        Time(self.0 * n)
    }
}
impl Div<u64> for Time {
    type Output = Time;
    fn div(self, n: u64) -> Time {
        Time(self.0 / n)
    }
}

const TIME_UNITS: &[(&str, u64)] =
    &[("s", 1_000_000_000_000), ("ms", 1_000_000_000), ("us", 1_000_000), ("ns", 1_000), ("ps", 1)];
const RATE_UNITS: &[(&str, u64)] = &[
    ("Tbps", 1_000_000_000_000),
    ("Gbps", 1_000_000_000),
    ("Mbps", 1_000_000),
    ("Kbps", 1_000),
    ("bps", 1),
];
const BYTE_UNITS: &[(&str, u64)] = &[
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("B", 1),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
];

macro_rules! text_form {
    ($type:ident, $units:ident, $what:literal, $example:literal) => {
        impl core::str::FromStr for $type {
            type Err = UnitError;
            fn from_str(text: &str) -> Result<$type, UnitError> {
                parse::quantity(text, $units, $what, $example).map($type)
            }
        }
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                parse::display(self.0, $units, f)
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
                parse::from_text(from, $what, $example)
            }
        }
    };
}

text_form!(Time, TIME_UNITS, "time", "\"100us\"");
text_form!(Rate, RATE_UNITS, "rate", "\"40Gbps\"");
text_form!(Bytes, BYTE_UNITS, "size", "\"1.5MB\"");
