//! Waits for a condition, with a deadline that a busy machine moves.

use std::fmt::Debug;
use std::thread::{available_parallelism, sleep};
use std::time::{Duration, Instant};
use std::{fs, num};

use crate::LabError;

/// Time between two calls of a probe.
const INTERVAL: Duration = Duration::from_millis(20);

/// The most time that a second of a limit stands for.
const MOST: u32 = 16;

/// Calls `probe` every 20 ms until it returns `Ok`, and returns that value. `limit` is the time on
/// an idle machine: it grows with the work that others do there, as [`Deadline`] says.
///
/// # Errors
/// [`LabError::Timeout`] after `limit`, with the last error of `probe`: who was waited for, for
/// what, and the state that was observed instead.
pub fn eventually<T>(
    limit: Duration,
    mut probe: impl FnMut() -> Result<T, String>,
) -> Result<T, LabError> {
    let mut deadline = Deadline::new(limit);
    loop {
        match probe() {
            Ok(value) => return Ok(value),
            Err(observed) if deadline.has_passed() => return Err(deadline.timeout(observed)),
            Err(_) => sleep(INTERVAL),
        }
    }
}

/// A limit on a wait for programs, which get a share of the processors: with twice as many running
/// as there are processors a second of the limit stands for two, with many more for 16.
#[derive(Clone, Debug)]
pub struct Deadline {
    limit: Duration,
    begun: Instant,
    last: Instant,
    /// The part of the limit that is over.
    spent: Duration,
}

impl Deadline {
    /// A limit that begins now.
    #[must_use]
    pub fn new(limit: Duration) -> Deadline {
        let now = Instant::now();
        Deadline { limit, begun: now, last: now, spent: Duration::ZERO }
    }

    /// True if the limit is over. It is to be asked again and again: the machine's load at a call
    /// counts for the time since the one before.
    pub fn has_passed(&mut self) -> bool {
        let now = Instant::now();
        self.spent += (now - self.last) / contenders();
        self.last = now;
        self.spent >= self.limit
    }

    /// The error of a wait that was in vain.
    #[must_use]
    pub fn timeout(&self, observed: String) -> LabError {
        LabError::Timeout { limit: self.limit, took: self.begun.elapsed(), observed }
    }
}

/// Threads that share a processor now, this one included: 1 where the machine is idle, or does not
/// say.
fn contenders() -> u32 {
    let load = fs::read_to_string("/proc/loadavg");
    let running = load.ok().and_then(|load| running(&load)).unwrap_or(1);
    let processors = available_parallelism().map_or(1, num::NonZero::get);
    running.div_ceil(u32::try_from(processors).unwrap_or(u32::MAX)).clamp(1, MOST)
}

/// The threads that run or could run (proc_loadavg(5)).
fn running(load: &str) -> Option<u32> {
    load.split_whitespace().nth(3)?.split_once('/')?.0.parse().ok()
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
        let text = error.to_string();
        assert!(text.starts_with("not within 0ns ("), "{text}");
        assert!(text.ends_with(" on this machine): 1 instead of 2"), "{text}");
    }

    #[test]
    fn a_limit_counts_the_share_of_a_processor() {
        assert_eq!(running("3.85 3.86 2.58 18/115 10234\n"), Some(18));
        assert_eq!(running("3.85"), None);
        assert!((1..=MOST).contains(&contenders()));
        let mut deadline = Deadline::new(Duration::from_secs(3600));
        assert!(!deadline.has_passed());
        deadline.spent = Duration::from_secs(3600);
        assert!(deadline.has_passed());
    }
}
