//! Both ends of a connection, as what drives them sees them, whichever the protocol.

use heddle_units::Time;

use crate::{Receiver, Segment, Sender, TcpConfig};

/// What both ends of a connection have counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionCounters {
    /// Segments that the client sent: SYNs, data and retransmissions.
    pub segments: u64,
    /// Of these, segments sent again on their subflow, SYNs included.
    pub retransmitted: u64,
    /// Retransmission timeouts, those of SYNs included.
    pub timeouts: u64,
    /// Times that fast recovery began.
    pub fast_recoveries: u64,
    /// Data segments that the network delivered behind a later one of their subflow.
    pub reordered: u64,
    /// MPTCP: bytes that a second subflow was given because the first was late with them.
    pub reinjected: u64,
}

/// A connection: the client's end, which sends, and the server's, which receives. It has one path or several, numbered from 0.
///
/// The loop that drives it, after any input: send what [`Connection::next_segment`] gives until it gives `None`; call
/// [`Connection::on_timer`] once [`Connection::deadline`] has passed, and [`Connection::on_ack_timer`] once [`Connection::ack_deadline`] has.
pub trait Connection: Sized {
    /// Parameters, which thousands of connections share; a connection must see the same ones always.
    type Config: Clone;

    /// Paths that a connection may use, at least 1.
    fn paths(config: &Self::Config) -> usize;

    /// A closed connection. `random` are bits for keys and nonces; TCP takes none.
    fn new(config: &Self::Config, random: impl FnMut() -> u64) -> Self;

    /// Makes the stream longer by `bytes`, which opens the connection if it is closed.
    fn write(&mut self, now: Time, bytes: u64);

    /// Bytes written.
    fn written(&self) -> u64;

    /// Bytes of the stream acknowledged to the client.
    fn acked(&self) -> u64;

    /// Bytes that the server has received in order, from the first.
    fn delivered(&self) -> u64;

    /// Whether everything written is acknowledged, on every path that carried it.
    fn is_idle(&self) -> bool;

    /// The client takes in an answer that came over `path`.
    fn on_ack(&mut self, config: &Self::Config, now: Time, path: usize, ack: &Segment);

    /// The server takes in a segment that came over `path`, and gives the answer, which goes back over the same, unless it is delayed.
    fn on_segment(
        &mut self,
        config: &Self::Config,
        now: Time,
        path: usize,
        segment: &Segment,
    ) -> Option<Segment>;

    /// The next segment of the client and its path, `None` if nothing may be sent now.
    fn next_segment(&mut self, config: &Self::Config, now: Time) -> Option<(usize, Segment)>;

    /// When [`Connection::on_timer`] is next needed; [`Time::NEVER`] if it is not.
    fn deadline(&self) -> Time;

    /// The client looks at the clock.
    fn on_timer(&mut self, config: &Self::Config, now: Time);

    /// When [`Connection::on_ack_timer`] is next needed; [`Time::NEVER`] if it is not.
    fn ack_deadline(&self) -> Time;

    /// The server looks at the clock: a delayed acknowledgement that is due, and its path. Ask until it gives `None`.
    fn on_ack_timer(&mut self, config: &Self::Config, now: Time) -> Option<(usize, Segment)>;

    /// What has been counted so far.
    fn counters(&self) -> ConnectionCounters;

    /// Writes the TCP options that a switch would read of `segment` into `area`, and gives their length: MPTCP's handshakes. 0 for
    /// a segment without.
    fn options(config: &Self::Config, segment: &Segment, area: &mut [u8; 40]) -> usize {
        let _ = (config, segment, area);
        0
    }
}

/// Both ends of a TCP connection.
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

    fn counters(&self) -> ConnectionCounters {
        let sender = self.sender.counters();
        ConnectionCounters {
            segments: sender.segments,
            retransmitted: sender.retransmitted,
            timeouts: sender.timeouts,
            fast_recoveries: sender.fast_recoveries,
            reordered: self.receiver.reordered(),
            reinjected: 0,
        }
    }
}
