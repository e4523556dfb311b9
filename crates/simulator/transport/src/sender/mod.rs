//! The sender: sends a stream within the congestion and receive windows, and recovers from losses.
//!
//! This file is the fast path without loss: handshake, new data, acknowledgements that advance.
//! Loss recovery is in [`loss_recovery`]; its state is allocated at the first sign of a loss. With
//! RACK-TLP, [`rack`] takes the place of both. [`pacing`] spreads segments over time, where it is
//! used.

mod loss_recovery;
mod pacing;
mod rack;
mod scoreboard;

use alloc::boxed::Box;
use core::mem;

use heddle_units::Time;

use crate::congestion::{Acked, CongestionControl, Gain, PathState};
use crate::rtt::Rtt;
use crate::{
    Ecn, Kind, LossDetection, Options, Segment, SenderCounters, SenderState, TcpConfig, Timestamp,
};
use loss_recovery::LossRecovery;

/// Connection and loss recovery state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Closed. A SYN is sent once there is data.
    Closed,
    /// A SYN is to be sent, with or without data.
    Opening,
    /// The SYN waits for its SYN/ACK.
    SynSent,
    /// Established, without a suspected loss.
    Open,
    /// As `Open`, with a record of each segment in flight, for RACK-TLP.
    Tracked,
    /// As `Open` or `Tracked`, after an idle period longer than the retransmission timeout.
    Idle,
    /// Data is missing: lost or reordered.
    Disorder,
    /// Fast recovery.
    Recovery,
    /// Retransmitting after a timeout.
    Loss,
}

/// Limits on sending beside the windows, as a set of flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Holds(u8);

impl Holds {
    /// Pacing holds the next segment back, until [`Sender::departure`].
    const PACING: u8 = 1;
    /// The host's own queue holds as much of this sender's as it may: no new data.
    const QUEUE: u8 = 2;

    #[inline]
    const fn has(self, hold: u8) -> bool {
        self.0 & hold != 0
    }

    #[inline]
    const fn set(&mut self, hold: u8, is_on: bool) {
        self.0 = if is_on { self.0 | hold } else { self.0 & !hold };
    }
}

/// The sender of a connection. The crate documentation shows the caller's loop.
///
/// Fields are in the order in which the fast path reads them; apart from the congestion window,
/// sending a segment touches the first cache line only.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Sender {
    /// SND.UNA: the first byte not acknowledged.
    una: u64,
    /// SND.NXT: the first byte not sent.
    nxt: u64,
    /// Bytes written to the stream.
    written: u64,
    /// Receive window of the peer beyond `una`.
    peer_window: u64,
    deadline: Time,
    last_sent: Time,
    /// The next acknowledgement beyond this byte gives an RTT sample: one for each window (RFC 6298
    /// section 3), although every acknowledgement carries a timestamp, because the estimator's
    /// gains assume that rate (RFC 7323 appendix G).
    rtt_seq: u64,
    phase: Phase,
    /// True if the next new segment carries CWR.
    cwr: bool,
    holds: Holds,
    /// Data segments still to be sent before pacing begins.
    unpaced: u8,
    /// Pacing: nanoseconds from the last segment to the next.
    gap: u32,
    rtt: Rtt,
    segments: u64,
    recovery: Option<Box<LossRecovery>>,
    congestion: CongestionControl,
    /// SND.NXT at the last reduction of the window: ECE for data below it causes no further
    /// reduction.
    cwr_end: u64,
}

impl Sender {
    /// A closed connection. It sends a SYN once there is data to send.
    pub fn new(config: &TcpConfig) -> Sender {
        Sender {
            una: 0,
            nxt: 0,
            written: 0,
            peer_window: 0,
            deadline: Time::NEVER,
            last_sent: Time::ZERO,
            rtt_seq: 0,
            phase: Phase::Closed,
            cwr: false,
            holds: Holds::default(),
            unpaced: pacing::UNPACED,
            gap: 0,
            rtt: Rtt::new(config),
            segments: 0,
            recovery: None,
            congestion: CongestionControl::new(config),
            cwr_end: 0,
        }
    }

