//! Probes: how a sender learns of lost packets before their timeout, where no switch trims.
//!
//! - While not all is acknowledged and no acknowledgement has come for three round trips (one and
//!   the target delay, if nothing new waits to be sent), the client sends a **probe**, a data packet
//!   without payload, and another each five round trips.
//! - The server answers it at once with all that has arrived. If the probe met less delay than the
//!   target, packets that were sent before it and have not arrived are lost: they go again, and the
//!   window stays.
//!
//! Rules and constants are those of the public uet-htsim (SLEEK). Its other rule, losses by the
//! number of packets out of order, is left out.

use heddle_units::Time;

use super::UetParameters;
use crate::{Kind, Segment, Timestamp};

/// Round trips without an acknowledgement before the first probe, and between two.
const FIRST: u64 = 3;
const NEXT: u64 = 5;

/// True for a probe.
pub(super) fn is_probe(segment: &Segment) -> bool {
    segment.kind == Kind::Data && segment.len == 0
}

/// A sender's probes.
#[derive(Clone, Debug)]
pub(super) struct Probes {
    /// Time of the next.
    at: Time,
    /// True if one is to be sent.
    is_due: bool,
    /// Time at which the last was sent.
    sent_at: Time,
}

impl Probes {
    pub(super) fn new() -> Probes {
        Probes { at: Time::NEVER, is_due: false, sent_at: Time::NEVER }
    }

    pub(super) fn at(&self) -> Time {
        self.at
    }

    pub(super) fn is_due(&self) -> bool {
        self.is_due
    }

    /// All is acknowledged.
    pub(super) fn stop(&mut self) {
        *self = Probes { sent_at: self.sent_at, ..Probes::new() };
    }

    /// An acknowledgement has come, but not of all; more may wait to be sent.
    pub(super) fn start(&mut self, parameters: &UetParameters, now: Time, more_waits: bool) {
        let after = match more_waits {
            true => parameters.base_rtt * FIRST,
            false => parameters.base_rtt + parameters.target_delay,
        };
        (self.at, self.is_due) = (now + after, false);
    }

    pub(super) fn on_timer(&mut self, parameters: &UetParameters, now: Time) {
        if self.at <= now {
            (self.at, self.is_due) = (now + parameters.base_rtt * NEXT, true);
        }
    }

    /// The probe that is due, behind `next` bytes.
    pub(super) fn send(&mut self, now: Time, next: u64) -> Segment {
        (self.is_due, self.sent_at) = (false, now);
        Segment { seq: next, timestamp: Timestamp::at(now), ..Segment::default() }
    }

    /// The time at which the probe was sent that is answered, if it was the last.
    pub(super) fn answered(&self, answer: &Segment) -> Option<Time> {
        let is_it = answer.window > 0 && Timestamp::at(self.sent_at) == answer.timestamp;
        is_it.then_some(self.sent_at)
    }
}

#[cfg(test)]
mod tests;
