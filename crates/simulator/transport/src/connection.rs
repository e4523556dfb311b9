//! A connection, client and server together, of TCP, MPTCP or UET.

use heddle_units::{Bytes, Time};

use crate::mptcp::{MptcpConnection, Parameters};
use crate::tcp::TcpConnection;
use crate::uet::{UetConnection, UetParameters};
use crate::{Agreed, ConnectionCounters, Options, Segment, SenderCounters, SenderState, TcpConfig};

/// Protocol and parameters of a group of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// TCP.
    Tcp(TcpConfig),
    /// MPTCP.
    Mptcp(Parameters),
    /// Ultra Ethernet's transport.
    Uet(UetParameters),
}

impl Group {
    /// Bytes that a path may have in its host's own queue; `None` without a limit.
    pub fn output_limit(&self) -> Option<Bytes> {
        match self {
            Group::Tcp(config) => config.output_limit,
            Group::Mptcp(parameters) => parameters.config.tcp.output_limit,
            Group::Uet(_) => None,
        }
    }

    /// True if servers grant credit ([`Connection::grant`]).
    pub fn grants_credit(&self) -> bool {
        matches!(self, Group::Uet(parameters) if parameters.control.grants_credit())
    }
}

/// A connection: the client, which sends data, and the server, which receives it. Its paths are
/// numbered from 0.
///
/// It is of one of several groups, whose parameters connections share; it must always be given the
/// same ones. Those of all groups must have one version of MPTCP, if any.
///
/// The caller's loop, after any input: send what [`Connection::next_segment`] returns until it
/// returns `None`; call [`Connection::on_timer`] once [`Connection::deadline`] has passed, and
/// [`Connection::on_ack_timer`] once [`Connection::ack_deadline`] has.
#[derive(Clone, Debug)]
pub struct Connection {
    group: u16,
    protocol: Protocol,
}

#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // A box would be one access to memory more for each packet.
enum Protocol {
    Tcp(TcpConnection),
    Mptcp(MptcpConnection),
    Uet(UetConnection),
}

/// Calls a method of a connection's protocol with its group's parameters; `$none` if the group has
/// another protocol, which none has.
macro_rules! of_protocol {
    ($connection:expr, $groups:expr, $none:expr, |$inner:ident, $config:ident| $call:expr) => {
        match (&mut $connection.protocol, $groups.get(usize::from($connection.group))) {
            (Protocol::Tcp($inner), Some(Group::Tcp($config))) => $call,
            (Protocol::Mptcp($inner), Some(Group::Mptcp($config))) => $call,
            (Protocol::Uet($inner), Some(Group::Uet($config))) => $call,
            _ => $none,
        }
    };
}

/// Calls a method without parameters.
macro_rules! of_either {
    ($connection:expr, |$inner:ident| $call:expr) => {
        match &$connection.protocol {
            Protocol::Tcp($inner) => $call,
            Protocol::Mptcp($inner) => $call,
            Protocol::Uet($inner) => $call,
        }
    };
}

impl Connection {
    /// Number of paths of a connection, at least 1: of groups the most.
    pub fn paths(groups: &[Group]) -> usize {
        let paths = |group: &Group| match group {
            Group::Tcp(_) | Group::Uet(_) => 1,
            Group::Mptcp(parameters) => MptcpConnection::paths(parameters),
        };
        groups.iter().map(paths).max().unwrap_or(1)
    }

    /// Returns a closed connection of a group. `random` supplies bits for keys and nonces; TCP uses
    /// none.
    pub fn new(groups: &[Group], group: u16, random: impl FnMut() -> u64) -> Connection {
        let protocol = match groups.get(usize::from(group)) {
            Some(Group::Mptcp(parameters)) => {
                Protocol::Mptcp(MptcpConnection::new(parameters, random))
            }
            Some(Group::Tcp(config)) => Protocol::Tcp(TcpConnection::new(config)),
            Some(Group::Uet(parameters)) => Protocol::Uet(UetConnection::new(parameters)),
            None => Protocol::Tcp(TcpConnection::new(&TcpConfig::default())),
        };
        Connection { group, protocol }
    }

