//! Durations in JSON: seconds as a number, such as `0.25`.

use std::time::Duration;

use serde::{Deserialize as _, Deserializer, Serializer, de};

/// Seconds.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
pub fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(time.as_secs_f64())
}

/// Seconds that are not negative.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    let seconds = f64::deserialize(from)?;
    Duration::try_from_secs_f64(seconds).map_err(de::Error::custom)
}

/// The same of a time that may be missing: null.
pub mod option {
    use super::{Deserializer, Duration, Serializer, de};
    use serde::Deserialize as _;

    /// Seconds, or null.
    #[allow(clippy::ref_option, reason = "serde's signature")]
    pub fn serialize<S: Serializer>(time: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
        match time {
            Some(time) => to.serialize_some(&time.as_secs_f64()),
            None => to.serialize_none(),
        }
    }

    /// Seconds that are not negative, or null.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        let seconds = Option::<f64>::deserialize(from)?;
        seconds.map(Duration::try_from_secs_f64).transpose().map_err(de::Error::custom)
    }
}
