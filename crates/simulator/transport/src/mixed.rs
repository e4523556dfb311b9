//! Connections of several protocols or parameters in one network, as of hosts that speak TCP beside others that speak MPTCP.

use alloc::vec::Vec;

use heddle_units::Time;

use crate::mptcp::{MptcpConnection, Parameters};
use crate::{
    Agreed, Connection, ConnectionCounters, Options, Segment, SenderCounters, SenderState,
    TcpConfig, TcpConnection,
};

/// Protocol and parameters of a group of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// TCP.
    Tcp(TcpConfig),
    /// MPTCP.
    Mptcp(Parameters),
}

/// A connection of one of several groups. Those of all groups must have one version of MPTCP, if any.
#[derive(Clone, Debug)]
pub struct MixedConnection {
    group: u16,
    protocol: Protocol,
}

#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // A box would be one access to memory more for each packet.
enum Protocol {
    Tcp(TcpConnection),
    Mptcp(MptcpConnection),
}

/// Calls a method of a connection's protocol with its group's parameters; `$none` if the group has another protocol, which none has.
macro_rules! of_protocol {
    ($connection:expr, $groups:expr, $none:expr, |$inner:ident, $config:ident| $call:expr) => {
        match (&mut $connection.protocol, $groups.get(usize::from($connection.group))) {
            (Protocol::Tcp($inner), Some(Group::Tcp($config))) => $call,
            (Protocol::Mptcp($inner), Some(Group::Mptcp($config))) => $call,
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
        }
    };
}

impl Connection for MixedConnection {
    type Config = Vec<Group>;

    fn paths(groups: &Vec<Group>) -> usize {
        let paths = |group: &Group| match group {
            Group::Tcp(config) => TcpConnection::paths(config),
            Group::Mptcp(parameters) => MptcpConnection::paths(parameters),
        };
        groups.iter().map(paths).max().unwrap_or(1)
    }

    fn new(groups: &Vec<Group>, random: impl FnMut() -> u64) -> MixedConnection {
        MixedConnection::of_group(groups, 0, random)
    }

    fn of_group(groups: &Vec<Group>, group: u16, random: impl FnMut() -> u64) -> MixedConnection {
        let protocol = match groups.get(usize::from(group)) {
            Some(Group::Mptcp(parameters)) => {
                Protocol::Mptcp(MptcpConnection::new(parameters, random))
            }
            Some(Group::Tcp(config)) => Protocol::Tcp(TcpConnection::new(config, random)),
            None => Protocol::Tcp(TcpConnection::new(&TcpConfig::default(), random)),
        };
        MixedConnection { group, protocol }
    }

    fn write(&mut self, now: Time, bytes: u64) {
        match &mut self.protocol {
            Protocol::Tcp(tcp) => tcp.write(now, bytes),
            Protocol::Mptcp(mptcp) => mptcp.write(now, bytes),
        }
    }

    fn written(&self) -> u64 {
        of_either!(self, |inner| inner.written())
    }

    fn acked(&self) -> u64 {
        of_either!(self, |inner| inner.acked())
    }

    fn delivered(&self) -> u64 {
        of_either!(self, |inner| inner.delivered())
    }

    fn is_idle(&self) -> bool {
        of_either!(self, |inner| inner.is_idle())
    }

    fn on_ack(&mut self, groups: &Vec<Group>, now: Time, path: usize, ack: &Segment) {
        of_protocol!(self, groups, (), |inner, config| inner.on_ack(config, now, path, ack));
    }

    fn on_segment(
        &mut self,
        groups: &Vec<Group>,
        now: Time,
        path: usize,
        segment: &Segment,
    ) -> Option<Segment> {
        of_protocol!(self, groups, None, |inner, config| inner
            .on_segment(config, now, path, segment))
    }

    fn next_segment(&mut self, groups: &Vec<Group>, now: Time) -> Option<(usize, Segment)> {
        of_protocol!(self, groups, None, |inner, config| inner.next_segment(config, now))
    }

    fn deadline(&self) -> Time {
        of_either!(self, |inner| inner.deadline())
    }

    fn on_timer(&mut self, groups: &Vec<Group>, now: Time) {
        of_protocol!(self, groups, (), |inner, config| inner.on_timer(config, now));
    }

    fn ack_deadline(&self) -> Time {
        of_either!(self, |inner| inner.ack_deadline())
    }

    fn on_ack_timer(&mut self, groups: &Vec<Group>, now: Time) -> Option<(usize, Segment)> {
        of_protocol!(self, groups, None, |inner, config| inner.on_ack_timer(config, now))
    }

    fn stream_offset(&self, segment: &Segment) -> u64 {
        of_either!(self, |inner| inner.stream_offset(segment))
    }

    fn counters(&self) -> ConnectionCounters {
        of_either!(self, |inner| inner.counters())
    }

    fn path_counters(&self, path: usize) -> SenderCounters {
        of_either!(self, |inner| inner.path_counters(path))
    }

    fn sender_state(&self, path: usize) -> Option<SenderState> {
        of_either!(self, |inner| inner.sender_state(path))
    }

    fn agreed(&self, groups: &Vec<Group>) -> Agreed {
        match (&self.protocol, groups.get(usize::from(self.group))) {
            (Protocol::Mptcp(inner), Some(Group::Mptcp(config))) => inner.agreed(config),
            (Protocol::Tcp(inner), Some(Group::Tcp(config))) => inner.agreed(config),
            _ => Agreed { tcp: TcpConfig::default(), data_seqs: None },
        }
    }

    fn options(groups: &Vec<Group>, segment: &Segment, area: &mut [u8; 40]) -> usize {
        let Options::Mptcp(_) = segment.options else { return 0 };
        let mptcp = groups.iter().find_map(|group| match group {
            Group::Mptcp(parameters) => Some(parameters),
            Group::Tcp(_) => None,
        });
        mptcp.map_or(0, |parameters| MptcpConnection::options(parameters, segment, area))
    }
}
