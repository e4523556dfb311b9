//! Finding and repairing losses: duplicate acknowledgements, fast recovery, the retransmission timeout.
//!
//! One account serves every kind of recovery, after RFC 6675: `pipe`, the bytes thought to be in the network, is held against
//! the window. Three marks cut the bytes in flight: all before `high_rxt` has been sent again, all holes below
//! [`Sender::lost_below`] are lost, and the repair ends at `recover`.
//!
//! - With SACK, loss and pipe are as in RFC 6675 sections 4 and 5. The timer starts over with every fast retransmission (its
//!   section 6 allows it).
//! - With NewReno (RFC 6582), pipe is what is in flight but for a segment for each duplicate acknowledgement. The RFC inflates the
//!   window by these bytes instead, which lets the same segments go. The timer starts over with the first partial acknowledgement only.
//! - After a timeout everything in flight counts as lost and is sent again in order, but for what the scoreboard knows to have
//!   arrived (RFC 6675 section 5.1).
//!
//! Before recovery begins, duplicates let new segments go through pipe: limited transmit (RFC 3042).

use core::mem;
use core::ops::Range;

use heddle_units::Time;

use super::scoreboard::Scoreboard;
use super::{Phase, Sender, SenderCounters, data};
use crate::congestion::Acked;
use crate::{Recovery, Segment, TcpConfig};

/// What a connection knows of its losses.
#[derive(Clone, Debug, Default)]
pub(super) struct LossRecovery {
    pub(super) counters: SenderCounters,
    scoreboard: Scoreboard,
    /// End of the data sent before the last repair began; 0 if there was none.
    recover: u64,
    /// HighRxt: end of the data sent again in this repair.
    high_rxt: u64,
    /// RescueRxt: no rescue retransmission before this is acknowledged.
    rescue_rxt: u64,
    /// NewReno: bytes that duplicates tell have left the network.
    inflation: u64,
    /// Duplicate acknowledgements since the last that advanced.
    dup_acks: u32,
    /// The first hole is to be sent again at once, whatever the window says.
    retransmit_head: bool,
    /// NewReno: the timer has started over in this recovery.
    timer_restarted: bool,
    /// The last timeout has been followed by no progress.
    timed_out: bool,
}

impl Sender {
    /// Takes in an acknowledgement that is not plain progress.
    pub(super) fn on_ack_slow_path(&mut self, config: &TcpConfig, now: Time, ack: &Segment) {
        let (una, deadline) = (self.una, self.deadline);
        if ack.seq < una || self.nxt < ack.seq {
            return;
        }
        if ack.seq > una {
            let acked = self.advance(config, now, ack);
            self.on_progress(config, &acked, deadline);
        } else if ack.ecn.is_marked() {
            self.on_ecn_echo(self.nxt - una, u64::from(config.mss));
        }
        let duplicate = match config.recovery {
            Recovery::Sack => self.record_sacks(ack),
            Recovery::NewReno => ack.seq == una && una < self.nxt,
        };
        if duplicate {
            self.on_duplicate(config);
        }
    }

    /// Notes what `ack` selectively acknowledges, and tells whether any of it was news (a duplicate, in RFC 6675's sense).
    fn record_sacks(&mut self, ack: &Segment) -> bool {
        let mut is_new = false;
        for block in ack.sacks() {
            let start = ack.seq + u64::from(block.offset);
            let end = (start + u64::from(block.len)).min(self.nxt);
            is_new |= self.recovery.get_or_insert_default().scoreboard.insert(start..end);
        }
        is_new
    }

    /// Goes on after an acknowledgement of new data. `deadline` is the timer's, before it.
    fn on_progress(&mut self, config: &TcpConfig, acked: &Acked, deadline: Time) {
        let recovery = self.recovery.get_or_insert_default();
        recovery.scoreboard.advance(acked.una);
        recovery.timed_out = false;
        let recovered = acked.una >= recovery.recover;
        match (self.phase, config.recovery) {
            (Phase::Recovery, Recovery::Sack) if !recovered => {}
            (Phase::Recovery, Recovery::NewReno) if !recovered => self.on_partial(acked, deadline),
            (Phase::Recovery, Recovery::Sack) => self.end_recovery(),
            (Phase::Recovery, Recovery::NewReno) => {
                self.congestion.deflate(self.nxt - self.una, acked.mss);
                self.end_recovery();
            }
            (Phase::Loss, _) if !recovered => self.update_cwnd(acked),
            _ => {
                self.update_cwnd(acked);
                self.end_recovery();
            }
        }
    }

