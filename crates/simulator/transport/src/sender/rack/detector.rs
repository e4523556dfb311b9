//! RACK: loss detection by the times of transmission (RFC 8985 section 6.2).
//!
//! - Steps 1 and 2: RTT samples, and the most recently sent segment that has been delivered. A
//!   segment that was retransmitted counts only if its last transmission was delivered: not if the
//!   delivery came sooner than the least RTT, nor if the timestamp echoed with a cumulative
//!   acknowledgement is of an earlier one. A selective acknowledgement echoes the timestamp of the
//!   last segment in order (RFC 7323 section 4.3), which says nothing about the segment; with that
//!   timestamp the loss of a retransmission would not be found in the RFC's own example (section
//!   3.4).
//! - Step 3: a segment that is delivered after a later one and was sent once has been reordered.
//! - Step 4: the reordering window, a quarter of the least RTT for each step. A round with a DSACK
//!   adds a step; 16 recoveries without one return to the first. It is at most the smoothed RTT.
//!   [`ReorderingWindow`] has others.
//! - Step 5: a segment is lost if a later one has been delivered, and the segment itself has not
//!   within an RTT and the window.

use heddle_units::Time;

use super::history::{Sent, Verdict};
use crate::{MeasuredWindow, ReorderingWindow, Timestamp};

/// Recoveries without a DSACK after which the window returns to its first step.
const PERSIST: u8 = 16;

/// The kind of a segment's acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    /// Cumulatively, with the timestamp that the acknowledgement echoes.
    Cumulative(Timestamp),
    /// Selectively.
    Selective,
}

/// Conditions of the sender that set the reordering window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conditions {
    /// True during fast recovery, or recovery after a timeout.
    pub(super) in_recovery: bool,
    /// RACK.segs_sacked.
    pub(super) sacked_segments: u32,
    /// DupThresh.
    pub(super) dup_threshold: u32,
    /// Smoothed RTT.
    pub(super) srtt: Time,
    /// `reordering_window`.
    pub(super) rule: Option<ReorderingWindow>,
}

/// State of RACK, apart from the segments.
#[derive(Clone, Debug)]
pub(super) struct Detector {
    /// RACK.xmit_ts and RACK.end_seq: the most recently sent segment that has been delivered.
    latest: (Time, u64),
    /// RACK.rtt: round-trip time of the segment delivered last; of those that one acknowledgement
    /// delivers, the one sent last counts.
    rtt: Time,
    /// Time of that acknowledgement.
    updated_at: Time,
    /// RACK.min_RTT, over the whole connection.
    min_rtt: Time,
    /// RACK.fack: the highest byte delivered.
    fack: u64,
    /// RACK.reordering_seen.
    reordering_seen: bool,
    /// RACK.dsack_round: end of the round in which a DSACK has been counted.
    dsack_round: Option<u64>,
    /// RACK.reo_wnd_mult.
    steps: u32,
    /// RACK.reo_wnd_persist.
    persist: u8,
}

impl Detector {
    /// A connection whose handshake took `rtt`.
    pub(super) fn new(rtt: Time) -> Detector {
        Detector {
            latest: (Time::ZERO, 0),
            rtt,
            updated_at: Time::ZERO,
            min_rtt: rtt,
            fack: 0,
            reordering_seen: false,
            dsack_round: None,
            steps: 1,
            persist: PERSIST,
        }
    }

    /// Records a delivered segment.
    pub(super) fn on_delivered(&mut self, now: Time, sent: &Sent, how: Delivery) {
        self.update_latest(now, sent, how);
        if sent.end > self.fack {
            self.fack = sent.end;
        } else if sent.end < self.fack && !sent.is_retransmitted {
            self.reordering_seen = true;
        }
    }

    fn update_latest(&mut self, now: Time, sent: &Sent, how: Delivery) {
        let rtt = now.saturating_sub(sent.at);
        if sent.is_retransmitted {
            let is_of_earlier = match how {
                Delivery::Cumulative(echo) => Timestamp::at(sent.at).is_after(echo),
                Delivery::Selective => false,
            };
            if is_of_earlier || rtt < self.min_rtt {
                return;
            }
        } else {
            self.min_rtt = self.min_rtt.min(rtt);
        }
        self.rtt = if self.updated_at == now { self.rtt.min(rtt) } else { rtt };
        self.updated_at = now;
        self.latest = self.latest.max((sent.at, sent.end));
    }

    /// Adapts the window to an acknowledgement of `una` by the receiver that has `nxt` to come,
    /// with or without a DSACK.
    pub(super) fn on_ack(&mut self, una: u64, nxt: u64, has_dsack: bool) {
        if self.dsack_round.is_some_and(|end| una >= end) {
            self.dsack_round = None;
        }
        if has_dsack && self.dsack_round.is_none() {
            self.dsack_round = Some(nxt);
            self.steps = self.steps.saturating_add(1);
            self.persist = PERSIST;
        }
    }

    /// Counts the end of a recovery.
    pub(super) fn on_recovery_end(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// RACK.reo_wnd.
    pub(super) fn window(&self, conditions: &Conditions) -> Time {
        match conditions.rule {
            Some(ReorderingWindow::Fixed(time)) => return time,
            Some(ReorderingWindow::Measured(MeasuredWindow::Srtt)) => return conditions.srtt,
            Some(ReorderingWindow::Measured(MeasuredWindow::Adaptive)) | None => {}
        }
        let proven =
            conditions.in_recovery || conditions.sacked_segments >= conditions.dup_threshold;
        if !self.reordering_seen && proven {
            return Time::ZERO;
        }
        let quarters = self.min_rtt.0 / 4;
        Time(quarters.saturating_mul(self.steps.into())).min(conditions.srtt)
    }

    /// Judges a segment in flight.
    pub(super) fn judge(&self, now: Time, window: Time, sent: &Sent) -> Verdict {
        if self.latest <= (sent.at, sent.end) {
            return Verdict::Newer;
        }
        match self.overdue_at(window, sent) {
            at if at <= now => Verdict::Lost,
            at => Verdict::LostAt(at),
        }
    }

    /// True if a segment has had its time, whether a later one has been delivered or not (section
    /// 6.3).
    pub(super) fn is_overdue(&self, now: Time, window: Time, sent: &Sent) -> bool {
        self.overdue_at(window, sent) <= now
    }

    fn overdue_at(&self, window: Time, sent: &Sent) -> Time {
        sent.at.saturating_add(self.rtt).saturating_add(window)
    }
}

#[cfg(test)]
mod tests;