    /// Appends `bytes` to the stream, which opens the connection if it is closed.
    #[inline]
    pub fn write(&mut self, now: Time, bytes: u64) {
        match &mut self.protocol {
            Protocol::Tcp(tcp) => tcp.write(now, bytes),
            Protocol::Mptcp(mptcp) => mptcp.write(now, bytes),
            Protocol::Uet(uet) => uet.write(bytes),
        }
    }

    /// Bytes written.
    #[inline]
    pub fn written(&self) -> u64 {
        of_either!(self, |inner| inner.written())
    }

    /// Bytes of the stream acknowledged to the client.
    #[inline]
    pub fn acked(&self) -> u64 {
        of_either!(self, |inner| inner.acked())
    }

    /// Bytes received in order by the server.
    #[inline]
    pub fn delivered(&self) -> u64 {
        of_either!(self, |inner| inner.delivered())
    }

    /// True if all data written is acknowledged, on every path that carried it.
    #[inline]
    pub fn is_idle(&self) -> bool {
        of_either!(self, |inner| inner.is_idle())
    }

    /// Handles an acknowledgement (ACK or SYN/ACK) that arrived at the client on `path`.
    #[inline]
    pub fn on_ack(&mut self, groups: &[Group], now: Time, path: usize, ack: &Segment) {
        of_protocol!(self, groups, (), |inner, config| inner.on_ack(config, now, path, ack));
    }

    /// Handles a segment that arrived at the server on `path`. Returns the acknowledgement, to be
    /// sent on the same path, unless it is delayed.
    #[inline]
    pub fn on_segment(
        &mut self,
        groups: &[Group],
        now: Time,
        path: usize,
        segment: &Segment,
    ) -> Option<Segment> {
        of_protocol!(self, groups, None, |inner, config| inner
            .on_segment(config, now, path, segment))
    }

    /// Next segment of the client and its path; `None` if nothing may be sent now.
    #[inline]
    pub fn next_segment(&mut self, groups: &[Group], now: Time) -> Option<(usize, Segment)> {
        of_protocol!(self, groups, None, |inner, config| inner.next_segment(config, now))
    }

    /// True if the sender waits for its link before each packet, as a NIC that builds packets does:
    /// the caller polls [`Connection::next_segment`] when the link is free. Others send at once,
    /// and their packets wait at the link.
    #[inline]
    pub fn waits_for_link(&self) -> bool {
        matches!(self.protocol, Protocol::Uet(_))
    }

    /// True if its packets may leave by any of its host's links, each when that link is free.
    /// Receivers grant credit for one of theirs.
    #[inline]
    pub fn spreads(&self, groups: &[Group]) -> bool {
        match groups.get(usize::from(self.group)) {
            Some(Group::Uet(parameters)) => !parameters.control.grants_credit(),
            _ => false,
        }
    }

    /// True if a sender that waits for its link has a packet that it may send now.
    #[inline]
    pub fn can_send(&self, groups: &[Group]) -> bool {
        match (&self.protocol, groups.get(usize::from(self.group))) {
            (Protocol::Uet(inner), Some(Group::Uet(parameters))) => inner.can_send(parameters),
            _ => false,
        }
    }

    /// True if the server has credit to grant ([`Connection::grant`]).
    #[inline]
    pub fn wants_credit(&self) -> bool {
        matches!(&self.protocol, Protocol::Uet(inner) if inner.wants_credit())
    }

    /// Grants credit: returns the server's packet, and the bytes that the client may send for it.
    /// The caller leaves them the time that they take on the server's link before it grants more,
    /// to any connection.
    pub fn grant(&mut self, groups: &[Group]) -> Option<(Segment, Bytes)> {
        match (&mut self.protocol, groups.get(usize::from(self.group))) {
            (Protocol::Uet(inner), Some(Group::Uet(parameters))) if inner.wants_credit() => {
                let (segment, bytes) = inner.grant(parameters);
                Some((segment, Bytes(bytes)))
            }
            _ => None,
        }
    }

