//! Hosts: connections with their timers and flows.

mod connection;
mod context;
mod counters;
mod credit;
mod entropy;
mod interfaces;
mod own_queues;
mod steering;
#[cfg(test)]
mod tests;
mod turns;

use std::collections::VecDeque;

use heddle_transport::{Agreed, Connection, Group, Kind, Options, Segment, SenderState};
use heddle_units::{Rate, Time};

use crate::engine::{Event, prefetch_whole};
use crate::five_tuple::{FiveTuple, FlowHash};
use crate::network::{Body, Hot, NIL, PacketKind};
use crate::random::{Random, Stream};

pub(crate) use connection::{Flow, Lifetime, ReceivedBytes, UsualTimes};
pub(crate) use context::{HostContext, Sides};
pub(crate) use counters::HostCounters;
pub(crate) use entropy::EntropyValues;
pub(crate) use interfaces::Interfaces;
pub(crate) use steering::Steering;

use connection::HostConnection;
use credit::Pacers;
use entropy::{At, Link, hash_with};
use own_queues::{OwnQueues, Queued};
use steering::SendDemand;
use turns::Turns;

/// Bytes of a connection, without what it points to.
pub(crate) const CONNECTION_BYTES: usize = size_of::<HostConnection>();

/// All connections.
pub(crate) struct Hosts {
    /// Protocols and parameters of the workloads.
    groups: Vec<Group>,
    /// Source of MPTCP keys and nonces.
    random: Random,
    connections: Vec<HostConnection>,
    /// Free connection slots, the longest unused first.
    free: VecDeque<u32>,
    opened: u32,
    /// Source of ports and TTLs, for schemes whose routers read them.
    steering: Option<Steering>,
    /// Entropy values, if hosts choose them.
    entropy: Option<EntropyValues>,
    /// Flow hash of packets.
    flow_hash: FlowHash,
    /// Bytes that a frame takes on links beside itself.
    extra_bytes: u16,
    /// Bytes at the beginning of each flow that switches send before others.
    priority_bytes: Option<u64>,
    /// Connections that wait for their hosts' links.
    turns: Turns,
    /// Connections that wait for credit; `None` if no workload has any.
    pacers: Option<Pacers>,
    /// Interfaces of hosts; `None` if each has one.
    pub(crate) interfaces: Option<Interfaces>,
    /// Bytes of subflows in their hosts' own queues; `None` if no workload limits them.
    own_queues: Option<OwnQueues>,
    counters: HostCounters,
}

impl Hosts {
    pub(crate) fn new(
        groups: Vec<Group>,
        seed: u64,
        steering: Option<Steering>,
        entropy: Option<EntropyValues>,
        flow_hash: FlowHash,
    ) -> Hosts {
        let is_limited = groups.iter().any(|group| group.output_limit().is_some());
        Hosts {
            own_queues: is_limited.then(OwnQueues::default),
            pacers: groups.iter().any(Group::grants_credit).then(Pacers::default),
            groups,
            random: Random::new(seed, Stream::MptcpKeys),
            connections: Vec::new(),
            free: VecDeque::new(),
            opened: 0,
            steering,
            entropy,
            flow_hash,
            extra_bytes: 0,
            priority_bytes: None,
            turns: Turns::default(),
            interfaces: None,
            counters: HostCounters::default(),
        }
    }

    /// The same where switches send the first bytes of each flow before others.
    pub(crate) fn with_priority_bytes(self, bytes: Option<u64>) -> Hosts {
        Hosts { priority_bytes: bytes, ..self }
    }

    /// The same where each frame takes as many more bytes on links.
    pub(crate) fn with_extra_bytes(self, bytes: u32) -> Hosts {
        Hosts { extra_bytes: bytes as u16, ..self }
    }

    /// The same where each has several interfaces.
    pub(crate) fn with_interfaces(self, interfaces: Option<Interfaces>) -> Hosts {
        Hosts { interfaces, ..self }
    }

