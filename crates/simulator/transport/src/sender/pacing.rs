//! Pacing: the segments of a window spread over the round trip, as Linux's TCP does by its own
//! timer.
//!
//! After each data segment the next waits for the time that this one takes at the pacing rate, a
//! [`Pacing`] ratio of window and smoothed RTT:
//!
//! ```text
//! rate = ratio * max(cwnd, flight) / srtt
//! ```
//!
//! The first ten segments of a connection do not wait, SYNs never do, and retransmissions do,
//! except the one that a timeout causes. A segment that is sent later than it might have been
//! shortens the wait for the next by as much, up to half of it.
//!
//! Sources: Linux, net/ipv4/tcp_input.c (`tcp_update_pacing_rate`) and net/ipv4/tcp_output.c
//! (`tcp_update_skb_after_send`, `tcp_pacing_check`); commits 43e122b014c9 (the ratios) and
//! a7a2563064e9 (the credit for late segments). Linux computes the rate when an acknowledgement
//! arrives, and this sender when it sends, which differs only after a timeout. Linux paces what it
//! passes to the network device at once, up to a millisecond of data; here each segment is paced,
//! as there without segmentation offload.

use heddle_units::Time;

use super::{Holds, Sender};
use crate::{Kind, Pacing, Segment, TcpConfig};

/// Data segments at the start of a connection that no pacing delays.
pub(super) const UNPACED: u8 = 10;

impl Sender {
    /// [`Sender::next_segment`] of a sender that paces.
    #[cold]
    pub(super) fn next_paced(
        &mut self,
        config: &TcpConfig,
        pacing: &Pacing,
        now: Time,
    ) -> Option<Segment> {
        self.paced(pacing, now, |sender| sender.next_segment_slow_path(config, now))
    }

    /// [`Sender::next_lost`] of a sender that paces.
    #[cold]
    pub(super) fn next_lost_paced(
        &mut self,
        config: &TcpConfig,
        pacing: &Pacing,
        now: Time,
    ) -> Option<Segment> {
        self.paced(pacing, now, |sender| sender.lost_segment(config, now))
    }

    /// The segment that `next` returns, unless pacing holds it back; the next one then waits.
    fn paced(
        &mut self,
        pacing: &Pacing,
        now: Time,
        next: impl FnOnce(&mut Sender) -> Option<Segment>,
    ) -> Option<Segment> {
        let earliest = self.departure();
        if self.holds.has(Holds::PACING) && now < earliest {
            return None;
        }
        let segment = next(self)?;
        if segment.kind == Kind::Data {
            self.hold(pacing, now, earliest, segment.len.into());
        }
        Some(segment)
    }

    /// Earliest time of the next data segment.
    #[inline]
    pub(super) fn departure(&self) -> Time {
        self.last_sent.saturating_add(Time::nanos(self.gap.into()))
    }

    /// Holds the next segment back, after one of `len` bytes that might have been sent at
    /// `earliest`.
    fn hold(&mut self, pacing: &Pacing, now: Time, earliest: Time, len: u64) {
        self.gap = 0;
        self.holds.set(Holds::PACING, false);
        self.unpaced = self.unpaced.saturating_sub(1);
        if self.unpaced > 0 {
            return;
        }
        let ahead = earliest.saturating_sub(now).as_nanos();
        let credit = now.saturating_sub(earliest).as_nanos();
        let time = self.time_at_pacing_rate(pacing, len);
        let gap = ahead.saturating_add(time - credit.min(time / 2));
        self.gap = u32::try_from(gap).unwrap_or(u32::MAX);
        self.holds.set(Holds::PACING, self.gap > 0);
    }

    /// Nanoseconds that `len` bytes take at the pacing rate.
    fn time_at_pacing_rate(&self, pacing: &Pacing, len: u64) -> u64 {
        let cwnd = self.congestion.cwnd;
        let is_slow_start = self.congestion.ssthresh().is_none_or(|ssthresh| cwnd < ssthresh / 2);
        let percent = if is_slow_start { pacing.slow_start_ratio } else { pacing.avoidance_ratio };
        let window = u128::from(cwnd.max(self.nxt - self.una).max(1));
        let bytes = u128::from(len) * 100;
        let time = bytes * u128::from(self.rtt.smoothed().as_nanos()) / window;
        u64::try_from(time / u128::from(percent.max(1))).unwrap_or(u64::MAX)
    }

    /// Ends the wait for [`Sender::departure`] once it has come.
    #[inline]
    pub(super) fn release(&mut self, now: Time) {
        if now >= self.departure() {
            self.holds.set(Holds::PACING, false);
        }
    }
}

#[cfg(test)]
mod tests;
