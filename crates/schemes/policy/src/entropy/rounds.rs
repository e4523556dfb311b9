//! Round trips of a flow and the share of marked acknowledgements in each, as FlowBender, PLB and
//! DCTCP measure it.

use super::Feedback;

/// A share in units of 2^-16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Share(u32);

impl Share {
    /// A ratio from 0 to 1, rounded down.
    pub(super) fn from_ratio(ratio: f64) -> Share {
        Share((ratio * 65_536.0) as u32)
    }

    /// `part` of `whole`, rounded down; 0 of nothing.
    fn of(part: u32, whole: u32) -> Share {
        let share = (u64::from(part) << 16).checked_div(u64::from(whole)).unwrap_or(0);
        Share(share as u32)
    }
}

/// The round trip that is being measured: it ends when what had been sent at its start is
/// acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    acked: u32,
    marked: u32,
    /// SND.NXT at its start; 0 before the first data is acknowledged.
    end: u64,
}

impl Round {
    /// Bytes of state: two counters, and a sequence number of 32 bits.
    pub(super) const STATE_BYTES: usize = 12;

    /// Counts an acknowledgement. Returns the share of marked ones if it ends the round.
    pub(super) fn count(&mut self, feedback: &Feedback) -> Option<Share> {
        self.acked = self.acked.saturating_add(1);
        self.marked = self.marked.saturating_add(feedback.marked.into());
        if self.end == 0 {
            self.end = feedback.nxt;
        }
        if feedback.una < self.end || feedback.una == 0 {
            return None;
        }
        let share = Share::of(self.marked, self.acked);
        *self = Round { acked: 0, marked: 0, end: feedback.nxt };
        Some(share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_ends_when_what_was_in_flight_at_its_start_is_acknowledged() {
        let mut round = Round::default();
        for (una, nxt, marked, expected) in [
            (0, 0, false, None),        // SYN/ACK
            (1000, 10_000, true, None), // the first round: what is in flight now
            (2000, 12_000, false, None),
            (10_000, 20_000, false, Some(1)), // one of four
            (10_000, 20_000, true, None),     // selective
            (20_000, 20_000, true, Some(4)),
            (20_000, 20_000, false, Some(0)), // nothing new in flight: a round by itself
            (20_500, 20_500, true, Some(4)),
        ] {
            let share = round.count(&Feedback { entropy: 0, marked, una, nxt });
            assert_eq!(share, expected.map(|quarters| Share(quarters << 14)), "{una} {nxt}");
        }
    }
}