    /// Appends `bytes` to the stream. The total saturates at 2^64 - 1.
    pub fn write(&mut self, now: Time, bytes: u64) {
        let silence = now.saturating_sub(self.last_sent);
        let is_open = matches!(self.phase, Phase::Open | Phase::Tracked);
        if is_open && self.is_idle() && silence > self.rtt.rto() {
            self.phase = Phase::Idle;
        }
        self.written = self.written.saturating_add(bytes);
    }

    /// Handles an ACK or SYN/ACK of the receiver. Unexpected segments are ignored.
    #[inline]
    pub fn on_segment(&mut self, config: &TcpConfig, now: Time, segment: &Segment) {
        let is_expected_ack = segment.kind == Kind::Ack
            && segment.options == Options::None
            && self.phase == Phase::Open;
        if is_expected_ack && self.una < segment.seq && segment.seq <= self.nxt {
            let acked = self.advance(config, now, segment);
            self.update_cwnd(&acked);
        } else {
            self.on_segment_slow_path(config, now, segment);
        }
    }

    #[cold]
    fn on_segment_slow_path(&mut self, config: &TcpConfig, now: Time, segment: &Segment) {
        match (segment.kind, self.phase) {
            (Kind::SynAck, Phase::SynSent) => self.on_syn_ack(config, now, segment),
            (Kind::Ack, Phase::Closed | Phase::Opening | Phase::SynSent) => {}
            (Kind::Ack, _) => match config.loss_detection {
                LossDetection::DupAck => self.on_ack_slow_path(config, now, segment),
                LossDetection::Rack => self.on_ack_by_rack(config, now, segment),
            },
            _ => {}
        }
    }

    /// Establishes the connection. After a retransmitted SYN the initial window is one segment (RFC
    /// 6928 section 2).
    fn on_syn_ack(&mut self, config: &TcpConfig, now: Time, segment: &Segment) {
        self.rtt.sample(config, segment.timestamp.elapsed(now));
        self.peer_window = u64::from(segment.window);
        self.phase = Phase::Open;
        self.deadline = Time::NEVER;
        if self.recovery.is_some() {
            self.congestion.on_timeout(u64::from(config.mss));
        }
        if config.loss_detection == LossDetection::Rack {
            self.start_rack();
        }
    }

    /// Advances SND.UNA and updates the RTT, the timer and the receive window.
    #[inline]
    fn advance_una(&mut self, config: &TcpConfig, now: Time, segment: &Segment) {
        self.una = segment.seq;
        self.peer_window = u64::from(segment.window);
        if self.una > self.rtt_seq {
            self.rtt_seq = self.nxt;
            self.rtt.sample(config, segment.timestamp.elapsed(now));
        }
        self.deadline = if self.una == self.nxt { Time::NEVER } else { self.timeout_from(now) };
    }

    /// [`Sender::advance_una`], recorded by congestion control.
    #[inline]
    fn advance(&mut self, config: &TcpConfig, now: Time, segment: &Segment) -> Acked {
        let (una, nxt) = (segment.seq, self.nxt);
        let (bytes, flight) = (una - self.una, nxt - self.una);
        self.advance_una(config, now, segment);
        let (mss, srtt, echo) =
            (u64::from(config.mss), self.rtt.smoothed(), segment.ecn.is_marked());
        let acked = Acked { now, bytes, flight, una, nxt, mss, srtt, echo };
        self.congestion.observe(&acked);
        acked
    }

    /// Grows the window if the sender was limited by it, or reduces it for ECE (RFC 3168 section
    /// 6.1.2).
    #[inline]
    fn update_cwnd(&mut self, acked: &Acked) {
        if acked.echo {
            self.on_ecn_echo(acked.flight, acked.mss);
        } else if acked.flight + acked.mss > self.congestion.cwnd {
            self.congestion.on_ack(acked);
        }
    }

    /// Reduces the window for ECE, once for each window of data.
    fn on_ecn_echo(&mut self, flight: u64, mss: u64) {
        if self.una > self.cwr_end {
            self.congestion.on_ecn(flight.min(self.congestion.cwnd), mss);
            self.start_cwr();
        }
    }

