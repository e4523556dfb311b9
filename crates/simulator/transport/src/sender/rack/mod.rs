//! Loss detection and recovery by RACK-TLP (RFC 8985), in place of [`super::loss_recovery`]'s
//! counting of duplicate acknowledgements.
//!
//! Every segment is recorded with its time of transmission, from [`Phase::Tracked`] on, so that no
//! segment takes the sender's fast path. [`detector`] finds losses, [`probe`] provokes the
//! acknowledgement that shows them; this file is their place in the sender.
//!
//! - Pipe is what is in flight less what is selectively acknowledged and what is lost and not yet
//!   retransmitted. New data and retransmissions, the lowest bytes first, go out while it is less
//!   than the window; the first retransmission of a recovery and a probe do not wait for the
//!   window.
//! - The window grows by what an acknowledgement delivers, cumulatively or selectively (as in
//!   Linux), so that reordering does not slow the growth; and is reduced once for the losses of one
//!   window: a loss of what was sent after the last reduction, retransmissions included, reduces it
//!   again (section 9.3).
//! - Fast recovery and recovery after a timeout end when all that was sent before them is
//!   acknowledged.
//! - The least RTT is that of the whole connection. The retransmission timer restarts with every
//!   fast retransmission, as without RACK.

mod detector;
mod history;
mod probe;

use alloc::boxed::Box;
use core::mem;

use heddle_units::Time;

use super::{Phase, Sender, data};
use crate::congestion::Acked;
use crate::{Segment, TcpConfig};
use detector::{Conditions, Delivery, Detector};
use history::History;
use probe::{Answer, Probe, ProbeAck};

/// State of RACK-TLP.
#[derive(Clone, Debug)]
pub(super) struct Rack {
    history: History,
    detector: Detector,
    probe: Option<Probe>,
    /// True if a probe is to be sent.
    probe_due: bool,
    /// True if the RTT has been sampled since the last probe.
    is_sampled: bool,
    /// True if the first lost segment is to be retransmitted at once, regardless of the window.
    retransmit_head: bool,
    /// Time of the last reduction of the window for a loss.
    reduced_at: Time,
    /// Due times of the timers: retransmission, probe and reordering; [`Time::NEVER`] if one does
    /// not run.
    rto_at: Time,
    probe_at: Time,
    reordering_at: Time,
}

impl Rack {
    fn new(handshake_rtt: Time) -> Rack {
        Rack {
            history: History::default(),
            detector: Detector::new(handshake_rtt),
            probe: None,
            probe_due: false,
            is_sampled: true,
            retransmit_head: false,
            reduced_at: Time::ZERO,
            rto_at: Time::NEVER,
            probe_at: Time::NEVER,
            reordering_at: Time::NEVER,
        }
    }

    fn deadline(&self) -> Time {
        self.rto_at.min(self.probe_at).min(self.reordering_at)
    }

    /// Bytes in flight that are neither delivered nor lost, of `flight` between SND.UNA and
    /// SND.NXT.
    fn pipe(&self, flight: u64) -> u64 {
        flight - self.history.sacked() - self.history.lost()
    }

    /// Records what `ack` delivers and returns its bytes; `una` is the acknowledgement number.
    fn deliver(&mut self, now: Time, una: u64, ack: &Segment) -> u64 {
        let Rack { history, detector, .. } = self;
        let cumulative = Delivery::Cumulative(ack.timestamp);
        let mut bytes =
            history.acknowledge(una, |sent| detector.on_delivered(now, sent, cumulative));
        for block in ack.sacks() {
            let start = ack.seq.saturating_add(block.offset.into());
            let range = start..start.saturating_add(block.len.into());
            bytes +=
                history.sack(&range, |sent| detector.on_delivered(now, sent, Delivery::Selective));
        }
        bytes
    }

    /// Ends the probing of a tail, as a recovery begins (section 7.1).
    fn reset_probe(&mut self) {
        (self.probe, self.probe_due, self.probe_at) = (None, false, Time::NEVER);
    }
}

