//! A UET connection.

use heddle_units::Time;

use super::UetParameters;
use super::rccc::Grants;
use super::receiver::UetReceiver;
use super::sender::UetSender;
use crate::{ConnectionCounters, Kind, Segment, SenderCounters, SenderState};

/// A UET connection: sender and receiver.
#[derive(Clone, Debug)]
pub(crate) struct UetConnection {
    sender: UetSender,
    receiver: UetReceiver,
    grants: Grants,
}

impl UetConnection {
    pub(crate) fn new(parameters: &UetParameters) -> UetConnection {
        let (receiver, grants) = Default::default();
        UetConnection { sender: UetSender::new(parameters), receiver, grants }
    }

    pub(crate) fn write(&mut self, bytes: u64) {
        self.sender.write(bytes);
    }

    pub(crate) fn written(&self) -> u64 {
        self.sender.written()
    }

    pub(crate) fn acked(&self) -> u64 {
        self.sender.acked()
    }

    pub(crate) fn delivered(&self) -> u64 {
        self.receiver.delivered()
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.sender.is_idle()
    }

    pub(crate) fn can_send(&self, parameters: &UetParameters) -> bool {
        self.sender.can_send(parameters)
    }

    pub(crate) fn on_ack(
        &mut self,
        parameters: &UetParameters,
        now: Time,
        _: usize,
        answer: &Segment,
    ) {
        self.sender.on_answer(parameters, now, answer);
    }

    pub(crate) fn on_segment(
        &mut self,
        parameters: &UetParameters,
        _: Time,
        _: usize,
        segment: &Segment,
    ) -> Option<Segment> {
        let is_request = segment.kind == Kind::Request;
        if let Some(demand) = segment.options.demand() {
            self.grants.on_demand(demand, is_request);
        }
        if is_request { None } else { self.receiver.on_segment(parameters, segment) }
    }

    pub(crate) fn wants_credit(&self) -> bool {
        self.grants.are_due()
    }

    pub(crate) fn grant(&mut self, parameters: &UetParameters) -> (Segment, u64) {
        let (bytes, granted) = self.grants.next(parameters);
        (Segment { kind: Kind::Credit, seq: granted, ..Segment::default() }, bytes)
    }

    pub(crate) fn next_segment(
        &mut self,
        parameters: &UetParameters,
        now: Time,
    ) -> Option<(usize, Segment)> {
        self.sender.next_segment(parameters, now).map(|segment| (0, segment))
    }

    pub(crate) fn deadline(&self) -> Time {
        self.sender.deadline()
    }

    pub(crate) fn on_timer(&mut self, parameters: &UetParameters, now: Time) {
        self.sender.on_timer(parameters, now);
    }

    /// No acknowledgement waits for a timer: the sender requests those for which it waits.
    pub(crate) fn ack_deadline(&self) -> Time {
        Time::NEVER
    }

    pub(crate) fn on_ack_timer(&mut self, _: &UetParameters, _: Time) -> Option<(usize, Segment)> {
        None
    }

    pub(crate) fn stream_offset(&self, segment: &Segment) -> u64 {
        segment.seq
    }

    pub(crate) fn counters(&self) -> ConnectionCounters {
        let SenderCounters { segments, retransmitted, timeouts, fast_recoveries } =
            self.sender.counters();
        let reordered = self.receiver.reordered();
        ConnectionCounters {
            segments,
            retransmitted,
            timeouts,
            fast_recoveries,
            reordered,
            ..ConnectionCounters::default()
        }
    }

    pub(crate) fn path_counters(&self, _: usize) -> SenderCounters {
        self.sender.counters()
    }

    pub(crate) fn sender_state(&self, path: usize) -> Option<SenderState> {
        (path == 0).then(|| self.sender.state())
    }
}
