//! Loss detection and recovery: duplicate acknowledgements, fast recovery, the retransmission
//! timeout.
//!
//! Every kind of recovery uses `pipe` of RFC 6675, the estimated bytes in the network, and compares
//! it with the window. Three sequence numbers divide the bytes in flight: all before `high_rxt` has
//! been retransmitted, all holes below [`Sender::lost_below`] are lost, and recovery ends at
//! `recover`.
//!
//! - With SACK, loss and pipe are as in RFC 6675 sections 4 and 5. The timer restarts with every
//!   fast retransmission (section 6 allows it).
//! - With NewReno (RFC 6582), pipe is the bytes in flight less one segment for each duplicate
//!   acknowledgement. The RFC inflates the window by these bytes instead, which sends the same
//!   segments. The timer restarts with the first partial acknowledgement only.
//! - After a timeout everything in flight counts as lost and is retransmitted in order, except what
//!   the scoreboard lists as received (RFC 6675 section 5.1).
//!
//! Losses are detected by duplicate acknowledgements; [`super::rack`] does it by time. Before
//! recovery begins, duplicates reduce pipe and so release new segments: limited transmit (RFC
//! 3042).

use alloc::boxed::Box;
use core::mem;
use core::ops::Range;

use heddle_units::Time;

use super::rack::Rack;
use super::scoreboard::Scoreboard;
use super::{Holds, Phase, Sender, data};
use crate::congestion::Acked;
use crate::{LossDetection, Recovery, Segment, SenderCounters, TcpConfig};

/// Loss recovery state of a sender.
#[derive(Clone, Debug, Default)]
pub(super) struct LossRecovery {
    pub(super) counters: SenderCounters,
    scoreboard: Scoreboard,
    /// SND.NXT at the start of the last recovery; 0 if there was none.
    pub(super) recover: u64,
    /// HighRxt: end of the data retransmitted in this recovery.
    high_rxt: u64,
    /// RescueRxt: no rescue retransmission until this byte is acknowledged.
    rescue_rxt: u64,
    /// NewReno: window inflation, the bytes that have left the network according to duplicate
    /// acknowledgements.
    inflation: u64,
    /// Duplicate acknowledgements since SND.UNA last advanced.
    dup_acks: u32,
    /// True if the first hole is to be retransmitted at once, regardless of the window.
    retransmit_head: bool,
    /// NewReno: true if the timer has restarted in this recovery.
    timer_restarted: bool,
    /// True if SND.UNA has not advanced since the last timeout.
    pub(super) timed_out: bool,
    /// RACK-TLP, from the handshake on.
    pub(super) rack: Option<Box<Rack>>,
}

impl Sender {
    /// Handles an acknowledgement outside of the fast path.
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

    /// Adds the SACK blocks of `ack` to the scoreboard. Returns true if any byte was new (a
    /// duplicate acknowledgement as RFC 6675 defines it).
    fn record_sacks(&mut self, ack: &Segment) -> bool {
        let mut is_new = false;
        for block in ack.sacks() {
            let start = ack.seq + u64::from(block.offset);
            let end = (start + u64::from(block.len)).min(self.nxt);
            is_new |= self.recovery.get_or_insert_default().scoreboard.insert(start..end);
        }
        is_new
    }

    /// Handles an acknowledgement of new data. `deadline` is that of the timer before it.
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

    /// Handles a partial acknowledgement, which indicates the next loss (RFC 6582 section 3.2 step
    /// 3).
    fn on_partial(&mut self, acked: &Acked, deadline: Time) {
        let recovery = self.recovery.get_or_insert_default();
        let added_back = if acked.bytes >= acked.mss { acked.mss } else { 0 };
        recovery.inflation = recovery.inflation.saturating_sub(acked.bytes) + added_back;
        recovery.retransmit_head = true;
        if mem::replace(&mut recovery.timer_restarted, true) {
            self.deadline = deadline;
        }
    }