    fn start_cwr(&mut self) {
        self.cwr_end = self.nxt;
        self.cwr = true;
    }

    /// Next segment to send now; `None` if nothing may be sent. Call until it returns `None`.
    #[inline]
    pub fn next_segment(&mut self, config: &TcpConfig, now: Time) -> Option<Segment> {
        if let Some(pacing) = &config.pacing {
            return self.next_paced(config, pacing, now);
        }
        match self.phase {
            Phase::Open => self.new_data(config, now, self.nxt - self.una),
            _ => self.next_segment_slow_path(config, now),
        }
    }

    #[cold]
    fn next_segment_slow_path(&mut self, config: &TcpConfig, now: Time) -> Option<Segment> {
        match self.phase {
            Phase::Closed if self.written == 0 => None,
            Phase::Closed | Phase::Opening => Some(self.syn(now)),
            Phase::SynSent => None,
            Phase::Open => self.new_data(config, now, self.nxt - self.una),
            Phase::Idle => {
                self.congestion.on_idle(config);
                match config.loss_detection {
                    LossDetection::DupAck => {
                        self.phase = Phase::Open;
                        self.new_data(config, now, 0)
                    }
                    LossDetection::Rack => {
                        self.phase = Phase::Tracked;
                        self.next_by_rack(config, now)
                    }
                }
            }
            Phase::Tracked | Phase::Disorder | Phase::Recovery | Phase::Loss => {
                match config.loss_detection {
                    LossDetection::DupAck => self.next_in_recovery(config, now),
                    LossDetection::Rack => self.next_by_rack(config, now),
                }
            }
        }
    }

    fn syn(&mut self, now: Time) -> Segment {
        self.phase = Phase::SynSent;
        if let Some(recovery) = &mut self.recovery {
            recovery.counters.retransmitted += 1;
        }
        self.record_sent(now);
        Segment { kind: Kind::Syn, timestamp: Timestamp::at(now), ..Segment::default() }
    }

    /// Opens the connection before there is data.
    pub(crate) fn open(&mut self) {
        if self.phase == Phase::Closed {
            self.phase = Phase::Opening;
        }
    }

    /// True if a segment of new data could be sent now.
    #[inline]
    pub(crate) fn can_send(&self, config: &TcpConfig) -> bool {
        if self.holds != Holds::default() {
            return false;
        }
        match self.phase {
            Phase::Open => self.nxt - self.una + u64::from(config.mss) <= self.congestion.cwnd,
            Phase::Idle => true,
            Phase::Closed | Phase::Opening | Phase::SynSent => false,
            Phase::Tracked => self.can_send_by_rack(config),
            Phase::Disorder | Phase::Recovery | Phase::Loss => match config.loss_detection {
                LossDetection::DupAck => self.can_send_in_recovery(config),
                LossDetection::Rack => self.can_send_by_rack(config),
            },
        }
    }

    /// Holds new data back while the host's own queue holds as much of it as it may, or ends that.
    pub(crate) fn set_queue_full(&mut self, is_full: bool) {
        self.holds.set(Holds::QUEUE, is_full);
    }

    /// True during loss recovery, or while a loss is suspected.
    #[inline]
    pub(crate) fn is_recovering(&self) -> bool {
        matches!(self.phase, Phase::Disorder | Phase::Recovery | Phase::Loss)
    }

    /// Ignores the receive window until the next acknowledgement: with MPTCP the connection
    /// enforces it.
    #[inline]
    pub(crate) fn ignore_peer_window(&mut self) {
        self.peer_window = u64::MAX;
    }

    /// Current retransmission timeout.
    pub(crate) fn rto(&self) -> Time {
        self.rtt.rto()
    }

    /// A segment of new data, if the windows allow it with `pipe` bytes estimated to be in the
    /// network.
    #[inline]
    fn new_data(&mut self, config: &TcpConfig, now: Time, pipe: u64) -> Option<Segment> {
        let largest = u64::from(config.mss).min(self.peer_window);
        let len = largest.min(self.written - self.nxt);
        let flight = self.nxt - self.una + len;
        if len == 0 || pipe + len > self.congestion.cwnd || flight > self.peer_window {
            return None;
        }
        if self.holds.has(Holds::QUEUE) {
            return None;
        }
        let ecn = if mem::take(&mut self.cwr) { Ecn::CWR } else { Ecn::NONE };
        let segment = Segment { ecn, ..data(self.nxt, len, now) };
        self.nxt += len;
        self.record_sent(now);
        Some(segment)
    }

