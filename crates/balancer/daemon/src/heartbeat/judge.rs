//! The judgement of one balancer by its answers. Knows no clock but its arguments.

use std::time::Duration;

use heddle_balancer_api::Liveness;

use super::{FALL, LATE, RISE, SILENCE};

/// The last answer, as the program has noted it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// Its arrival; zero: there was none.
    pub at: Duration,
    /// The number of the heartbeat that it answers.
    pub sequence: u32,
}

/// A heartbeat that was sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    sequence: u32,
    at: Duration,
    punctual: bool,
}

/// Draws the conclusions. Each round is a call of [`Judge::look`], then one of [`Judge::sent`].
///
/// An answer that is missing proves something only if the heartbeat was sent in time and looked for
/// in time: a process that does not run, on a machine whose processors are busy or that was paused,
/// must not take others for dead. Nor must a balancer whose own link is down. An answer always
/// counts.
#[derive(Clone, Debug, Default)]
pub struct Judge {
    liveness: Liveness,
    sent: Option<Sent>,
    /// The last answer that was taken in.
    heard: Heard,
    /// Heartbeats in a row that were missed, and when the first of them was sent.
    missed: (u32, Duration),
    /// Rounds in a row with an answer.
    answered: u32,
    round_trip: Option<Duration>,
}

impl Judge {
    /// Knows nothing yet; `heard` is what the program has noted before, which tells nothing.
    pub fn new(heard: Heard) -> Judge {
        Judge { heard, ..Judge::default() }
    }

    /// The conclusion so far.
    pub fn liveness(&self) -> Liveness {
        self.liveness
    }

    /// The time between the last answered heartbeat and its answer.
    pub fn round_trip(&self) -> Option<Duration> {
        self.round_trip
    }

    /// True if this answer was not taken in yet.
    pub fn is_news(&self, heard: Heard) -> bool {
        heard.at > self.heard.at
    }

    /// Takes in what the program has noted at `now`, in a round that was due at `due`. Where a
    /// heartbeat in time has no answer, `proves` says whether that is the other one's fault.
    /// Returns false if a heartbeat was missed.
    pub fn look(
        &mut self,
        due: Duration,
        now: Duration,
        heard: Heard,
        proves: impl FnOnce() -> bool,
    ) -> bool {
        if self.is_news(heard) {
            self.heard = heard;
            self.answered(heard);
            return true;
        }
        let in_time = now.saturating_sub(due) <= LATE;
        match self.sent.take().filter(|sent| sent.punctual && in_time && proves()) {
            Some(sent) => {
                self.missed(&sent, now);
                false
            }
            None => true,
        }
    }

    /// Notes a heartbeat that was due at `due` and handed to the kernel at `at`.
    pub fn sent(&mut self, sequence: u32, due: Duration, at: Duration) {
        self.sent = Some(Sent { sequence, at, punctual: at.saturating_sub(due) <= LATE });
    }

    fn answered(&mut self, heard: Heard) {
        if let Some(sent) = self.sent.take().filter(|sent| sent.sequence == heard.sequence) {
            self.round_trip = Some(heard.at.saturating_sub(sent.at));
        }
        self.missed.0 = 0;
        self.answered += 1;
        if self.liveness == Liveness::Unknown || self.answered >= RISE {
            self.liveness = Liveness::Alive;
        }
    }

    fn missed(&mut self, sent: &Sent, now: Duration) {
        self.answered = 0;
        if self.missed.0 == 0 {
            self.missed.1 = sent.at;
        }
        self.missed.0 += 1;
        let silence = now.saturating_sub(self.missed.1.max(self.heard.at));
        if self.missed.0 >= FALL && silence >= SILENCE {
            self.liveness = Liveness::Dead;
            self.round_trip = None;
        }
    }
}

#[cfg(test)]
mod tests;
