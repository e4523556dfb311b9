//! The receiver: reassembles the stream and acknowledges it.
//!
//! - An acknowledgement is sent at once, or with `delayed_ack` for every second full segment and
//!   after the delay at the latest (RFC 5681 section 4.2). A segment that is out of order, fills a
//!   gap or is a duplicate is acknowledged at once.
//! - It echoes the timestamp of the earliest segment that it acknowledges (RFC 7323 section 4.3).
//! - With RACK-TLP it reports a segment that has arrived before (DSACK, RFC 2883): the sender
//!   learns that its retransmission was not needed.
//! - ECN: with DCTCP each CE mark is echoed once, and a change of the CE state sends the
//!   acknowledgement delayed under the old state (RFC 8257 section 3.2); the segment that brings
//!   the change is delayed like any other, as in the DCTCP paper, unless nothing was delayed.
//!   Otherwise ECE is set until the sender sets CWR (RFC 3168 section 6.1.3).
//! - The application reads bytes as soon as they are in order, so the advertised window never
//!   shrinks. Data beyond it is dropped.

mod reassembly;

use alloc::boxed::Box;
use core::ops::Range;

use heddle_units::Time;

use crate::{Control, Ecn, Kind, LossDetection, Recovery, Segment, TcpConfig, Timestamp};
use reassembly::Reassembly;

/// The receiver of a connection.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// The next byte of the stream.
    next: u64,
    /// Number of the last acknowledgement sent.
    acked: u64,
    /// Time at which a delayed acknowledgement is due; [`Time::NEVER`] if there is none.
    deadline: Time,
    /// Timestamp to echo.
    timestamp: Timestamp,
    /// Timestamp of the segment with the highest sequence number so far.
    newest: Timestamp,
    /// True while acknowledgements carry ECE.
    echo: bool,
    /// Out-of-order data; allocated with the first out-of-order segment.
    reassembly: Option<Box<Reassembly>>,
}

impl Default for Receiver {
    fn default() -> Receiver {
        Receiver::new()
    }
}

impl Receiver {
    /// A receiver without data. It accepts data without a handshake.
    pub fn new() -> Receiver {
        Receiver {
            next: 0,
            acked: 0,
            deadline: Time::NEVER,
            timestamp: Timestamp::default(),
            newest: Timestamp::default(),
            echo: false,
            reassembly: None,
        }
    }

    /// Handles a SYN, data or the third packet of a join, and returns the acknowledgement unless it
    /// is delayed.
    #[inline]
    pub fn on_segment(
        &mut self,
        config: &TcpConfig,
        now: Time,
        segment: &Segment,
    ) -> Option<Segment> {
        match segment.kind {
            Kind::Data => self.on_data(config, now, segment),
            Kind::Syn => Some(syn_ack(config, segment)),
            Kind::HandshakeAck => {
                self.timestamp = segment.timestamp;
                Some(self.ack(config))
            }
            Kind::SynAck
            | Kind::Ack
            | Kind::Trimmed
            | Kind::Nack
            | Kind::Request
            | Kind::Credit => None,
        }
    }

    #[inline]
    fn on_data(&mut self, config: &TcpConfig, now: Time, segment: &Segment) -> Option<Segment> {
        let echo = self.echo_after(config, segment);
        let changed = echo != self.echo && config.control == Control::Dctcp;
        let earlier = if changed && self.acked < self.next { Some(self.ack(config)) } else { None };
        self.echo = echo;

        if segment.seq <= self.acked {
            self.timestamp = segment.timestamp;
        }
        let in_order = segment.seq == self.next && !self.has_gaps();
        if in_order {
            self.next += u64::from(segment.len);
            self.newest = segment.timestamp;
        } else if let Some(duplicate) = self.on_out_of_order(config, segment) {
            return Some(self.ack(config).with_duplicate(&duplicate));
        }
        let at_once = !in_order || (changed && earlier.is_none());
        match config.delayed_ack {
            Some(delay) if !at_once && self.next - self.acked < 2 * u64::from(config.mss) => {
                self.deadline = self.deadline.min(now.saturating_add(delay));
                earlier
            }
            _ => Some(self.ack(config)),
        }
    }

    /// ECE state after `segment`.
    #[inline]
    fn echo_after(&self, config: &TcpConfig, segment: &Segment) -> bool {
        match config.control {
            Control::Dctcp => segment.ecn.is_marked(),
            Control::NewReno | Control::Cubic | Control::Coupled => {
                segment.ecn.is_marked() || (self.echo && !segment.ecn.is_cwr())
            }
        }
    }

    #[inline]
    fn has_gaps(&self) -> bool {
        self.reassembly.as_ref().is_some_and(|held| !held.is_empty())
    }

    /// Handles a segment that is not the next one. Returns its bytes if they have all arrived
    /// before and the sender is to be told so.
    #[cold]
    fn on_out_of_order(&mut self, config: &TcpConfig, segment: &Segment) -> Option<Range<u64>> {
        let start = segment.seq.max(self.next);
        let end = segment.seq.saturating_add(u64::from(segment.len));
        let tells = config.loss_detection == LossDetection::Rack && segment.seq < end;
        if start >= end {
            return tells.then_some(segment.seq..end);
        }
        if end > self.next.saturating_add(u64::from(window(config))) {
            return None;
        }
        let held = self.reassembly.get_or_insert_default();
        if tells && held.contains(&(segment.seq..end)) {
            return Some(segment.seq..end);
        }
        if segment.seq >= held.highest().max(self.next) {
            self.newest = segment.timestamp;
        } else if !segment.timestamp.is_after(self.newest) {
            held.note_late(start..end);
        }
        self.next = held.insert(self.next, start..end);
        None
    }

    /// Acknowledgement of all data in order.
    #[inline]
    fn ack(&mut self, config: &TcpConfig) -> Segment {
        self.acked = self.next;
        self.deadline = Time::NEVER;
        let mut ack = Segment {
            seq: self.next,
            timestamp: self.timestamp,
            window: window(config),
            kind: Kind::Ack,
            ecn: if self.echo { Ecn::MARK } else { Ecn::NONE },
            ..Segment::default()
        };
        if config.recovery == Recovery::Sack
            && let Some(held) = &self.reassembly
        {
            ack.options = held.report(self.next);
        }
        ack
    }

    /// Returns the delayed acknowledgement once [`Receiver::deadline`] has passed.
    #[inline]
    pub fn on_timer(&mut self, config: &TcpConfig, now: Time) -> Option<Segment> {
        if now >= self.deadline { Some(self.ack(config)) } else { None }
    }

    /// Time at which [`Receiver::on_timer`] is due; [`Time::NEVER`] if no timer runs.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// Bytes received in order.
    #[inline]
    pub fn delivered(&self) -> u64 {
        self.next
    }

    /// Reordered data segments: those below the highest sequence number so far that carry new bytes
    /// and whose timestamp is not later than that of the highest segment, which excludes
    /// retransmissions.
    pub fn reordered(&self) -> u64 {
        self.reassembly.as_ref().map_or(0, |held| held.late())
    }
}

/// SYN/ACK for `syn`.
fn syn_ack(config: &TcpConfig, syn: &Segment) -> Segment {
    Segment {
        kind: Kind::SynAck,
        timestamp: syn.timestamp,
        window: window(config),
        ..Segment::default()
    }
}

/// Advertised window: the configured one, limited to the range of the field.
#[inline]
fn window(config: &TcpConfig) -> u32 {
    u32::try_from(config.receive_window.0).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