    #[inline]
    fn record_sent(&mut self, now: Time) {
        self.segments += 1;
        self.last_sent = now;
        if self.deadline == Time::NEVER {
            self.deadline = self.timeout_from(now);
        }
    }

    #[inline]
    fn timeout_from(&self, now: Time) -> Time {
        now.saturating_add(self.rtt.rto())
    }

    /// Runs the timers that are due: those of retransmission and pacing, and with RACK-TLP those of
    /// probes and of reordering. Calls before [`Sender::deadline`] do nothing.
    #[inline]
    pub fn on_timer(&mut self, config: &TcpConfig, now: Time) {
        self.release(now);
        if now >= self.deadline {
            self.on_deadline(config, now);
        }
    }

    #[cold]
    fn on_deadline(&mut self, config: &TcpConfig, now: Time) {
        match (config.loss_detection, self.phase) {
            (LossDetection::DupAck, _) | (_, Phase::SynSent) => self.on_timeout(config, now),
            (LossDetection::Rack, _) => self.on_rack_timer(config, now),
        }
    }

    /// Time at which [`Sender::on_timer`] is due; [`Time::NEVER`] if no timer runs.
    #[inline]
    pub fn deadline(&self) -> Time {
        match self.holds.has(Holds::PACING) {
            true => self.deadline.min(self.departure()),
            false => self.deadline,
        }
    }

    /// Bytes acknowledged.
    #[inline]
    pub fn acked(&self) -> u64 {
        self.una
    }

    /// Bytes written.
    #[inline]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Bytes sent and not acknowledged.
    #[inline]
    pub(crate) fn flight(&self) -> u64 {
        self.nxt - self.una
    }

    /// True if all data written is acknowledged.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.una == self.written
    }

    /// The congestion window in bytes.
    pub fn cwnd(&self) -> u64 {
        self.congestion.cwnd
    }

    /// Halves the congestion window of an MPTCP subflow that holds up its connection.
    pub(crate) fn penalise(&mut self, mss: u64) {
        self.congestion.penalise(mss);
    }

    /// True if the congestion window is past slow start.
    #[inline]
    pub(crate) fn in_congestion_avoidance(&self) -> bool {
        self.congestion.in_congestion_avoidance()
    }

    /// Sets the gain of a coupled congestion window.
    #[inline]
    pub(crate) fn set_gain(&mut self, gain: Gain) {
        self.congestion.set_gain(gain);
    }

    /// State that coupled congestion control reads of this subflow.
    #[inline]
    pub(crate) fn path_state(&self) -> PathState {
        self.congestion.path_state(self.rtt.smoothed())
    }

    /// The smoothed round-trip time; `None` before the first sample.
    pub fn srtt(&self) -> Option<Time> {
        Some(self.rtt.smoothed()).filter(|srtt| *srtt != Time::ZERO)
    }

    /// The windows, the round-trip time and the counters.
    pub fn state(&self) -> SenderState {
        SenderState {
            cwnd: self.congestion.cwnd,
            ssthresh: self.congestion.ssthresh(),
            srtt: self.srtt(),
            in_flight: self.nxt - self.una,
            acked: self.una,
            counters: self.counters(),
        }
    }

    /// Counters so far.
    pub fn counters(&self) -> SenderCounters {
        let recovery = self
            .recovery
            .as_ref()
            .map_or_else(SenderCounters::default, |recovery| recovery.counters);
        SenderCounters { segments: self.segments, ..recovery }
    }
}

/// A data segment of `len` bytes, no more than an MSS.
#[inline]
fn data(seq: u64, len: u64, now: Time) -> Segment {
    Segment {
        seq,
        len: len as u16,
        timestamp: Timestamp::at(now),
        kind: Kind::Data,
        ..Segment::default()
    }
}

#[cfg(test)]
mod tests;