impl Sender {
    /// Starts RACK-TLP, after the handshake.
    pub(super) fn start_rack(&mut self) {
        self.phase = Phase::Tracked;
        self.set_rack(Rack::new(self.rtt.smoothed()).into());
    }

    fn rack(&self) -> Option<&Rack> {
        self.recovery.as_ref()?.rack.as_deref()
    }

    fn rack_mut(&mut self) -> Option<&mut Rack> {
        self.recovery.as_mut()?.rack.as_deref_mut()
    }

    /// Takes the state out, to change it together with the sender's.
    fn take_rack(&mut self) -> Option<Box<Rack>> {
        self.recovery.as_mut()?.rack.take()
    }

    /// Puts the state back, and sets the timer to the first of its timers.
    fn set_rack(&mut self, rack: Box<Rack>) {
        self.deadline = rack.deadline();
        self.recovery.get_or_insert_default().rack = Some(rack);
    }

    /// Handles an acknowledgement. One that another has overtaken still tells of segments
    /// delivered.
    pub(super) fn on_ack_by_rack(&mut self, config: &TcpConfig, now: Time, ack: &Segment) {
        if self.nxt < ack.seq {
            return;
        }
        let Some(mut rack) = self.take_rack() else { return };
        let (before, rtt_seq) = (self.una, self.rtt_seq);
        let pipe = rack.pipe(self.nxt - before);
        let bytes = rack.deliver(now, ack.seq.max(before), ack);
        if ack.seq > before {
            self.advance_una(config, now, ack);
            rack.rto_at = self.deadline;
            rack.is_sampled |= self.rtt_seq != rtt_seq;
        }
        self.respond_by_rack(config, Growth { now, bytes, pipe }, ack);
        self.update_phase(&mut rack, self.una > before);
        let duplicate = ack.duplicate();
        rack.detector.on_ack(self.una, self.nxt, duplicate.is_some());
        let is_duplicate = bytes == 0 && ack.seq == before;
        let answer = ProbeAck { una: ack.seq, is_duplicate, duplicate: duplicate.as_ref() };
        self.answer_probe(config, now, &mut rack, &answer);
        self.detect_by_rack(config, now, &mut rack);
        if ack.seq > before || rack.history.sacked() > 0 {
            self.schedule_probe(config, now, &mut rack);
        }
        self.set_rack(rack);
    }

    /// Responds to an acknowledgement with the congestion window.
    fn respond_by_rack(&mut self, config: &TcpConfig, growth: Growth, ack: &Segment) {
        let Growth { now, bytes, pipe } = growth;
        let (mss, echo) = (u64::from(config.mss), ack.ecn.is_marked());
        if bytes > 0 {
            let (una, nxt, srtt) = (self.una, self.nxt, self.rtt.smoothed());
            let acked = Acked { now, bytes, flight: pipe, una, nxt, mss, srtt, echo };
            self.congestion.observe(&acked);
            if self.phase != Phase::Recovery {
                self.update_cwnd(&acked);
            }
        } else if echo {
            self.on_ecn_echo(pipe, mss);
        }
    }

    /// Leaves a recovery that is complete, and tells disorder from order.
    fn update_phase(&mut self, rack: &mut Rack, has_advanced: bool) {
        if let Some(recovery) = self.recovery.as_mut().filter(|_| has_advanced) {
            recovery.timed_out = false;
        }
        let is_recovering = self.is_repairing();
        if is_recovering && self.una < self.recovery.as_ref().map_or(0, |recovery| recovery.recover)
        {
            return;
        }
        if is_recovering {
            rack.detector.on_recovery_end();
        }
        let is_whole = rack.history.sacked() == 0;
        self.phase = if is_whole { Phase::Tracked } else { Phase::Disorder };
    }

    /// True during fast recovery, and recovery after a timeout.
    fn is_repairing(&self) -> bool {
        matches!(self.phase, Phase::Recovery | Phase::Loss)
    }

