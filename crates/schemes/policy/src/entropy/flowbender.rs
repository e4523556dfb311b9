//! FlowBender (Kabbani, Vamanan, Hasan and Duchene, CoNEXT 2014): a flow keeps its path while it
//! meets little congestion, and takes another one when too many of its packets are marked, or when
//! a timeout suggests that the path has failed.
//!
//! Section 3.2: with F the share of marked acknowledgements in a round trip, N rounds in a row with
//! F above T change V, a small number that switches hash; T = 5 %, N = 1, and eight values of V.
//! The paper leaves open how the next V is chosen: here it is one of the other seven, at random.

use super::Feedback;
use super::rounds::{Round, Share};
use crate::{Step, pick};

/// Values of V: 3 bits.
const VALUES: u32 = 8;

/// FlowBender's parameters. Defaults are the paper's (section 3.2).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(default, deny_unknown_fields)
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename = "FlowBender"))]
pub struct FlowBenderConfig {
    /// T: a round trip with a larger share of marked acknowledgements is congested. Default: 0.05.
    pub threshold: f64,
    /// N: congested round trips in a row after which a flow changes its path. Default: 1.
    pub rounds: u8,
}

impl Default for FlowBenderConfig {
    fn default() -> FlowBenderConfig {
        FlowBenderConfig { threshold: 0.05, rounds: 1 }
    }
}

/// FlowBender's state of a flow.
#[derive(Clone, Debug)]
pub struct FlowBender {
    threshold: Share,
    /// Congested rounds that change the path.
    rounds: u8,
    /// V.
    value: u32,
    congested_rounds: u8,
    round: Round,
}

impl FlowBender {
    /// Bytes of state: the round, and a byte each for V and the congested rounds.
    pub const STATE_BYTES: usize = Round::STATE_BYTES + 2;

    pub(super) fn new(config: FlowBenderConfig) -> FlowBender {
        let FlowBenderConfig { threshold, rounds } = config;
        let (threshold, round) = (Share::from_ratio(threshold), Round::default());
        FlowBender { threshold, rounds, value: 0, congested_rounds: 0, round }
    }

    #[inline]
    pub(super) fn value(&self) -> u32 {
        self.value
    }

    pub(super) fn on_ack(&mut self, step: Step, feedback: &Feedback) {
        let Some(share) = self.round.count(feedback) else { return };
        if share <= self.threshold {
            self.congested_rounds = 0;
            return;
        }
        self.congested_rounds += 1;
        if self.congested_rounds >= self.rounds {
            self.change(step);
        }
    }

    pub(super) fn on_timeout(&mut self, step: Step) {
        self.change(step);
    }

    fn change(&mut self, step: Step) {
        self.congested_rounds = 0;
        self.value = (self.value + 1 + pick(step.rnd, VALUES as usize - 1) as u32) % VALUES;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow with 40 packets in flight, of which the acknowledgements of `marked` in each round
    /// are marked. `rnd` gives the draws.
    struct Trace {
        flow: FlowBender,
        una: u64,
        rnd: u32,
    }

    impl Trace {
        fn new(rounds: u8) -> Trace {
            let config = FlowBenderConfig { rounds, ..FlowBenderConfig::default() };
            Trace { flow: FlowBender::new(config), una: 0, rnd: 0 }
        }

        /// V after a round: what is in flight at its end is the next one.
        fn round(&mut self, marked: u64) -> u32 {
            let end = self.una + 40;
            for n in 1..=40 {
                self.una += 1;
                let nxt = if self.una == end { end + 40 } else { end };
                let feedback = Feedback { entropy: 0, marked: n <= marked, una: self.una, nxt };
                self.flow.on_ack(Step { now: 0, rnd: self.rnd }, &feedback);
            }
            self.flow.value()
        }
    }

    #[test]
    fn more_than_a_twentieth_of_marks_in_a_round_changes_the_path() {
        let mut trace = Trace::new(1);
        assert_eq!([trace.round(0), trace.round(2)], [0, 0], "2 of 40 are 5 %");
        assert_eq!(trace.round(3), 1, "the next value, for the lowest draw");
        assert_eq!(trace.round(0), 1);
        trace.rnd = u32::MAX;
        assert_eq!(trace.round(40), 0, "and the one before, for the highest");
    }

    #[test]
    fn with_n_of_three_congestion_must_last_three_rounds() {
        let mut trace = Trace::new(3);
        assert_eq!([9, 9, 0, 9, 9].map(|marked| trace.round(marked)), [0; 5], "not in a row");
        assert_eq!(trace.round(9), 1);
        assert_eq!([9, 9].map(|marked| trace.round(marked)), [1; 2], "counted anew");
    }

    #[test]
    fn a_timeout_changes_the_path_at_once() {
        let mut trace = Trace::new(1);
        trace.flow.on_timeout(Step { now: 0, rnd: 0 });
        assert_eq!(trace.flow.value(), 1);
    }

    #[test]
    fn a_change_takes_each_of_the_other_values_as_often() {
        let mut random = crate::testing::Random(1);
        let mut flow = FlowBender::new(FlowBenderConfig::default());
        let mut steps = [0u32; 8];
        for now in 0..14_000 {
            let before = flow.value();
            flow.on_timeout(random.step(now));
            steps[((flow.value() + 8 - before) % 8) as usize] += 1;
        }
        assert_eq!(steps[0], 0);
        assert!(crate::testing::chi_square(&steps[1..]) < 22.46, "p < 0.001: {steps:?}");
    }
}
