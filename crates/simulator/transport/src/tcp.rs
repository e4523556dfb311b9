//! A TCP connection.

use heddle_units::Time;

use crate::{
    Agreed, ConnectionCounters, Receiver, Segment, Sender, SenderCounters, SenderState, TcpConfig,
};

/// A TCP connection: sender and receiver.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct TcpConnection {
    sender: Sender,
    receiver: Receiver,
}

impl TcpConnection {
    pub(crate) fn new(config: &TcpConfig) -> TcpConnection {
        TcpConnection { sender: Sender::new(config), receiver: Receiver::new() }
    }

    pub(crate) fn write(&mut self, now: Time, bytes: u64) {
        self.sender.write(now, bytes);
    }

    pub(crate) fn written(&self) -> u64 {
        self.sender.written()
    }

    pub(crate) fn acked(&self) -> u64 {
        self.sender.acked()
    }

    #[inline]
    pub(crate) fn delivered(&self) -> u64 {
        self.receiver.delivered()
    }

    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.sender.is_idle()
    }

    #[inline]
    pub(crate) fn on_ack(&mut self, config: &TcpConfig, now: Time, _: usize, ack: &Segment) {
        self.sender.on_segment(config, now, ack);
    }

    #[inline]
    pub(crate) fn on_segment(
        &mut self,
        config: &TcpConfig,
        now: Time,
        _: usize,
        segment: &Segment,
    ) -> Option<Segment> {
        self.receiver.on_segment(config, now, segment)
    }

    #[inline]
    pub(crate) fn next_segment(
        &mut self,
        config: &TcpConfig,
        now: Time,
    ) -> Option<(usize, Segment)> {
        self.sender.next_segment(config, now).map(|segment| (0, segment))
    }

    pub(crate) fn set_queue_full(&mut self, is_full: bool) {
        self.sender.set_queue_full(is_full);
    }

    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        self.sender.deadline()
    }

    #[inline]
    pub(crate) fn on_timer(&mut self, config: &TcpConfig, now: Time) {
        self.sender.on_timer(config, now);
    }

    #[inline]
    pub(crate) fn ack_deadline(&self) -> Time {
        self.receiver.deadline()
    }

    #[inline]
    pub(crate) fn on_ack_timer(
        &mut self,
        config: &TcpConfig,
        now: Time,
    ) -> Option<(usize, Segment)> {
        self.receiver.on_timer(config, now).map(|segment| (0, segment))
    }

    #[inline]
    pub(crate) fn stream_offset(&self, segment: &Segment) -> u64 {
        segment.seq
    }

    pub(crate) fn counters(&self) -> ConnectionCounters {
        let sender = self.sender.counters();
        ConnectionCounters {
            segments: sender.segments,
            retransmitted: sender.retransmitted,
            timeouts: sender.timeouts,
            fast_recoveries: sender.fast_recoveries,
            reordered: self.receiver.reordered(),
            reinjected: 0,
            penalties: 0,
            refused_joins: 0,
        }
    }

    pub(crate) fn path_counters(&self, _: usize) -> SenderCounters {
        self.sender.counters()
    }

    pub(crate) fn sender_state(&self, path: usize) -> Option<SenderState> {
        (path == 0).then(|| self.sender.state())
    }

    pub(crate) fn agreed(&self, config: &TcpConfig) -> Agreed {
        Agreed { tcp: *config, data_seqs: None }
    }
}
