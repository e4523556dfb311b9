//! PLB, protective load balancing (Qureshi et al., SIGCOMM 2022), as Linux has it since 6.2: a flow
//! leaves its path after it has been congested for several round trips in a row, sooner if it is
//! idle then, and at each retransmission timeout.
//!
//! - A round is congested if at least half of its acknowledgements are marked
//!   (`tcp_plb_cong_thresh`, K in the paper).
//! - After 12 of them in a row the flow takes another flow label (`tcp_plb_rehash_rounds`, N);
//!   after 3 if nothing is in flight, where a new path cannot reorder packets
//!   (`tcp_plb_idle_rehash_rounds`, M).
//! - A timeout takes another label at once, and suspends changes for congestion for once to twice
//!   `tcp_plb_suspend_rto_sec`, so that the flow does not return to the path that failed.
//!
//! The numbers are Linux's defaults. Linux counts delivered packets; here each acknowledgement
//! counts once.

use heddle_units::Time;

use super::Feedback;
use super::rounds::{Round, Share};
use crate::{Nanos, Step, mix};

/// Bits of an IPv6 flow label.
const LABEL_BITS: u32 = 20;

/// Sets the draw of the suspension apart from that of the label.
const SUSPEND_SALT: u32 = 0x5bd1_e995;

/// PLB's parameters. Defaults are those of Linux's `net.ipv4.tcp_plb_*`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(default, deny_unknown_fields)
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename = "Plb"))]
pub struct PlbConfig {
    /// A round trip with at least this share of marked acknowledgements is congested. Default: 0.5
    /// (`tcp_plb_cong_thresh`, 128 of 256).
    pub threshold: f64,
    /// Congested round trips in a row after which a flow changes its path: 1 to 31. Default: 12
    /// (`tcp_plb_rehash_rounds`).
    pub rehash_rounds: u8,
    /// The same while nothing is in flight, up to 31; 0 makes no exception. Default: 3
    /// (`tcp_plb_idle_rehash_rounds`).
    pub idle_rehash_rounds: u8,
    /// Time after a retransmission timeout, once to twice, without changes for congestion. Default:
    /// 60s (`tcp_plb_suspend_rto_sec`).
    pub suspend: Time,
}

impl Default for PlbConfig {
    fn default() -> PlbConfig {
        PlbConfig {
            threshold: 0.5,
            rehash_rounds: 12,
            idle_rehash_rounds: 3,
            suspend: Time::secs(60),
        }
    }
}

/// PLB's state of a flow.
#[derive(Clone, Debug)]
pub struct Plb {
    config: PlbConfig,
    threshold: Share,
    label: u32,
    congested_rounds: u8,
    /// End of the suspension; 0 if there is none.
    suspended_until: Nanos,
    round: Round,
}

impl Plb {
    /// Bytes of state: the round, the label's hash (32 bits), the congested rounds, and the end of
    /// the suspension (32 bits of jiffies).
    pub const STATE_BYTES: usize = Round::STATE_BYTES + 4 + 1 + 4;

    pub(super) fn new(config: PlbConfig) -> Plb {
        Plb {
            config,
            threshold: Share::from_ratio(config.threshold),
            label: 0,
            congested_rounds: 0,
            suspended_until: 0,
            round: Round::default(),
        }
    }

    #[inline]
    pub(super) fn label(&self) -> u32 {
        self.label
    }

    pub(super) fn on_ack(&mut self, step: Step, feedback: &Feedback) {
        let Some(share) = self.round.count(feedback) else { return };
        if share < self.threshold {
            self.congested_rounds = 0;
            return;
        }
        self.congested_rounds = self.congested_rounds.saturating_add(1);
        let idle_rounds = self.config.idle_rehash_rounds;
        let is_idle = feedback.una == feedback.nxt && idle_rounds > 0;
        let enough = if is_idle {
            idle_rounds.min(self.config.rehash_rounds)
        } else {
            self.config.rehash_rounds
        };
        if self.congested_rounds >= enough && step.now >= self.suspended_until {
            self.change(step);
        }
    }

    pub(super) fn on_timeout(&mut self, step: Step) {
        self.change(step);
        let draw = u128::from(mix(step.rnd, SUSPEND_SALT));
        let suspend = self.config.suspend.as_nanos();
        let more = (draw * u128::from(suspend)) >> 32;
        self.suspended_until = step.now.saturating_add(suspend).saturating_add(more as Nanos);
    }

    fn change(&mut self, step: Step) {
        self.label = step.rnd >> (32 - LABEL_BITS);
        self.congested_rounds = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four packets a round; one of each draw is the label in hexadecimal digits.
    struct Trace {
        plb: Plb,
        now: Nanos,
        una: u64,
    }

    impl Trace {
        fn new() -> Trace {
            Trace { plb: Plb::new(PlbConfig::default()), now: 0, una: 0 }
        }

        /// The label after a round with `marked` of four marks and a draw of `rnd`, with
        /// `in_flight` packets left at its end.
        fn round(&mut self, marked: u64, in_flight: u64, rnd: u32) -> u32 {
            let end = self.una + 4;
            for n in 1..=4 {
                self.una += 1;
                let nxt = if self.una == end { end + in_flight } else { end };
                let feedback = Feedback { entropy: 0, marked: n <= marked, una: self.una, nxt };
                self.plb.on_ack(Step { now: self.now, rnd }, &feedback);
            }
            self.una += in_flight.saturating_sub(4);
            self.plb.label()
        }
    }

    #[test]
    fn twelve_rounds_with_half_of_the_marks_change_the_path() {
        let mut trace = Trace::new();
        for round in 1..12 {
            assert_eq!(trace.round(2, 4, 0xabcd_e000), 0, "{round}");
        }
        assert_eq!(trace.round(2, 4, 0xabcd_e000), 0xabcde);
        for round in 1..12 {
            assert_eq!(trace.round(4, 4, 0x1234_5000), 0xabcde, "{round}, counted anew");
        }
        assert_eq!(trace.round(1, 4, 0x1234_5000), 0xabcde, "a quarter is no congestion");
        assert_eq!(trace.round(4, 4, 0x1234_5000), 0xabcde, "the first of a row");
    }

    #[test]
    fn three_rounds_are_enough_when_nothing_is_in_flight() {
        let mut trace = Trace::new();
        assert_eq!([trace.round(4, 4, u32::MAX), trace.round(4, 4, u32::MAX)], [0, 0]);
        assert_eq!(trace.round(4, 0, u32::MAX), 0xfffff);
    }

    #[test]
    fn a_timeout_changes_the_path_at_once_and_suspends_changes_for_congestion() {
        const MINUTE: Nanos = 60_000_000_000;
        let mut trace = Trace::new();
        trace.plb.on_timeout(Step { now: 5, rnd: 0x0000_1000 });
        assert_eq!(trace.plb.label(), 1);
        assert!((5 + MINUTE..5 + 2 * MINUTE).contains(&trace.plb.suspended_until));
        trace.now = 5 + MINUTE - 1;
        (0..20).for_each(|_| assert_eq!(trace.round(4, 4, u32::MAX), 1));
        trace.plb.on_timeout(Step { now: trace.now, rnd: 0x0000_2000 });
        assert_eq!(trace.plb.label(), 2, "another timeout is not suspended");
        trace.now += 2 * MINUTE;
        (0..11).for_each(|_| assert_eq!(trace.round(4, 4, u32::MAX), 2));
        assert_eq!(trace.round(4, 4, u32::MAX), 0xfffff);
    }
}
