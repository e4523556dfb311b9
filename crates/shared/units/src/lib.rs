//! Quantities with units, as integers: [`Time`] in picoseconds, [`Rate`] in bits per second,
//! [`Bytes`], and the text form of [`core::time::Duration`], [`Duration`].
//!
//! A picosecond is the largest unit in which a byte takes a whole number of ticks at every common
//! rate (80 ps at 100 Gbps, 20 ps at 400 Gbps), so that simulated links never round. Everything is
//! `no_std`; text forms ("40Gbps", "100us", "1.5MB") are read and written exactly. The features
//! `serde` and `schemars` read and write them in files, and describe them in JSON Schemas.
//!
//! ```
//! use heddle_units::{Bytes, Duration, Rate, Time};
//!
//! let link: Rate = "40Gbps".parse()?;
//! assert_eq!(link.time_for(Bytes(1500)), Time::nanos(300));
//! assert_eq!(link.bytes_in("1ms".parse()?), Bytes::mb(5));
//! assert_eq!(Time::micros(1500).to_string(), "1.5ms");
//! assert_eq!("64KiB".parse(), Ok(Bytes(65_536)));
//! assert_eq!("1.5m".parse::<Duration>()?.0.as_secs(), 90);
//!
//! let error = "100".parse::<Rate>().unwrap_err();
//! assert_eq!(error.to_string(), "a rate needs a unit (Tbps, Gbps, Mbps, Kbps, bps), as in \"40Gbps\"");
//! # Ok::<(), heddle_units::UnitError>(())
//! ```
#![no_std]

#[cfg(any(feature = "schemars", feature = "serde", test))]
extern crate std;

mod parse;
mod text;

pub use parse::{Meant, UnitError, Units};

use core::ops::{Add, AddAssign, Div, Mul, Sub};

/// An instant or a duration, in picoseconds. Wraps after 213 days of simulated time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// A duration of the real world, in whole nanoseconds: [`core::time::Duration`] with the text form
/// of [`Time`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(pub core::time::Duration);

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

impl Duration {
    /// `n` milliseconds.
    pub const fn from_millis(n: u64) -> Duration {
        Duration(core::time::Duration::from_millis(n))
    }
    /// `n` seconds.
    pub const fn from_secs(n: u64) -> Duration {
        Duration(core::time::Duration::from_secs(n))
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
    /// Transmission time of `bytes` on a link of this rate, rounded up to a picosecond.
    ///
    /// A rate of zero takes for ever ([`Time::NEVER`]).
    pub fn time_for(self, bytes: Bytes) -> Time {
        if self.0 == 0 {
            return Time::NEVER;
        }
        let ps = (u128::from(bytes.0) * 8 * 1_000_000_000_000).div_ceil(u128::from(self.0));
        Time(u64::try_from(ps).unwrap_or(u64::MAX))
    }
    /// Bytes sent in `duration` at this rate, rounded down.
    pub fn bytes_in(self, duration: Time) -> Bytes {
        let bytes = u128::from(self.0) * u128::from(duration.0) / 8_000_000_000_000;
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
