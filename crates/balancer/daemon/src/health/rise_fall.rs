//! The state that follows from results.

use std::num::NonZeroU32;
use std::time::Duration;

use heddle_balancer_api::State;

/// Counts results in a row. Times are since any moment that the caller likes, always the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RiseFall {
    rise: NonZeroU32,
    fall: NonZeroU32,
    state: State,
    since: Duration,
    against: u32,
}

impl RiseFall {
    /// Nothing is known at `now`.
    pub fn new(rise: NonZeroU32, fall: NonZeroU32, now: Duration) -> RiseFall {
        RiseFall { rise, fall, state: State::Unknown, since: now, against: 0 }
    }

    /// The state now.
    pub fn state(&self) -> State {
        self.state
    }

    /// The time of the last change.
    pub fn since(&self) -> Duration {
        self.since
    }

    /// Results in a row that contradict the state.
    pub fn against(&self) -> u32 {
        self.against
    }

    /// Takes one result, `Up` or `Down`; `Unknown` is none. Returns the new state if it has
    /// changed.
    pub fn observe(&mut self, now: Duration, answer: State) -> Option<State> {
        if answer == self.state || answer == State::Unknown {
            self.against = 0;
            return None;
        }
        self.against += 1;
        let needed = match self.state {
            State::Unknown => 1,
            State::Up => self.fall.get(),
            State::Down => self.rise.get(),
        };
        if self.against < needed {
            return None;
        }
        (self.state, self.since, self.against) = (answer, now, 0);
        Some(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use State::{Down, Unknown, Up};
    use proptest::prelude::*;

    fn counts(rise: u32, fall: u32) -> RiseFall {
        let [rise, fall] = [rise, fall].map(|n| NonZeroU32::new(n).unwrap());
        RiseFall::new(rise, fall, Duration::ZERO)
    }

    /// One answer a second, from second 1.
    fn trace(of: &mut RiseFall, answers: &[State]) -> Vec<Option<State>> {
        let seconds = (1..).map(Duration::from_secs);
        seconds.zip(answers).map(|(now, answer)| of.observe(now, *answer)).collect()
    }

    #[test]
    fn the_first_answer_decides() {
        assert_eq!(trace(&mut counts(5, 5), &[Up]), [Some(Up)]);
        assert_eq!(trace(&mut counts(5, 5), &[Down]), [Some(Down)]);
    }

    #[test]
    fn rise_good_answers_in_a_row_bring_it_up_again() {
        let mut health = counts(2, 3);
        let changes = trace(&mut health, &[Down, Up, Down, Up, Up]);
        assert_eq!(changes, [Some(Down), None, None, None, Some(Up)]);
        assert_eq!((health.state(), health.since()), (Up, Duration::from_secs(5)));
    }

    #[test]
    fn fall_bad_answers_in_a_row_bring_it_down() {
        let mut health = counts(2, 3);
        let changes = trace(&mut health, &[Up, Down, Down, Up, Down, Down, Down, Down]);
        assert_eq!(changes, [Some(Up), None, None, None, None, None, Some(Down), None]);
        assert_eq!((health.state(), health.since()), (Down, Duration::from_secs(7)));
    }

    #[test]
    fn answers_against_are_counted_until_they_are_enough() {
        let mut health = counts(1, 4);
        trace(&mut health, &[Up, Down, Down]);
        assert_eq!((health.state(), health.against()), (Up, 2));
    }

    proptest! {
        /// A state changes exactly when the last answers, as many as it takes, all contradict it.
        #[test]
        fn changes_are_runs(rise in 1..5_u32, fall in 1..5_u32, ups in prop::collection::vec(any::<bool>(), 1..60)) {
            let mut health = counts(rise, fall);
            let answers: Vec<State> = ups.iter().map(|up| if *up { Up } else { Down }).collect();
            let mut held = Unknown;
            let mut last_change = 0;
            for (n, answer) in answers.iter().enumerate() {
                let needed = match held { Unknown => 1, Up => fall, Down => rise } as usize;
                let run = answers[last_change..=n].iter().rev().take_while(|a| **a != held).count();
                let change = health.observe(Duration::from_secs(n as u64), *answer);
                prop_assert_eq!(change.is_some(), run >= needed);
                if change.is_some() {
                    (held, last_change) = (*answer, n + 1);
                }
                prop_assert_eq!(health.state(), held);
            }
        }
    }
}
