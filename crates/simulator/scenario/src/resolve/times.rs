//! Checks that every time shares.

use heddle_config::Problem;
use heddle_units::Time;

/// Times above this are mistakes. Sums and small multiples of times below it cannot overflow.
const LONGEST: Time = Time::secs(86_400);

/// Refuses a time that cannot be meant, for the value of `key`. 0 is allowed.
pub(super) fn bounded(key: &str, time: Time) -> Result<Time, Problem> {
    if time > LONGEST {
        return Err(Problem::at(key, format!("{time} is too long")).help("at most 86400s"));
    }
    Ok(time)
}

/// As [`bounded`], and refuses times below a microsecond: a run would handle such events only.
pub(super) fn at_least_1us(key: &str, time: Time) -> Result<Time, Problem> {
    if positive(key, time)? < Time::micros(1) {
        return Err(Problem::at(key, format!("{time} is too short")).help("at least 1us"));
    }
    bounded(key, time)
}

/// As [`bounded`], and refuses 0.
pub(super) fn positive(key: &str, time: Time) -> Result<Time, Problem> {
    if time == Time::ZERO {
        return Err(Problem::at(key, "must be longer than 0s"));
    }
    bounded(key, time)
}