    /// A partial acknowledgement tells of the next loss (RFC 6582 section 3.2 step 3).
    fn on_partial(&mut self, acked: &Acked, deadline: Time) {
        let recovery = self.recovery.get_or_insert_default();
        let added_back = if acked.bytes >= acked.mss { acked.mss } else { 0 };
        recovery.inflation = recovery.inflation.saturating_sub(acked.bytes) + added_back;
        recovery.retransmit_head = true;
        if mem::replace(&mut recovery.timer_restarted, true) {
            self.deadline = deadline;
        }
    }

    /// Ends a repair, or a suspicion.
    fn end_recovery(&mut self) {
        let recovery = self.recovery.get_or_insert_default();
        recovery.dup_acks = 0;
        recovery.inflation = 0;
        recovery.retransmit_head = false;
        self.phase = if recovery.scoreboard.is_empty() { Phase::Open } else { Phase::Disorder };
    }

    fn on_duplicate(&mut self, config: &TcpConfig) {
        let mss = u64::from(config.mss);
        let recovery = self.recovery.get_or_insert_default();
        recovery.dup_acks = recovery.dup_acks.saturating_add(1);
        match self.phase {
            Phase::Open | Phase::Disorder => {
                recovery.inflation = mss * u64::from(recovery.dup_acks.min(config.dup_threshold));
                self.phase = Phase::Disorder;
                if self.has_lost(config) {
                    self.enter_recovery(mss);
                }
            }
            Phase::Recovery => recovery.inflation += mss,
            _ => {}
        }
    }

    /// Whether the first byte in flight is lost, as far as duplicates tell.
    fn has_lost(&mut self, config: &TcpConfig) -> bool {
        let recovery = self.recovery.get_or_insert_default();
        let enough = recovery.dup_acks >= config.dup_threshold;
        match config.recovery {
            // Duplicates of data sent again in the last repair prove nothing (RFC 6582 section 3.2 step 2).
            Recovery::NewReno => enough && (self.una > recovery.recover || recovery.recover == 0),
            Recovery::Sack => {
                let edge = recovery.scoreboard.lost_below(config.dup_threshold, config.mss.into());
                enough || edge > self.una
            }
        }
    }

    fn enter_recovery(&mut self, mss: u64) {
        self.begin_retransmission(Phase::Recovery);
        let recovery = self.recovery.get_or_insert_default();
        recovery.counters.fast_recoveries += 1;
        recovery.retransmit_head = true;
        recovery.timer_restarted = false;
        // What limited transmit sent is above the window and does not count (RFC 5681 section 3.2 step 2).
        self.congestion.on_loss((self.nxt - self.una).min(self.congestion.cwnd), mss);
    }

    fn begin_retransmission(&mut self, phase: Phase) {
        self.phase = phase;
        self.start_cwr();
        let recovery = self.recovery.get_or_insert_default();
        recovery.recover = self.nxt;
        recovery.high_rxt = self.una;
        recovery.retransmit_head = false;
    }

    /// The retransmission timer has run out (RFC 6298 section 5).
    #[cold]
    pub(super) fn on_timeout(&mut self, config: &TcpConfig, now: Time) {
        self.rtt.back_off(config);
        let recovery = self.recovery.get_or_insert_default();
        recovery.counters.timeouts += 1;
        if self.phase == Phase::SynSent {
            self.phase = Phase::Opening;
            self.deadline = Time::NEVER;
            return;
        }
        // Within a recovery, or for the second time, it is no news of congestion (RFC 5681 section 3.1).
        let known = mem::replace(&mut recovery.timed_out, true) || self.phase == Phase::Recovery;
        if !known {
            let flight = (self.nxt - self.una).min(self.congestion.cwnd);
            self.congestion.on_loss(flight, config.mss.into());
        }
        self.congestion.on_timeout(config.mss.into());
        self.begin_retransmission(Phase::Loss);
        self.rtt_seq = self.una;
        self.deadline = self.timeout_from(now);
    }

    /// The next segment to send while something is missing (RFC 6675 section 5 step C, with section 4's NextSeg).
    #[cold]
    pub(super) fn next_in_recovery(&mut self, config: &TcpConfig, now: Time) -> Option<Segment> {
        if let Some(segment) = self.next_lost(config, now) {
            return Some(segment);
        }
        let pipe = self.pipe(config);
        if pipe + u64::from(config.mss) > self.congestion.cwnd {
            return None;
        }
        self.new_data(config, now, pipe).or_else(|| self.speculative_retransmission(config, now))
    }