    /// Bytes that a path may have in its host's own queue; `None` without a limit.
    #[inline]
    pub fn output_limit(&self, groups: &[Group]) -> Option<Bytes> {
        groups.get(usize::from(self.group))?.output_limit()
    }

    /// Holds new data of a path back while its host's own queue holds as much as it may, or ends
    /// that.
    pub fn set_queue_full(&mut self, groups: &[Group], path: usize, is_full: bool) {
        match (&mut self.protocol, groups.get(usize::from(self.group))) {
            (Protocol::Tcp(tcp), _) => tcp.set_queue_full(is_full),
            (Protocol::Mptcp(mptcp), Some(Group::Mptcp(parameters))) => {
                mptcp.set_queue_full(parameters, path, is_full);
            }
            _ => {}
        }
    }

    /// Time at which [`Connection::on_timer`] is due; [`Time::NEVER`] if no timer runs.
    #[inline]
    pub fn deadline(&self) -> Time {
        of_either!(self, |inner| inner.deadline())
    }

    /// Runs the client's timers that are due.
    #[inline]
    pub fn on_timer(&mut self, groups: &[Group], now: Time) {
        of_protocol!(self, groups, (), |inner, config| inner.on_timer(config, now));
    }

    /// Time at which [`Connection::on_ack_timer`] is due; [`Time::NEVER`] if no timer runs.
    #[inline]
    pub fn ack_deadline(&self) -> Time {
        of_either!(self, |inner| inner.ack_deadline())
    }

    /// Returns a delayed acknowledgement that is due, and its path. Call until it returns `None`.
    #[inline]
    pub fn on_ack_timer(&mut self, groups: &[Group], now: Time) -> Option<(usize, Segment)> {
        of_protocol!(self, groups, None, |inner, config| inner.on_ack_timer(config, now))
    }

    /// Offset in the stream of a data segment's first byte.
    #[inline]
    pub fn stream_offset(&self, segment: &Segment) -> u64 {
        of_either!(self, |inner| inner.stream_offset(segment))
    }

    /// Counters so far.
    pub fn counters(&self) -> ConnectionCounters {
        of_either!(self, |inner| inner.counters())
    }

    /// Counters of the sender of a path; zeros for one that has not been opened.
    pub fn path_counters(&self, path: usize) -> SenderCounters {
        of_either!(self, |inner| inner.path_counters(path))
    }

    /// State of the client's sender on a path; `None` of a path that has not opened.
    pub fn sender_state(&self, path: usize) -> Option<SenderState> {
        of_either!(self, |inner| inner.sender_state(path))
    }

    /// Terms that both ends agreed on.
    pub fn agreed(&self, groups: &[Group]) -> Agreed {
        match (&self.protocol, groups.get(usize::from(self.group))) {
            (Protocol::Mptcp(inner), Some(Group::Mptcp(config))) => inner.agreed(config),
            (Protocol::Tcp(inner), Some(Group::Tcp(config))) => inner.agreed(config),
            (Protocol::Uet(_), Some(Group::Uet(parameters))) => {
                Agreed { tcp: parameters.as_tcp(), data_seqs: None }
            }
            _ => Agreed { tcp: TcpConfig::default(), data_seqs: None },
        }
    }

    /// Writes the TCP options of `segment` that a switch would read, those of MPTCP handshakes,
    /// into `area`, and returns their length; 0 for a segment without.
    pub fn options(groups: &[Group], segment: &Segment, area: &mut [u8; 40]) -> usize {
        let Options::Mptcp(_) = segment.options else { return 0 };
        let mptcp = groups.iter().find_map(|group| match group {
            Group::Mptcp(parameters) => Some(parameters),
            Group::Tcp(_) | Group::Uet(_) => None,
        });
        mptcp.map_or(0, |parameters| MptcpConnection::options(parameters, segment, area))
    }
}