    /// Ends a recovery or a state of disorder.
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

    /// True if duplicate acknowledgements show that the first byte in flight is lost.
    fn has_lost(&mut self, config: &TcpConfig) -> bool {
        let recovery = self.recovery.get_or_insert_default();
        let enough = recovery.dup_acks >= config.dup_threshold;
        match config.recovery {
            // Duplicates of data retransmitted in the last recovery do not indicate a loss (RFC
            // 6582 section 3.2 step 2).
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
        // Segments of limited transmit exceed the window and do not count (RFC 5681 section 3.2
        // step 2).
        self.congestion.on_loss((self.nxt - self.una).min(self.congestion.cwnd), mss);
    }

    pub(super) fn begin_retransmission(&mut self, phase: Phase) {
        self.phase = phase;
        self.start_cwr();
        let recovery = self.recovery.get_or_insert_default();
        recovery.recover = self.nxt;
        recovery.high_rxt = self.una;
        recovery.retransmit_head = false;
    }

    /// Handles a retransmission timeout (RFC 6298 section 5).
    pub(super) fn on_timeout(&mut self, config: &TcpConfig, now: Time) {
        self.rtt.back_off(config);
        self.holds.set(Holds::PACING, false);
        let recovery = self.recovery.get_or_insert_default();
        recovery.counters.timeouts += 1;
        if self.phase == Phase::SynSent {
            self.phase = Phase::Opening;
            self.deadline = Time::NEVER;
            return;
        }
        // Within a recovery, or for a second timeout in a row, the window has been reduced already
        // (RFC 5681 section 3.1).
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

    /// Next segment while data is missing (RFC 6675 section 5 step C, with NextSeg of section 4).
    #[cold]
    pub(super) fn next_in_recovery(&mut self, config: &TcpConfig, now: Time) -> Option<Segment> {
        if let Some(segment) = self.lost_segment(config, now) {
            return Some(segment);
        }
        let pipe = self.pipe(config);
        if pipe + u64::from(config.mss) > self.congestion.cwnd {
            return None;
        }
        self.new_data(config, now, pipe).or_else(|| self.speculative_retransmission(config, now))
    }

    /// Next lost segment, if it may be sent now; it is sent before new data.
    #[inline]
    pub(crate) fn next_lost(&mut self, config: &TcpConfig, now: Time) -> Option<Segment> {
        if let Some(pacing) = &config.pacing {
            return self.next_lost_paced(config, pacing, now);
        }
        self.lost_segment(config, now)
    }

    pub(super) fn lost_segment(&mut self, config: &TcpConfig, now: Time) -> Option<Segment> {
        if config.loss_detection == LossDetection::Rack {
            return self.next_lost_by_rack(config, now);
        }
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

    /// True if new data may be sent: no lost segment waits for its retransmission, and the window
    /// exceeds pipe by a segment.
    pub(super) fn can_send_in_recovery(&self, config: &TcpConfig) -> bool {
        self.hole_to_retransmit(self.lost_below(config)).is_none()
            && !self.recovery.as_ref().is_some_and(|recovery| recovery.retransmit_head)
            && self.pipe(config) + u64::from(config.mss) <= self.congestion.cwnd
    }

    /// Estimated bytes in the network (SetPipe).
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

    /// Holes below this byte are lost (IsLost). NewReno detects the loss of the first segment only.
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

    /// First hole below `end` that has not been retransmitted.
    fn hole_to_retransmit(&self, end: u64) -> Option<Range<u64>> {
        let recovery = self.recovery.as_ref()?;
        recovery.scoreboard.hole(recovery.high_rxt.max(self.una)..end)
    }

    /// Retransmission of data that is not known to be lost, if there is no new data: holes that may
    /// be lost (NextSeg rule 3), then, once in a recovery, the last segment in flight (rule 4, the
    /// rescue retransmission).
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

    /// Retransmits the start of `hole` and advances HighRxt.
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
