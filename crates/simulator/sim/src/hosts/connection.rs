//! A connection and its flows, in sequence.

use std::collections::VecDeque;

use heddle_policy::mix;
use heddle_transport::{Connection, Group};
use heddle_units::{Bytes, Time};

use crate::network::PacketKind;

/// Sets the choice of an interface apart from other uses of a connection's number.
const INTERFACE_SALT: u32 = 0x9e37_79b9;

/// Round trips without an acknowledgement after which a connection waits for its timer.
const SILENT: u64 = 4;

/// A flow goes on at its pace so far, but for this factor of the usual one: that of a flow that has
/// just begun, or waited, says little.
const LIMITS: f64 = 4.0;

/// A flow of the workload, on its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flow {
    pub(crate) start: Time,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) size: Bytes,
    /// True if it started in the measuring window.
    pub(crate) measured: bool,
    /// Its workload, as a number among those of the scenario.
    pub(crate) workload: u16,
    /// Its number among the flows of the run, from 1, in order of their starts.
    pub(crate) id: u32,
    /// Its number in a workload that waits for flows; 0 in others.
    pub(crate) index: u32,
}

/// Lifetime of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lifetime {
    Persistent,
    OneFlow,
}

/// Transport state and flows of a connection.
pub(super) struct HostConnection {
    pub(super) transport: Connection,
    /// Time of the pending timeout event; [`Time::NEVER`] if there is none.
    pub(super) timeout_at: Time,
    /// Time of the pending delayed acknowledgement event; [`Time::NEVER`] if there is none.
    pub(super) delayed_ack_at: Time,
    /// End of the first unfinished flow in the byte stream.
    pub(super) flow_end: u64,
    client: u16,
    server: u16,
    pub(super) generation: u32,
    lifetime: Lifetime,
    pub(super) in_use: bool,
    pub(super) flows: VecDeque<(u64, Flow)>,
    /// Bytes that the server had received when the measuring window started.
    pub(super) delivered_before: u64,
}

/// Times of flows as they are expected.
pub(crate) struct UsualTimes<'a> {
    /// A round trip of a connection that has measured none.
    pub(crate) round_trip: Time,
    /// Seconds that a flow of a workload with so many bytes takes.
    pub(crate) of_flow: &'a dyn Fn(u16, f64) -> f64,
}

/// Bytes received in order at a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReceivedBytes {
    /// Of one flow.
    pub(crate) of_flow: Bytes,
    /// Of its connection, since the measuring window started.
    pub(crate) in_window: Bytes,
}

impl HostConnection {
    /// A connection from `client` to `server` without flows.
    pub(super) fn new(
        transport: Connection,
        (client, server): (u32, u32),
        generation: u32,
        lifetime: Lifetime,
    ) -> HostConnection {
        HostConnection {
            transport,
            timeout_at: Time::NEVER,
            delayed_ack_at: Time::NEVER,
            flow_end: u64::MAX,
            client: client as u16,
            server: server as u16,
            generation,
            lifetime,
            in_use: true,
            flows: VecDeque::new(),
            delivered_before: 0,
        }
    }

    /// The hosts at both ends of a packet: sender, receiver.
    #[inline]
    pub(super) fn ends(&self, kind: PacketKind) -> (u16, u16) {
        match kind {
            PacketKind::Reverse => (self.server, self.client),
            _ => (self.client, self.server),
        }
    }

    /// The turn of a subflow among `count` interfaces: subflows take them in turn, from one on that
    /// follows from the connection's number.
    #[inline]
    pub(super) fn turn(&self, path: usize, count: u32) -> u32 {
        (mix(self.generation, INTERFACE_SALT) % count + path as u32) % count
    }

    /// Appends a flow.
    pub(super) fn add_flow(&mut self, now: Time, flow: Flow) {
        self.transport.write(now, flow.size.0);
        let end = self.transport.written();
        if self.flows.is_empty() {
            self.flow_end = end;
        }
        self.flows.push_back((end, flow));
    }

    /// Removes the flows that the server has received completely.
    pub(super) fn finish_flows(&mut self, finished: &mut Vec<Flow>) {
        let delivered = self.transport.delivered();
        while self.flows.front().is_some_and(|(end, _)| *end <= delivered) {
            finished.extend(self.flows.pop_front().map(|(_, flow)| flow));
        }
        self.flow_end = self.flows.front().map_or(u64::MAX, |(end, _)| *end);
    }

    /// Flows that have not finished.
    pub(super) fn open_flows(&self) -> impl Iterator<Item = (&Flow, ReceivedBytes)> {
        let delivered = self.transport.delivered();
        let in_window = Bytes(delivered - self.delivered_before);
        self.flows.iter().map(move |(end, flow)| {
            let of_flow = Bytes(delivered.saturating_sub(end.saturating_sub(flow.size.0)));
            (flow, ReceivedBytes { of_flow, in_window })
        })
    }

    /// The time at which the last measured flow may end, if the connection goes on as it has begun;
    /// `None` if it has none. One that has heard nothing for some round trips waits for its timer.
    pub(super) fn expected_end(
        &self,
        groups: &[Group],
        now: Time,
        usual: &UsualTimes<'_>,
    ) -> Option<Time> {
        let (flow, received) = self.open_flows().filter(|(flow, _)| flow.measured).last()?;
        let age = now.saturating_sub(flow.start).as_secs_f64();
        let (size, received) = (flow.size.0 as f64, received.of_flow.0 as f64);
        let empty = (usual.of_flow)(flow.workload, size - received);
        let at_pace = age * (size - received) / received.max(1.0);
        let left = Time((at_pace.clamp(empty / LIMITS, empty * LIMITS) * 1e12) as u64);
        let srtt = self.transport.sender_state(0).and_then(|state| state.srtt);
        let ahead = self.transport.deadline().saturating_sub(now);
        let silent = self.transport.agreed(groups).tcp.min_rto.saturating_sub(ahead);
        let waits = silent > srtt.unwrap_or(usual.round_trip) * SILENT;
        let from = if waits { self.transport.deadline() } else { now };
        Some(from.saturating_add(left))
    }

    /// Offset of a byte of the stream in its flow; `None` if the flow has finished.
    pub(super) fn offset_in_flow(&self, byte: u64) -> Option<u64> {
        let (end, flow) = self.flows.iter().find(|(end, _)| byte < *end)?;
        byte.checked_sub(end - flow.size.0)
    }

    /// True if the connection may close: its only flow is complete and acknowledged.
    #[inline]
    pub(super) fn is_finished(&self) -> bool {
        self.lifetime == Lifetime::OneFlow
            && self.in_use
            && self.transport.is_idle()
            && self.flows.is_empty()
    }
}
