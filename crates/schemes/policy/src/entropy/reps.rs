//! REPS, recycled entropy packet spraying (Bonato et al., arXiv 2407.21625; EuroSys 2026): packets
//! are sprayed, and the entropy values of packets that arrived without a mark are used again, once
//! each.
//!
//! - The last eight unmarked values are kept in a ring. A packet takes the oldest that has not been
//!   used again, or else a random one.
//! - A sign of failure *freezes* the flow: it takes the values of the ring in turn, used or not,
//!   and draws none, since a random value may lead to the failed path. After 10 ms it thaws: the
//!   ring is emptied, and 16 random values explore the paths anew; no failure freezes it while it
//!   explores.
//!
//! The sizes and times are those of the public uet-htsim. There a flow thaws with an
//! acknowledgement; here with the next packet, too, or a flow whose eight values all lead to the
//! failed path would never leave it. Ultra Ethernet's switches trim packets instead of dropping
//! them, so that a loss is a failure there; without trimming every sign of loss is taken for one:
//! timeouts and fast recoveries.

use heddle_units::Time;

use super::{Feedback, random_16_bits};
use crate::{Nanos, Step};

/// Entropy values kept.
const VALUES: usize = 8;

/// REPS's parameters. Defaults are those of the public uet-htsim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(default, deny_unknown_fields)
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename = "Reps"))]
pub struct RepsConfig {
    /// Time for which a flow draws no random values after a sign of failure; 0s never stops it.
    /// Default: 10ms.
    pub freeze: Time,
    /// Random values after that time. Default: 16.
    pub explore: u8,
}

impl Default for RepsConfig {
    fn default() -> RepsConfig {
        RepsConfig { freeze: Time::millis(10), explore: 16 }
    }
}

/// REPS's state of a flow.
#[derive(Clone, Debug)]
pub struct Reps {
    config: RepsConfig,
    values: [u16; VALUES],
    /// Places with a value that has not been used again, a bit each.
    fresh: u8,
    /// Places with a value.
    filled: u8,
    /// Place of the next value.
    head: u8,
    /// Place of the next value to take while frozen.
    turn: u8,
    /// Random values to draw before any is used again.
    explore: u8,
    /// Time at which the flow thaws; 0 if it is not frozen.
    frozen_until: Nanos,
}

impl Reps {
    /// Bytes of state: 8 values of 16 bits, a bit each, three places of 3 bits, a count of 8 bits,
    /// and a time of 32 bits: 185 bits.
    pub const STATE_BYTES: usize = 24;

    pub(super) fn new(config: RepsConfig) -> Reps {
        Reps {
            config,
            values: [0; VALUES],
            fresh: 0,
            filled: 0,
            head: 0,
            turn: 0,
            explore: 0,
            frozen_until: 0,
        }
    }

    pub(super) fn next(&mut self, step: Step) -> u32 {
        self.thaw(step.now);
        if self.explore > 0 {
            self.explore -= 1;
            return random_16_bits(step.rnd);
        }
        let place = if self.is_frozen() { self.take_in_turn() } else { self.take_oldest_fresh() };
        place.map_or(random_16_bits(step.rnd), |place| self.values[place].into())
    }

    pub(super) fn on_ack(&mut self, step: Step, feedback: &Feedback) {
        self.thaw(step.now);
        if feedback.marked {
            return;
        }
        let head = usize::from(self.head);
        self.values[head] = feedback.entropy as u16;
        self.fresh |= 1 << head;
        self.filled = (self.filled + 1).min(VALUES as u8);
        self.head = ((head + 1) % VALUES) as u8;
    }

    pub(super) fn on_failure(&mut self, step: Step) {
        let freeze = self.config.freeze.as_nanos();
        if !self.is_frozen() && self.explore == 0 && freeze > 0 {
            self.frozen_until = step.now.saturating_add(freeze);
        }
    }

    fn is_frozen(&self) -> bool {
        self.frozen_until > 0
    }

    fn thaw(&mut self, now: Nanos) {
        if self.is_frozen() && now >= self.frozen_until {
            *self = Reps { explore: self.config.explore, ..Reps::new(self.config) };
        }
    }

    fn take_in_turn(&mut self) -> Option<usize> {
        let place = usize::from(self.turn.checked_rem(self.filled)?);
        self.turn = ((place + 1) % VALUES) as u8;
        self.fresh &= !(1 << place);
        Some(place)
    }

