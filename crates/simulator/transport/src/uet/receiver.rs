//! The server of a UET connection.

use alloc::collections::VecDeque;

use super::UetParameters;
use super::probes::is_probe;
use crate::{Ecn, Kind, Options, Segment, Timestamp};

/// Packets of an acknowledgement's bitmap.
pub(super) const BITMAP: u64 = 64;

/// Packets that have arrived, and those to be acknowledged.
#[derive(Clone, Debug, Default)]
pub(super) struct UetReceiver {
    /// Number of the first packet that has not arrived.
    expected: u64,
    /// Bytes of the packets before it.
    delivered: u64,
    /// Payload bytes of the packets from `expected` on; 0 of one that has not arrived.
    held: VecDeque<u16>,
    /// Packets that have arrived since the last acknowledgement.
    unacknowledged: u8,
    /// True if the sender waits for an acknowledgement of all that it has sent.
    is_requested: bool,
    /// The packet after the highest that has arrived, and that one's time stamp.
    highest: u64,
    newest: Timestamp,
    reordered: u64,
}

impl UetReceiver {
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    pub(super) fn reordered(&self) -> u64 {
        self.reordered
    }

    /// Handles a packet; returns its acknowledgement, or a NACK of one whose payload was cut off.
    pub(super) fn on_segment(
        &mut self,
        parameters: &UetParameters,
        segment: &Segment,
    ) -> Option<Segment> {
        let number = segment.data_seq;
        match segment.kind {
            _ if is_probe(segment) => Some(self.answer_probe(segment)),
            _ if self.has(number) => Some(self.answer(Kind::Ack, segment)),
            Kind::Trimmed => Some(self.answer(Kind::Nack, segment)),
            Kind::Data => {
                self.hold(number, segment);
                let is_due = self.is_due(parameters, segment);
                is_due.then(|| self.answer(Kind::Ack, segment))
            }
            _ => None,
        }
    }

    fn has(&self, number: u64) -> bool {
        let place = |place: u64| self.held.get(place as usize).is_some_and(|len| *len > 0);
        number.checked_sub(self.expected).is_none_or(place)
    }

    fn hold(&mut self, number: u64, segment: &Segment) {
        self.note_order(number, segment.timestamp);
        let place = (number - self.expected) as usize;
        if place >= self.held.len() {
            self.held.resize(place + 1, 0);
        }
        self.held[place] = segment.len;
        while let Some(len @ 1..) = self.held.front().copied() {
            self.held.pop_front();
            self.delivered += u64::from(len);
            self.expected += 1;
        }
    }

    /// Counts a packet that a later one has overtaken, unless it has been sent again.
    fn note_order(&mut self, number: u64, timestamp: Timestamp) {
        if number >= self.highest {
            (self.highest, self.newest) = (number + 1, timestamp);
        } else if !timestamp.is_after(self.newest) {
            self.reordered += 1;
        }
    }

    /// True if an acknowledgement is due: of a mark, of enough packets, or of all those that the
    /// sender waits for.
    fn is_due(&mut self, parameters: &UetParameters, segment: &Segment) -> bool {
        self.unacknowledged += 1;
        self.is_requested |= segment.window > 0;
        segment.ecn.is_marked()
            || segment.window > 0
            || self.unacknowledged >= parameters.packets_per_ack
            || (self.is_requested && self.held.is_empty())
    }

    /// The answer to a packet.
    fn answer(&mut self, kind: Kind, to: &Segment) -> Segment {
        if kind == Kind::Ack {
            self.unacknowledged = 0;
            self.is_requested &= !self.held.is_empty();
        }
        Segment {
            seq: self.delivered,
            data_seq: to.data_seq,
            timestamp: to.timestamp,
            options: Options::Received(self.bitmap(to.data_seq)),
            kind,
            window: if kind == Kind::Nack { to.window } else { 0 },
            ecn: if to.ecn.is_marked() { Ecn::MARK } else { Ecn::NONE },
            ..Segment::default()
        }
    }

    /// The answer to a probe: of all in order, and of the packets behind it.
    fn answer_probe(&mut self, probe: &Segment) -> Segment {
        let last = self.expected + BITMAP - 1;
        Segment { window: 1, ..self.answer(Kind::Ack, &Segment { data_seq: last, ..*probe }) }
    }

    fn bitmap(&self, last: u64) -> [u32; 2] {
        let bit = |behind: u64| last.checked_sub(behind).is_some_and(|number| self.has(number));
        let bits =
            (0..BITMAP).filter(|behind| bit(*behind)).fold(0, |bits, bit| bits | 1u64 << bit);
        [bits as u32, (bits >> 32) as u32]
    }
}