    /// Protocols and parameters of the workloads.
    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Allocates a connection of a workload from a client to a server; it opens with its first
    /// flow.
    pub(crate) fn open(&mut self, ends: (u32, u32), workload: u16, lifetime: Lifetime) -> u32 {
        let id = self.free.pop_front().unwrap_or(self.connections.len() as u32);
        self.opened = self.opened.wrapping_add(1);
        let transport = Connection::new(&self.groups, workload, || self.random.bits64());
        let connection = HostConnection::new(transport, ends, self.opened, lifetime);
        match self.connections.get_mut(id as usize) {
            Some(slot) => *slot = connection,
            None => self.connections.push(connection),
        }
        id
    }

    /// True if a connection has no flow and everything that it sent is acknowledged.
    pub(crate) fn is_idle(&self, id: u32) -> bool {
        let connection = &self.connections[id as usize];
        connection.flows.is_empty() && connection.transport.is_idle()
    }

    /// Gives a connection a flow that it never sends.
    #[cfg(test)]
    pub(crate) fn occupy(&mut self, id: u32) {
        self.connections[id as usize].transport.write(Time::ZERO, 1);
    }

    /// Prefetches a connection.
    #[inline]
    pub(crate) fn prefetch(&self, id: u32) {
        prefetch_whole(&self.connections, id);
    }

    /// Appends a flow to a connection. The server's side sees when it has arrived, the client's
    /// sends it.
    pub(crate) fn start(&mut self, cx: &mut HostContext, id: u32, flow: Flow, sides: Sides) {
        let connection = &mut self.connections[id as usize];
        if sides.server {
            connection.add_flow(cx.now, flow);
        } else if sides.client {
            connection.transport.write(cx.now, flow.size.0);
        }
        if sides.client {
            self.send_pending(cx, id);
        }
    }

    /// Handles a packet that arrives at its host.
    #[inline]
    pub(crate) fn receive(&mut self, cx: &mut HostContext, packet: u32, finished: &mut Vec<Flow>) {
        // The slot of the packet is free from here on; only the reply can reuse it.
        cx.network.packets.remove(packet);
        self.counters.received += 1;
        let Hot { connection: id, kind, .. } = cx.network.packets.hot[packet as usize];
        let body = &cx.network.packets.body[packet as usize];
        let path = usize::from(body.path);
        let links = self.links_of(cx, id);
        let connection = &mut self.connections[id as usize];
        if connection.generation != body.generation || !connection.in_use {
            self.counters.to_closed_connections += 1;
            return;
        }
        let at = At { now: cx.now, connection: id, path };
        if kind == PacketKind::Reverse {
            connection.transport.on_ack(&self.groups, cx.now, path, &body.segment);
            if let Some(entropy) = &mut self.entropy {
                if body.segment.kind != Kind::Credit {
                    let echo = cx.network.packets.entropy(packet);
                    entropy.on_ack(at, links, echo, &body.segment);
                }
                entropy.on_losses(at, connection.transport.path_counters(path));
            }
            return self.send_pending(cx, id);
        }
        if let Some(entropy) = &mut self.entropy {
            entropy.on_arrival(at, cx.network.packets.entropy(packet), &body.segment);
        }
        let answer = connection.transport.on_segment(&self.groups, cx.now, path, &body.segment);
        if connection.transport.delivered() >= connection.flow_end {
            connection.finish_flows(finished);
        }
        if let Some(segment) = answer {
            self.transmit(cx, id, (path, segment), PacketKind::Reverse);
        } else {
            self.arm_delayed_ack(cx, id);
        }
        if self.pacers.is_some() {
            self.wait_for_credit(cx, id);
        }
    }

    /// Handles the retransmission timer event of a connection.
    pub(crate) fn timeout(&mut self, cx: &mut HostContext, id: u32) {
        let connection = &mut self.connections[id as usize];
        if connection.timeout_at != cx.now {
            return;
        }
        connection.timeout_at = Time::NEVER;
        let links = self.links_of(cx, id) as usize;
        let connection = &mut self.connections[id as usize];
        if connection.transport.deadline() <= cx.now {
            connection.transport.on_timer(&self.groups, cx.now);
            if let Some(entropy) = &mut self.entropy {
                for path in 0..Connection::paths(&self.groups).max(links) {
                    let at = At { now: cx.now, connection: id, path };
                    let sender = if links > 1 { 0 } else { path };
                    entropy.on_losses(at, connection.transport.path_counters(sender));
                }
            }
        }
        self.send_pending(cx, id);
    }