    /// The oldest value is that at the head, if the ring is full.
    fn take_oldest_fresh(&mut self) -> Option<usize> {
        let after_head = (0..VALUES).map(|step| (usize::from(self.head) + step) % VALUES);
        let place = after_head.into_iter().find(|place| self.fresh & 1 << place != 0)?;
        self.fresh &= !(1 << place);
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    /// A draw of `value` at a time.
    fn step(now: Nanos, value: u32) -> Step {
        Step { now, rnd: value << 16 }
    }

    fn reps() -> Reps {
        Reps::new(RepsConfig::default())
    }

    fn ack(flow: &mut Reps, now: Nanos, entropy: u32, marked: bool) {
        flow.on_ack(step(now, 0), &Feedback { entropy, marked, una: 0, nxt: 0 });
    }

    /// The next `count` values; random ones are 99.
    fn next(flow: &mut Reps, now: Nanos, count: usize) -> alloc::vec::Vec<u32> {
        (0..count).map(|_| flow.next(step(now, 99))).collect()
    }

    #[test]
    fn values_without_a_mark_are_used_again_once_in_their_order() {
        let mut flow = reps();
        assert_eq!(next(&mut flow, 0, 2), [99, 99], "nothing is known");
        ack(&mut flow, 1, 11, false);
        ack(&mut flow, 1, 12, true);
        ack(&mut flow, 1, 13, false);
        assert_eq!(next(&mut flow, 2, 3), [11, 13, 99]);
        ack(&mut flow, 3, 14, false);
        assert_eq!(next(&mut flow, 4, 2), [14, 99]);
    }

    #[test]
    fn of_more_than_eight_values_the_last_eight_are_kept() {
        let mut flow = reps();
        (1..=11).for_each(|value| ack(&mut flow, 1, value, false));
        assert_eq!(next(&mut flow, 2, 9), [4, 5, 6, 7, 8, 9, 10, 11, 99]);
    }

    #[test]
    fn a_failure_freezes_the_ring_whose_values_are_then_used_in_turn() {
        let mut flow = reps();
        (1..=3).for_each(|value| ack(&mut flow, 1, value, false));
        next(&mut flow, 2, 3);
        flow.on_failure(step(MS, 0));
        assert_eq!(next(&mut flow, MS, 7), [1, 2, 3, 1, 2, 3, 1], "used or not, none at random");
        ack(&mut flow, 2 * MS, 4, false);
        assert_eq!(next(&mut flow, 2 * MS, 4), [2, 3, 4, 1], "good values still come in");
        flow.on_failure(step(5 * MS, 0));
        assert_eq!(next(&mut flow, 11 * MS - 1, 1), [2], "a second failure extends nothing");
    }

    #[test]
    fn after_ten_milliseconds_sixteen_random_values_explore_the_paths_anew() {
        let mut flow = reps();
        ack(&mut flow, 1, 7, false);
        flow.on_failure(step(MS, 0));
        assert_eq!(next(&mut flow, 11 * MS - 1, 1), [7]);
        assert_eq!(next(&mut flow, 11 * MS, 8), [99; 8], "thawed by the next packet");
        ack(&mut flow, 12 * MS, 21, false);
        flow.on_failure(step(12 * MS, 0));
        assert_eq!(next(&mut flow, 12 * MS, 8), [99; 8], "nothing freezes it while it explores");
        assert_eq!(next(&mut flow, 12 * MS, 2), [21, 99]);
    }

    #[test]
    fn a_flow_without_values_draws_though_frozen_and_a_time_of_zero_never_freezes() {
        let mut flow = reps();
        flow.on_failure(step(MS, 0));
        assert_eq!(next(&mut flow, MS, 2), [99, 99]);
        let mut never = Reps::new(RepsConfig { freeze: Time::ZERO, ..RepsConfig::default() });
        ack(&mut never, 1, 7, false);
        never.on_failure(step(MS, 0));
        assert_eq!(next(&mut never, MS, 2), [7, 99]);
    }

    #[test]
    fn the_state_is_within_the_papers_25_bytes() {
        const { assert!(Reps::STATE_BYTES <= 25) };
        assert_eq!(Reps::STATE_BYTES, (8 * 16 + 8 + 3 * 3 + 8 + 32usize).div_ceil(8));
    }
}