    fn answer_probe(&mut self, config: &TcpConfig, now: Time, rack: &mut Rack, ack: &ProbeAck) {
        let answer = rack.probe.map_or(Answer::Awaited, |probe| probe.answer(ack));
        if answer != Answer::Awaited {
            rack.probe = None;
        }
        if answer == Answer::Repaired {
            self.reduce_by_rack(config, now, rack);
            self.start_cwr();
        }
    }

    /// Looks for lost segments, and begins fast recovery if there are any (section 6.2 step 5).
    fn detect_by_rack(&mut self, config: &TcpConfig, now: Time, rack: &mut Rack) {
        let Rack { history, detector, .. } = &mut *rack;
        let window = detector.window(&self.conditions(config, history));
        let found = history.detect(|sent| detector.judge(now, window, sent));
        rack.reordering_at = found.again.unwrap_or(Time::NEVER);
        let Some(sent_at) = found.lost else { return };
        let is_new = sent_at >= rack.reduced_at;
        if is_new || !self.is_repairing() {
            rack.reset_probe();
            rack.retransmit_head = true;
            self.begin_retransmission(Phase::Recovery);
            self.recovery.get_or_insert_default().counters.fast_recoveries += 1;
        }
        if is_new {
            self.reduce_by_rack(config, now, rack);
        }
    }

    fn conditions(&self, config: &TcpConfig, history: &History) -> Conditions {
        Conditions {
            in_recovery: self.is_repairing(),
            sacked_segments: history.sacked_segments(),
            dup_threshold: config.dup_threshold,
            srtt: self.rtt.smoothed(),
            rule: config.reordering_window,
        }
    }

    /// Reduces the window for a loss.
    fn reduce_by_rack(&mut self, config: &TcpConfig, now: Time, rack: &mut Rack) {
        let flight = (self.nxt - self.una).min(self.congestion.cwnd);
        self.congestion.on_loss(flight, config.mss.into());
        rack.reduced_at = now;
    }

    /// Starts the probe timer anew, or stops it while a loss is suspected or a probe is out
    /// (section 7.2).
    fn schedule_probe(&self, config: &TcpConfig, now: Time, rack: &mut Rack) {
        let segments = rack.history.len();
        let is_free = rack.probe.is_none() && !rack.probe_due && rack.is_sampled;
        let is_tail = segments > 0 && rack.history.sacked() == 0 && !self.is_repairing();
        rack.probe_at = if is_free && is_tail {
            let max_ack_delay = config.delayed_ack.unwrap_or_default();
            let timeout = probe::timeout(self.rtt.smoothed(), segments, max_ack_delay);
            now.saturating_add(timeout).min(rack.rto_at)
        } else {
            Time::NEVER
        };
    }

    /// Runs the timers that are due.
    pub(super) fn on_rack_timer(&mut self, config: &TcpConfig, now: Time) {
        let Some(mut rack) = self.take_rack() else { return };
        if now >= rack.reordering_at {
            self.detect_by_rack(config, now, &mut rack);
        }
        if now >= rack.probe_at {
            (rack.probe_at, rack.probe_due) = (Time::NEVER, true);
            rack.rto_at = self.timeout_from(now);
            self.phase = Phase::Disorder;
        }
        if now >= rack.rto_at {
            self.time_out_by_rack(config, now, &mut rack);
        }
        self.set_rack(rack);
    }

    /// Handles a retransmission timeout: the first segment is lost, and those that have had their
    /// time (section 6.3).
    fn time_out_by_rack(&mut self, config: &TcpConfig, now: Time, rack: &mut Rack) {
        let Rack { history, detector, .. } = &mut *rack;
        let window = detector.window(&self.conditions(config, history));
        history.mark_on_timeout(|sent| detector.is_overdue(now, window, sent));
        self.on_timeout(config, now);
        rack.reset_probe();
        (rack.retransmit_head, rack.reduced_at) = (true, now);
        (rack.rto_at, rack.reordering_at) = (self.deadline, Time::NEVER);
    }