    /// Handles the departure event of a connection.
    pub(crate) fn departure(&mut self, cx: &mut HostContext, id: u32) {
        let connection = &mut self.connections[id as usize];
        let Some(limit) = connection.transport.output_limit(&self.groups) else { return };
        let Some(queues) = self.own_queues.as_mut() else { return };
        if !queues.is_due(id, cx.now) {
            return;
        }
        for path in queues.with_room(id, cx.now, limit) {
            connection.transport.set_queue_full(&self.groups, path, false);
        }
        self.schedule_departure(cx, id);
        self.send_pending(cx, id);
    }

    /// Schedules the event at which a subflow that has come to its limit has room again.
    fn schedule_departure(&mut self, cx: &mut HostContext, id: u32) {
        let limit = self.connections[id as usize].transport.output_limit(&self.groups);
        let (Some(limit), Some(queues)) = (limit, &mut self.own_queues) else { return };
        if let Some(at) = queues.next_departure(id, limit) {
            cx.network.events.schedule(at, Event::Departure(id));
        }
    }

    /// Counts `bytes` of a subflow that its host's port `port` has accepted.
    fn count_queued(&mut self, cx: &mut HostContext, id: u32, path: usize, port: u16, bytes: u64) {
        let transport = &mut self.connections[id as usize].transport;
        let limit = transport.output_limit(&self.groups);
        let (Some(limit), Some(queues)) = (limit, &mut self.own_queues) else { return };
        queues.update(id, path, cx.now);
        let departs = cx.network.ports[usize::from(port)].busy_until;
        if bytes > 0 && queues.push(id, path, Queued { departs, bytes }, limit) {
            transport.set_queue_full(&self.groups, path, true);
            self.schedule_departure(cx, id);
        }
    }

    /// Handles the delayed acknowledgement event of a connection.
    pub(crate) fn delayed_ack(&mut self, cx: &mut HostContext, id: u32) {
        let connection = &mut self.connections[id as usize];
        if connection.delayed_ack_at != cx.now {
            return;
        }
        connection.delayed_ack_at = Time::NEVER;
        while let Some(answer) =
            self.connections[id as usize].transport.on_ack_timer(&self.groups, cx.now)
        {
            self.transmit(cx, id, answer, PacketKind::Reverse);
        }
        self.arm_delayed_ack(cx, id);
    }

    /// Sends all segments that may be sent, updates the timer and closes a finished connection.
    #[inline]
    fn send_pending(&mut self, cx: &mut HostContext, id: u32) {
        if self.connections[id as usize].transport.waits_for_link() {
            return self.wait_for_link(cx, id);
        }
        while let Some(segment) =
            self.connections[id as usize].transport.next_segment(&self.groups, cx.now)
        {
            self.transmit(cx, id, segment, PacketKind::Forward);
        }
        self.after_sending(cx, id);
    }

    /// Updates the timer of a connection, and closes it if it has finished.
    #[inline]
    fn after_sending(&mut self, cx: &mut HostContext, id: u32) {
        let connection = &mut self.connections[id as usize];
        let deadline = connection.transport.deadline();
        if deadline < connection.timeout_at {
            connection.timeout_at = deadline;
            cx.network.events.schedule(deadline, Event::Timeout(id));
        }
        if connection.is_finished() {
            self.close(id);
        }
    }

    fn arm_delayed_ack(&mut self, cx: &mut HostContext, id: u32) {
        let connection = &mut self.connections[id as usize];
        let deadline = connection.transport.ack_deadline();
        if deadline < connection.delayed_ack_at {
            connection.delayed_ack_at = deadline;
            cx.network.events.schedule(deadline, Event::DelayedAck(id));
        }
    }

    /// Sends a segment on the link of its host.
    #[inline]
    fn transmit(
        &mut self,
        cx: &mut HostContext,
        id: u32,
        (path, segment): (usize, Segment),
        kind: PacketKind,
    ) {
        self.transmit_on(cx, Link { number: 0, count: 1 }, id, (path, segment), kind);
    }

