//! Interface of a connection, client and server together, for any transport protocol.

use heddle_units::Time;

use crate::{Agreed, Receiver, Segment, Sender, SenderCounters, SenderState, TcpConfig};

/// Counters of a connection, both ends together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionCounters {
    /// Segments sent by the client: SYNs, data and retransmissions.
    pub segments: u64,
    /// Retransmissions on the same subflow, SYNs included.
    pub retransmitted: u64,
    /// Retransmission timeouts, those of SYNs included.
    pub timeouts: u64,
    /// Entries into fast recovery.
    pub fast_recoveries: u64,
    /// Data segments delivered after a later one of the same subflow (reordering).
    pub reordered: u64,
    /// MPTCP: bytes reinjected on another subflow, after a timeout or because the receive window was full.
    pub reinjected: u64,
    /// MPTCP: halvings of the window of a subflow for which a full receive window waited.
    pub penalties: u64,
    /// MPTCP: SYNs of joins that met no connection at the server, or one whose keys it did not know yet. They are not answered.
    pub refused_joins: u64,
}

/// A connection: the client, which sends data, and the server, which receives it. Its paths are numbered from 0.
///
/// The caller's loop, after any input: send what [`Connection::next_segment`] returns until it returns `None`; call
/// [`Connection::on_timer`] once [`Connection::deadline`] has passed, and [`Connection::on_ack_timer`] once
/// [`Connection::ack_deadline`] has.
pub trait Connection: Sized {
    /// Parameters. They are shared by connections, and each connection must always be given the same ones.
    type Config: Clone;

    /// Number of paths of a connection, at least 1.
    fn paths(config: &Self::Config) -> usize;

    /// Returns a closed connection. `random` supplies bits for keys and nonces; TCP uses none.
    fn new(config: &Self::Config, random: impl FnMut() -> u64) -> Self;

    /// As [`Connection::new`], for a connection of a group, where connections are of several protocols ([`crate::MixedConnection`]). Of one
    /// protocol all groups are alike.
    fn of_group(config: &Self::Config, group: u16, random: impl FnMut() -> u64) -> Self {
        let _ = group;
        Self::new(config, random)
    }

    /// Appends `bytes` to the stream, which opens the connection if it is closed.
    fn write(&mut self, now: Time, bytes: u64);

    /// Bytes written.
    fn written(&self) -> u64;

    /// Bytes of the stream acknowledged to the client.
    fn acked(&self) -> u64;

    /// Bytes received in order by the server.
    fn delivered(&self) -> u64;

    /// True if all data written is acknowledged, on every path that carried it.
    fn is_idle(&self) -> bool;

    /// Handles an acknowledgement (ACK or SYN/ACK) that arrived at the client on `path`.
    fn on_ack(&mut self, config: &Self::Config, now: Time, path: usize, ack: &Segment);

    /// Handles a segment that arrived at the server on `path`. Returns the acknowledgement, to be sent on the same path, unless it is
    /// delayed.
    fn on_segment(
        &mut self,
        config: &Self::Config,
        now: Time,
        path: usize,
        segment: &Segment,
    ) -> Option<Segment>;

    /// Next segment of the client and its path; `None` if nothing may be sent now.
    fn next_segment(&mut self, config: &Self::Config, now: Time) -> Option<(usize, Segment)>;

    /// Time at which [`Connection::on_timer`] is due; [`Time::NEVER`] if no timer runs.
    fn deadline(&self) -> Time;

    /// Runs the client's timers that are due.
    fn on_timer(&mut self, config: &Self::Config, now: Time);

    /// Time at which [`Connection::on_ack_timer`] is due; [`Time::NEVER`] if no timer runs.
    fn ack_deadline(&self) -> Time;

    /// Returns a delayed acknowledgement that is due, and its path. Call until it returns `None`.
    fn on_ack_timer(&mut self, config: &Self::Config, now: Time) -> Option<(usize, Segment)>;

    /// Offset in the stream of a data segment's first byte.
    fn stream_offset(&self, segment: &Segment) -> u64;

    /// Counters so far.
    fn counters(&self) -> ConnectionCounters;

    /// Counters of the sender of a path; zeros for one that has not been opened.
    fn path_counters(&self, path: usize) -> SenderCounters;

    /// State of the client's sender on a path; `None` of a path that has not opened.
    fn sender_state(&self, path: usize) -> Option<SenderState>;

    /// What both ends agreed on.
    fn agreed(&self, config: &Self::Config) -> Agreed;

    /// Writes the TCP options of `segment` that a switch would read, those of MPTCP handshakes, into `area`, and returns their length; 0
    /// for a segment without.
    fn options(config: &Self::Config, segment: &Segment, area: &mut [u8; 40]) -> usize {
        let _ = (config, segment, area);
        0
    }
}

/// A TCP connection: sender and receiver.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct TcpConnection {
    sender: Sender,
    receiver: Receiver,
}

impl Connection for TcpConnection {
    type Config = TcpConfig;

    fn paths(_: &TcpConfig) -> usize {
        1
    }

    fn new(config: &TcpConfig, _: impl FnMut() -> u64) -> TcpConnection {
        TcpConnection { sender: Sender::new(config), receiver: Receiver::new() }
    }

    fn write(&mut self, now: Time, bytes: u64) {
        self.sender.write(now, bytes);
    }

    fn written(&self) -> u64 {
        self.sender.written()
    }

    fn acked(&self) -> u64 {
        self.sender.acked()
    }

    #[inline]
    fn delivered(&self) -> u64 {
        self.receiver.delivered()
    }

    #[inline]
    fn is_idle(&self) -> bool {
        self.sender.is_idle()
    }

    #[inline]
    fn on_ack(&mut self, config: &TcpConfig, now: Time, _: usize, ack: &Segment) {
        self.sender.on_segment(config, now, ack);
    }

    #[inline]
    fn on_segment(
        &mut self,
        config: &TcpConfig,
        now: Time,
        _: usize,
        segment: &Segment,
    ) -> Option<Segment> {
        self.receiver.on_segment(config, now, segment)
    }

    #[inline]
    fn next_segment(&mut self, config: &TcpConfig, now: Time) -> Option<(usize, Segment)> {
        self.sender.next_segment(config, now).map(|segment| (0, segment))
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.sender.deadline()
    }

    #[inline]
    fn on_timer(&mut self, config: &TcpConfig, now: Time) {
        self.sender.on_timer(config, now);
    }

    #[inline]
    fn ack_deadline(&self) -> Time {
        self.receiver.deadline()
    }

    #[inline]
    fn on_ack_timer(&mut self, config: &TcpConfig, now: Time) -> Option<(usize, Segment)> {
        self.receiver.on_timer(config, now).map(|segment| (0, segment))
    }

    #[inline]
    fn stream_offset(&self, segment: &Segment) -> u64 {
        segment.seq
    }

    fn counters(&self) -> ConnectionCounters {
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

    fn path_counters(&self, _: usize) -> SenderCounters {
        self.sender.counters()
    }

    fn sender_state(&self, path: usize) -> Option<SenderState> {
        (path == 0).then(|| self.sender.state())
    }

    fn agreed(&self, config: &TcpConfig) -> Agreed {
        Agreed { tcp: *config, data_seqs: None }
    }
}