    /// The next segment that is known to be lost: it goes before new data.
    pub(crate) fn next_lost(&mut self, config: &TcpConfig, now: Time) -> Option<Segment> {
        let recovery = self.recovery.get_or_insert_default();
        if mem::take(&mut recovery.retransmit_head) {
            recovery.high_rxt = self.una;
            let head = recovery.scoreboard.hole(self.una..self.nxt)?;
            let segment = self.retransmit_next(config, now, head);
            self.recovery.get_or_insert_default().rescue_rxt = segment.seq + u64::from(segment.len);
            return Some(segment);
        }
        let hole = self.hole_to_retransmit(self.lost_below(config))?;
        let can_send = self.pipe(config) + u64::from(config.mss) <= self.congestion.cwnd;
        can_send.then(|| self.retransmit_next(config, now, hole))
    }

    /// Whether new data may go: no loss waits for its repair, and the window has room beside what is in the network.
    pub(super) fn can_send_in_recovery(&self, config: &TcpConfig) -> bool {
        self.hole_to_retransmit(self.lost_below(config)).is_none()
            && !self.recovery.as_ref().is_some_and(|recovery| recovery.retransmit_head)
            && self.pipe(config) + u64::from(config.mss) <= self.congestion.cwnd
    }

    /// Bytes thought to be in the network (SetPipe).
    fn pipe(&self, config: &TcpConfig) -> u64 {
        let Some(recovery) = &self.recovery else { return self.nxt - self.una };
        if config.recovery == Recovery::NewReno && self.phase != Phase::Loss {
            return (self.nxt - self.una).saturating_sub(recovery.inflation);
        }
        let retransmitted_to =
            if self.phase == Phase::Disorder { self.una } else { recovery.high_rxt };
        recovery.scoreboard.missing(self.lost_below(config)..self.nxt)
            + recovery.scoreboard.missing(self.una..retransmitted_to)
    }

    /// Holes below this byte are lost (IsLost). With NewReno nothing is known but the head.
    fn lost_below(&self, config: &TcpConfig) -> u64 {
        let Some(recovery) = &self.recovery else { return self.una };
        match (self.phase, config.recovery) {
            (Phase::Loss, _) => recovery.recover,
            (Phase::Recovery, Recovery::Sack) => {
                let edge = recovery.scoreboard.lost_below(config.dup_threshold, config.mss.into());
                edge.max(self.una)
            }
            _ => self.una,
        }
    }

    /// The first hole below `end` that has not been sent again yet.
    fn hole_to_retransmit(&self, end: u64) -> Option<Range<u64>> {
        let recovery = self.recovery.as_ref()?;
        recovery.scoreboard.hole(recovery.high_rxt.max(self.una)..end)
    }

    /// When nothing is known to be lost and nothing new may be sent: holes that may be lost (NextSeg's rule 3), then,
    /// once in a recovery, the last segment in flight (rule 4, the rescue retransmission).
    fn speculative_retransmission(&mut self, config: &TcpConfig, now: Time) -> Option<Segment> {
        if self.phase != Phase::Recovery || config.recovery != Recovery::Sack {
            return None;
        }
        let recovery = self.recovery.get_or_insert_default();
        let highest = recovery.scoreboard.highest();
        if let Some(hole) = self.hole_to_retransmit(highest) {
            return Some(self.retransmit_next(config, now, hole));
        }
        let recovery = self.recovery.get_or_insert_default();
        if self.una <= recovery.rescue_rxt {
            return None;
        }
        recovery.rescue_rxt = recovery.recover;
        let hole = recovery.scoreboard.last_hole(self.una..self.nxt)?;
        let start = hole.start.max(hole.end.saturating_sub(config.mss.into()));
        Some(self.retransmit(config, now, start..hole.end))
    }

    /// Sends the start of `hole` again and moves HighRxt past it.
    fn retransmit_next(&mut self, config: &TcpConfig, now: Time, hole: Range<u64>) -> Segment {
        let end = hole.end.min(hole.start + u64::from(config.mss));
        self.recovery.get_or_insert_default().high_rxt = end;
        self.retransmit(config, now, hole.start..end)
    }

    fn retransmit(&mut self, config: &TcpConfig, now: Time, bytes: Range<u64>) -> Segment {
        if self.phase == Phase::Recovery && config.recovery == Recovery::Sack {
            self.deadline = Time::NEVER;
        }
        self.record_sent(now);
        self.recovery.get_or_insert_default().counters.retransmitted += 1;
        data(bytes.start, bytes.end - bytes.start, now)
    }
}