    /// The same, on a link of those over which the connection spreads its packets.
    #[inline]
    fn transmit_on(
        &mut self,
        cx: &mut HostContext,
        link: Link,
        id: u32,
        (path, segment): (usize, Segment),
        kind: PacketKind,
    ) {
        let at = At { now: cx.now, connection: id, path };
        let entropy =
            self.entropy.as_mut().map(|entropy| entropy.of_sent(at, link, kind, &segment));
        let tuple = self.five_tuple(cx, at, kind, entropy.map(|field| field.value));
        let flow_hash = tuple.hash_by(self.flow_hash);
        let to_tor = cx.fabric.interface_tor[usize::from(tuple.to)];
        let hot = Hot {
            arrival: cx.now,
            next: NIL,
            connection: id,
            flow_hash: entropy.map_or(flow_hash, |field| hash_with(flow_hash, field)),
            dst_host: tuple.to,
            dst_tor: cx.routes.undecided().unwrap_or(to_tor),
            src_tor: cx.fabric.interface_tor[usize::from(tuple.from)],
            size: segment.wire_bytes() as u16 + self.extra_bytes,
            tag: 0,
            kind,
            is_handshake: is_handshake(&segment),
        };
        let is_early = kind == PacketKind::Forward
            && self.priority_bytes.is_some_and(|bytes| self.is_early(id, &segment, bytes));
        let FiveTuple { from, generation, path, .. } = tuple;
        let body = Body { segment, generation, from, path, is_early };
        let packet = cx.network.packets.add(hot, body);
        if self.steering.is_some() {
            self.set_header(cx, id, tuple, packet, kind);
        }
        if let Some(field) = entropy {
            cx.network.packets.set_entropy(packet, field);
        }
        self.counters.sent += 1;
        // An interface has the number of its port.
        let accepted = cx.network.ports[usize::from(from)].accepted_bytes;
        cx.network.send(cx.now, from.into(), packet);
        if self.own_queues.is_some() && kind == PacketKind::Forward && segment.len > 0 {
            let accepted = cx.network.ports[usize::from(from)].accepted_bytes - accepted;
            self.count_queued(cx, id, path.into(), from, accepted);
        }
    }

    /// Interfaces over which a connection that waits for its host's links spreads its packets: all
    /// if each packet has an entropy value of its own.
    #[inline]
    fn links_of(&self, cx: &HostContext, id: u32) -> u32 {
        let connection = &self.connections[id as usize];
        match (&self.interfaces, &self.entropy) {
            (Some(interfaces), Some(entropy))
                if entropy.are_by_packet && connection.transport.spreads(&self.groups) =>
            {
                interfaces.choices(cx.fabric, connection.ends(PacketKind::Forward))
            }
            _ => 1,
        }
    }

    /// 5-tuple of one direction of a subflow, for a packet with this entropy value: where hosts have
    /// several interfaces, the value chooses that of the packet. A connection that waits for its
    /// host's link and does not spread its packets keeps to that one.
    #[inline]
    fn five_tuple(
        &self,
        cx: &HostContext,
        At { connection: id, path, .. }: At,
        kind: PacketKind,
        entropy: Option<u32>,
    ) -> FiveTuple {
        let connection = &self.connections[id as usize];
        let (generation, ends) = (connection.generation, connection.ends(kind));
        let (from, to) = match &self.interfaces {
            None => ends,
            Some(interfaces) => {
                let count = interfaces.choices(cx.fabric, ends);
                let turn = connection.turn(path, count);
                let keeps_to_one =
                    connection.transport.waits_for_link() && self.links_of(cx, id) == 1;
                match entropy.filter(|_| !keeps_to_one) {
                    None => interfaces.of_packet(cx, ends, turn, generation),
                    Some(value) => {
                        let turn = (turn + value % count) % count;
                        interfaces.of_packet(cx, ends, turn, heddle_policy::mix(generation, value))
                    }
                }
            }
        };
        FiveTuple { from, to, generation, path: path as u8 }
    }

    /// True if a segment carries some of the first `bytes` of its flow.
    fn is_early(&self, id: u32, segment: &Segment, bytes: u64) -> bool {
        let connection = &self.connections[id as usize];
        connection
            .offset_in_flow(connection.transport.stream_offset(segment))
            .is_some_and(|offset| offset < bytes)
    }

