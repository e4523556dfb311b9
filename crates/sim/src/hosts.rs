//! Hosts: connections, their timers, and the flows that they carry.

use std::collections::VecDeque;

use heddle_policy::mix;
use heddle_transport::{Receiver, Segment, Sender, TcpConfig};
use heddle_units::{Bytes, Time};

use crate::engine::{Event, prefetch};
use crate::fabric::Fabric;
use crate::network::{Body, Hot, NIL, Network, PacketKind};

/// A flow of the workload, on its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flow {
    pub(crate) start: Time,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) size: Bytes,
    /// Whether it counts: it started in the measuring window.
    pub(crate) measured: bool,
}

/// Whether a connection outlives its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lifetime {
    Persistent,
    OneFlow,
}

/// A connection's ends and the flows on it.
struct Connection {
    sender: Sender,
    /// When the pending timeout event will come; [`Time::NEVER`] if there is none.
    timeout_at: Time,
    /// Where the first unfinished flow ends in the byte stream.
    flow_end: u64,
    client: u16,
    server: u16,
    generation: u32,
    lifetime: Lifetime,
    in_use: bool,
    hash: [u32; 2],
    delayed_ack_at: Time,
    receiver: Receiver,
    flows: VecDeque<(u64, Flow)>,
}

/// What happened at the hosts, summed over connections that are gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostCounters {
    pub(crate) segments: u64,
    pub(crate) retransmitted: u64,
    pub(crate) timeouts: u64,
    pub(crate) fast_recoveries: u64,
    pub(crate) reordered: u64,
    pub(crate) delivered: u64,
    /// Packets for a connection that is no more.
    pub(crate) strays: u64,
    /// Packets put on the wire and taken off it.
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

/// All connections.
pub(crate) struct Hosts {
    config: TcpConfig,
    connections: Vec<Connection>,
    /// Connections that may be used again, the longest unused first.
    free: VecDeque<u32>,
    opened: u32,
    counters: HostCounters,
}

impl Hosts {
    pub(crate) fn new(config: TcpConfig) -> Hosts {
        Hosts {
            config,
            connections: Vec::new(),
            free: VecDeque::new(),
            opened: 0,
            counters: HostCounters::default(),
        }
    }

    /// Makes a connection; it opens with its first flow.
    pub(crate) fn open(&mut self, client: u32, server: u32, lifetime: Lifetime) -> u32 {
        let id = self.free.pop_front().unwrap_or(self.connections.len() as u32);
        self.opened = self.opened.wrapping_add(1);
        let ports = mix(self.opened, 0x5bd1_e995);
        let hash = |from: u32, to: u32| mix(mix(from << 16 | to, ports), 0x1b87_3593);
        let connection = Connection {
            sender: Sender::new(&self.config),
            timeout_at: Time::NEVER,
            flow_end: u64::MAX,
            client: client as u16,
            server: server as u16,
            generation: self.opened,
            lifetime,
            in_use: true,
            hash: [hash(client, server), hash(server, client)],
            delayed_ack_at: Time::NEVER,
            receiver: Receiver::new(),
            flows: VecDeque::new(),
        };
        match self.connections.get_mut(id as usize) {
            Some(slot) => *slot = connection,
            None => self.connections.push(connection),
        }
        id
    }

    /// Asks for a connection's memory.
    #[inline]
    pub(crate) fn prefetch(&self, id: u32) {
        prefetch(&self.connections, id);
    }

    /// Gives a flow to a connection, behind those it already carries.
    pub(crate) fn start(&mut self, at: &mut Site, id: u32, flow: Flow) {
        let connection = &mut self.connections[id as usize];
        connection.sender.write(at.now, flow.size.0);
        let end = connection.sender.written();
        if connection.flows.is_empty() {
            connection.flow_end = end;
        }
        connection.flows.push_back((end, flow));
        self.pump(at, id);
    }

    /// A packet reaches its host.
    #[inline]
    pub(crate) fn receive(&mut self, at: &mut Site, packet: u32, finished: &mut Vec<Flow>) {
        let Hot { connection: id, kind, .. } = at.network.packets.hot[packet as usize];
        let Body { segment, generation } = at.network.packets.body[packet as usize];
        at.network.packets.remove(packet);
        self.counters.received += 1;
        let connection = &mut self.connections[id as usize];
        if connection.generation != generation || !connection.in_use {
            self.counters.strays += 1;
            return;
        }
        if kind == PacketKind::Reverse {
            connection.sender.on_segment(&self.config, at.now, &segment);
            return self.pump(at, id);
        }
        let answer = connection.receiver.on_segment(&self.config, at.now, &segment);
        if connection.receiver.delivered() >= connection.flow_end {
            connection.finish_flows(finished);
        }
        if let Some(segment) = answer {
            self.transmit(at, id, segment, PacketKind::Reverse);
        } else {
            self.arm_delayed_ack(at, id);
        }
    }