    /// Next segment: a probe, a retransmission, or new data.
    pub(super) fn next_by_rack(&mut self, config: &TcpConfig, now: Time) -> Option<Segment> {
        if let Some(segment) = self.next_lost_by_rack(config, now) {
            return Some(segment);
        }
        if self.phase != Phase::Tracked && !self.can_send_by_rack(config) {
            return None;
        }
        let pipe = self.pipe_by_rack();
        self.new_data_by_rack(config, now, pipe)
    }

    /// A probe that is due, or the next lost segment.
    pub(super) fn next_lost_by_rack(&mut self, config: &TcpConfig, now: Time) -> Option<Segment> {
        let fits = self.pipe_by_rack() + u64::from(config.mss) <= self.congestion.cwnd;
        let rack = self.rack_mut()?;
        if mem::take(&mut rack.probe_due) {
            return self.send_probe(config, now);
        }
        if rack.history.lost() == 0 || !(fits || rack.retransmit_head) {
            return None;
        }
        rack.retransmit_head = false;
        let bytes = rack.history.retransmit_lost(now)?;
        let restarts = self.phase == Phase::Recovery;
        Some(self.retransmit_by_rack(now, bytes.start, bytes.end, restarts))
    }

    /// Sends a probe: new data, whatever the congestion window, or else the last segment again
    /// (section 7.3).
    fn send_probe(&mut self, config: &TcpConfig, now: Time) -> Option<Segment> {
        let new_data = self.new_data_by_rack(config, now, 0);
        let end = self.nxt;
        let rack = self.rack_mut()?;
        rack.probe_at = Time::NEVER;
        rack.is_sampled = false;
        rack.probe = Some(Probe { end, is_retransmission: new_data.is_none() });
        if new_data.is_some() {
            self.deadline = rack.deadline();
            return new_data;
        }
        let bytes = rack.history.retransmit_last(now)?;
        Some(self.retransmit_by_rack(now, bytes.start, bytes.end, false))
    }

    fn retransmit_by_rack(&mut self, now: Time, start: u64, end: u64, restarts: bool) -> Segment {
        self.record_sent(now);
        self.recovery.get_or_insert_default().counters.retransmitted += 1;
        let timeout = self.timeout_from(now);
        if let Some(rack) = self.rack_mut() {
            if restarts {
                rack.rto_at = timeout;
            }
            self.deadline = rack.deadline();
        }
        data(start, end - start, now)
    }

    /// A segment of new data, if the windows allow it.
    fn new_data_by_rack(&mut self, config: &TcpConfig, now: Time, pipe: u64) -> Option<Segment> {
        let segment = self.new_data(config, now, pipe)?;
        let mut rack = self.take_rack()?;
        rack.history.push(segment.seq..self.nxt, now);
        if rack.rto_at == Time::NEVER {
            rack.rto_at = self.timeout_from(now);
        }
        self.schedule_probe(config, now, &mut rack);
        self.set_rack(rack);
        Some(segment)
    }

    /// True if new data may be sent: nothing waits for a retransmission, and the window exceeds
    /// pipe by a segment.
    pub(super) fn can_send_by_rack(&self, config: &TcpConfig) -> bool {
        let nothing_waits = |rack: &Rack| rack.history.lost() == 0 && !rack.probe_due;
        self.rack().is_some_and(nothing_waits)
            && self.pipe_by_rack() + u64::from(config.mss) <= self.congestion.cwnd
    }

    fn pipe_by_rack(&self) -> u64 {
        let flight = self.nxt - self.una;
        self.rack().map_or(flight, |rack| rack.pipe(flight))
    }
}

/// The window's growth by an acknowledgement.
#[derive(Clone, Copy, Debug)]
struct Growth {
    now: Time,
    /// Bytes delivered.
    bytes: u64,
    /// Bytes in the network before it.
    pipe: u64,
}

#[cfg(test)]
mod tests;