    /// Sets the ports and TTL of a packet.
    fn set_header(
        &mut self,
        cx: &mut HostContext,
        id: u32,
        tuple: FiveTuple,
        packet: u32,
        kind: PacketKind,
    ) {
        let Some(steering) = &mut self.steering else { return };
        let header = if kind == PacketKind::Reverse {
            steering.ack_header(id, tuple.path)
        } else {
            let transport = &self.connections[id as usize].transport;
            let port = cx.fabric.first_port[usize::from(tuple.from)];
            let rate = cx.fabric.rate_of(&cx.fabric.ports[port as usize]);
            let rate = Rate(rate.0 / Connection::paths(&self.groups).max(1) as u64);
            steering.data_header(
                cx,
                id,
                tuple,
                SendDemand { bytes: transport.written() - transport.acked(), rate },
            )
        };
        cx.network.packets.set_ports_and_ttl(packet, header);
    }

    fn close(&mut self, id: u32) {
        if let Some(steering) = &mut self.steering {
            steering.release(id);
        }
        if let Some(entropy) = &mut self.entropy {
            entropy.release(id);
        }
        self.turns.forget(id);
        if let Some(pacers) = &mut self.pacers {
            pacers.forget(id);
        }
        if let Some(queues) = &mut self.own_queues {
            queues.release(id);
        }
        let connection = &mut self.connections[id as usize];
        connection.in_use = false;
        (connection.timeout_at, connection.delayed_ack_at) = (Time::NEVER, Time::NEVER);
        self.counters.add(&connection.transport);
        self.free.push_back(id);
    }

    /// Subflows placed on paths (CFLB).
    pub(crate) fn placed(&self) -> u64 {
        self.steering.as_ref().map_or(0, Steering::placed)
    }

    /// Sums over all connections, open and closed.
    pub(crate) fn counters(&self) -> HostCounters {
        let mut sum = self.counters;
        for connection in self.connections.iter().filter(|connection| connection.in_use) {
            sum.add(&connection.transport);
        }
        sum
    }

    /// Starts the measuring window.
    pub(crate) fn start_measuring(&mut self) {
        for connection in &mut self.connections {
            connection.delivered_before = connection.transport.delivered();
        }
    }

    /// The connection that has an unfinished flow, and its serial number.
    pub(crate) fn connection_of(&self, flow: u32) -> Option<(u32, u32)> {
        let has = |connection: &HostConnection| connection.flows.iter().any(|f| f.1.id == flow);
        let id = self.connections.iter().position(|c| c.in_use && has(c))?;
        Some((id as u32, self.connections[id].generation))
    }

    /// True if a flow of a connection has not finished.
    pub(crate) fn has_flow(&self, (id, generation): (u32, u32), flow: u32) -> bool {
        let connection = &self.connections[id as usize];
        let is_same = connection.in_use && connection.generation == generation;
        is_same && connection.flows.iter().any(|(_, other)| other.id == flow)
    }

    /// State of the sender of a connection's subflow, if it has opened.
    pub(crate) fn sender_state(&self, id: u32, path: usize) -> Option<SenderState> {
        self.connections[id as usize].transport.sender_state(path)
    }

    /// Options negotiated in a connection's handshake.
    pub(crate) fn agreed(&self, id: u32) -> Agreed {
        self.connections[id as usize].transport.agreed(&self.groups)
    }

    /// MPTCP's option of a handshake's segment, and its length; 0 of another segment.
    pub(crate) fn options(&self, segment: &Segment) -> ([u8; 40], usize) {
        let mut area = [0; 40];
        let len = Connection::options(&self.groups, segment, &mut area);
        (area, len)
    }

    /// The time at which the last of the measured flows under way may end, if each goes on as it
    /// has begun.
    pub(crate) fn last_end(&self, now: Time, usual: &UsualTimes<'_>) -> Time {
        let ends = self.connections.iter().filter(|connection| connection.in_use);
        let ends = ends.filter_map(|connection| connection.expected_end(&self.groups, now, usual));
        ends.max().unwrap_or(now)
    }

    /// Flows that have started and not finished, with what their servers have received.
    pub(crate) fn open_flows(&self) -> impl Iterator<Item = (&Flow, ReceivedBytes)> {
        self.connections.iter().flat_map(HostConnection::open_flows)
    }
}

/// True for a segment of a handshake, which switches may inspect.
#[inline]
fn is_handshake(segment: &Segment) -> bool {
    matches!(segment.kind, Kind::Syn | Kind::SynAck) || matches!(segment.options, Options::Mptcp(_))
}
