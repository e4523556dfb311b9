//! The longest time without progress.

use std::time::{Duration, Instant};

/// Time without progress while progress was due.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stall {
    since: Option<Instant>,
    longest: Duration,
}

impl Stall {
    /// From now on progress is due, unless it was already.
    pub(super) fn begin(&mut self, now: Instant) {
        self.since.get_or_insert(now);
    }

    /// There was progress, and more is due.
    pub(super) fn progress(&mut self, now: Instant) {
        self.end(now);
        self.since = Some(now);
    }

    /// There was progress, and none is due.
    pub(super) fn end(&mut self, now: Instant) {
        self.longest = self.longest(now);
        self.since = None;
    }

    /// The longest time so far, one that goes on included.
    pub(super) fn longest(&self, now: Instant) -> Duration {
        self.longest.max(self.current(now))
    }

    /// The time for which it goes on already.
    pub(super) fn current(&self, now: Instant) -> Duration {
        self.since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }

    /// Forgets the past; a stall that goes on counts from now.
    pub(super) fn forget(&mut self, now: Instant) {
        self.longest = Duration::ZERO;
        self.since = self.since.map(|_| now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_stall_is_kept_and_one_that_goes_on_counts() {
        let zero = Instant::now();
        let at = |ms| zero + Duration::from_millis(ms);
        let mut stall = Stall::default();
        assert_eq!(stall.longest(at(9)), Duration::ZERO, "nothing is due");
        stall.begin(at(10));
        stall.begin(at(20));
        assert_eq!(stall.longest(at(40)), Duration::from_millis(30));
        stall.progress(at(50));
        stall.end(at(60));
        assert_eq!(stall.longest(at(99)), Duration::from_millis(40));
        stall.begin(at(100));
        stall.forget(at(110));
        assert_eq!(stall.longest(at(115)), Duration::from_millis(5));
    }
}
