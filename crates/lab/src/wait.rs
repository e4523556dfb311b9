//! Waits for a condition, with a deadline.

use std::fmt::Debug;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::LabError;

/// Time between two calls of a probe.
const INTERVAL: Duration = Duration::from_millis(20);

/// Calls `probe` every 20 ms until it returns `Ok`, and returns that value.
///
/// # Errors
/// [`LabError::Timeout`] after `limit`, with the last error of `probe`: the state that was observed instead.
pub fn eventually<T>(
    limit: Duration,
    mut probe: impl FnMut() -> Result<T, String>,
) -> Result<T, LabError> {
    let deadline = Instant::now() + limit;
    loop {
        match probe() {
            Ok(value) => return Ok(value),
            Err(observed) if Instant::now() >= deadline => {
                return Err(LabError::Timeout { limit, observed });
            }
            Err(_) => sleep(INTERVAL),
        }
    }
}

/// A probe for [`eventually`]: an error that shows both values unless they are equal.
///
/// # Errors
/// If `observed` differs from `expected`.
pub fn equal<T: PartialEq + Debug>(observed: &T, expected: &T) -> Result<(), String> {
    let difference = || Err(format!("{observed:?} instead of {expected:?}"));
    if observed == expected { Ok(()) } else { difference() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_is_called_until_it_succeeds() {
        let mut calls = 0;
        let value = eventually(Duration::from_secs(60), || {
            calls += 1;
            equal(&calls, &3).map(|()| "done")
        });
        assert_eq!((value.unwrap(), calls), ("done", 3));
    }

    #[test]
    fn after_the_deadline_the_error_shows_the_last_observation() {
        let error = eventually(Duration::ZERO, || equal(&1, &2)).unwrap_err();
        assert_eq!(error.to_string(), "not within 0ns: 1 instead of 2");
    }
}