    /// A connection's retransmission timer event.
    pub(crate) fn timeout(&mut self, at: &mut Site, id: u32) {
        let connection = &mut self.connections[id as usize];
        if connection.timeout_at != at.now {
            return;
        }
        connection.timeout_at = Time::NEVER;
        if connection.sender.deadline() <= at.now {
            connection.sender.on_timer(&self.config, at.now);
        }
        self.pump(at, id);
    }

    /// A connection's delayed acknowledgement event.
    pub(crate) fn delayed_ack(&mut self, at: &mut Site, id: u32) {
        let connection = &mut self.connections[id as usize];
        if connection.delayed_ack_at != at.now {
            return;
        }
        connection.delayed_ack_at = Time::NEVER;
        let due = connection.receiver.deadline() <= at.now;
        let answer = due.then(|| connection.receiver.on_timer(&self.config, at.now)).flatten();
        match answer {
            Some(segment) => self.transmit(at, id, segment, PacketKind::Reverse),
            None => self.arm_delayed_ack(at, id),
        }
    }

    /// Sends what may be sent, keeps the timer, and lets a finished connection go.
    #[inline]
    fn pump(&mut self, at: &mut Site, id: u32) {
        while let Some(segment) =
            self.connections[id as usize].sender.next_segment(&self.config, at.now)
        {
            self.transmit(at, id, segment, PacketKind::Forward);
        }
        let connection = &mut self.connections[id as usize];
        let deadline = connection.sender.deadline();
        if deadline < connection.timeout_at {
            connection.timeout_at = deadline;
            at.network.events.schedule(deadline, Event::Timeout(id));
        }
        if connection.lifetime == Lifetime::OneFlow && connection.is_done() {
            self.close(id);
        }
    }

    fn arm_delayed_ack(&mut self, at: &mut Site, id: u32) {
        let connection = &mut self.connections[id as usize];
        let deadline = connection.receiver.deadline();
        if deadline < connection.delayed_ack_at {
            connection.delayed_ack_at = deadline;
            at.network.events.schedule(deadline, Event::DelayedAck(id));
        }
    }

    #[inline]
    fn transmit(&mut self, at: &mut Site, id: u32, segment: Segment, kind: PacketKind) {
        let connection = &self.connections[id as usize];
        let (from, to, hash) = match kind {
            PacketKind::Reverse => (connection.server, connection.client, connection.hash[1]),
            _ => (connection.client, connection.server, connection.hash[0]),
        };
        let hot = Hot {
            arrival: at.now,
            next: NIL,
            connection: id,
            flow_hash: hash,
            dst_host: to,
            dst_tor: at.fabric.host_tor[usize::from(to)],
            src_tor: at.fabric.host_tor[usize::from(from)],
            size: segment.wire_bytes() as u16,
            tag: 0,
            kind,
        };
        let body = Body { segment, generation: connection.generation };
        let packet = at.network.packets.add(hot, body);
        self.counters.sent += 1;
        at.network.send(at.now, at.fabric.first_port[usize::from(from)], packet);
    }

    fn close(&mut self, id: u32) {
        let connection = &mut self.connections[id as usize];
        connection.in_use = false;
        connection.add_to(&mut self.counters);
        self.free.push_back(id);
    }

    /// Sums over all connections, past and present.
    pub(crate) fn counters(&self) -> HostCounters {
        let mut sum = self.counters;
        for connection in self.connections.iter().filter(|connection| connection.in_use) {
            connection.add_to(&mut sum);
        }
        sum
    }

    /// Flows that have started and not finished.
    pub(crate) fn unfinished(&self) -> impl Iterator<Item = &Flow> {
        self.connections.iter().flat_map(|c| c.flows.iter().map(|(_, flow)| flow))
    }
}

impl Connection {
    fn finish_flows(&mut self, finished: &mut Vec<Flow>) {
        let delivered = self.receiver.delivered();
        while self.flows.front().is_some_and(|(end, _)| *end <= delivered) {
            finished.extend(self.flows.pop_front().map(|(_, flow)| flow));
        }
        self.flow_end = self.flows.front().map_or(u64::MAX, |(end, _)| *end);
    }

    fn is_done(&self) -> bool {
        self.in_use && self.sender.is_idle() && self.flows.is_empty()
    }

    fn add_to(&self, sum: &mut HostCounters) {
        let sender = self.sender.counters();
        sum.segments += sender.segments;
        sum.retransmitted += sender.retransmitted;
        sum.timeouts += sender.timeouts;
        sum.fast_recoveries += sender.fast_recoveries;
        sum.reordered += self.receiver.reordered();
        sum.delivered += self.receiver.delivered();
    }
}

/// Where and when a host acts.
pub(crate) struct Site<'a> {
    pub(crate) now: Time,
    pub(crate) network: &'a mut Network,
    pub(crate) fabric: &'a Fabric,
}

#[cfg(test)]
mod tests;
