//! Hosts: connections, their timers, and the flows that they carry.

mod connection;
mod counters;
mod steering;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use heddle_fabric::{Fabric, Routes};
use heddle_transport::{Ends, Kind, Options, Segment};
use heddle_units::{Rate, Time};

use crate::engine::{Event, prefetch};
use crate::five_tuple::FiveTuple;
use crate::network::{Body, Hot, NIL, Network, PacketKind};
use crate::random::{Random, Stream};

pub(crate) use connection::{Flow, Lifetime};
pub(crate) use counters::HostCounters;
pub(crate) use steering::Steering;

use connection::Connection;
use steering::Sends;

/// All connections, of one protocol.
pub(crate) struct Hosts<E: Ends> {
    config: E::Config,
    /// For keys and nonces.
    random: Random,
    connections: Vec<Connection<E>>,
    /// Connections that may be used again, the longest unused first.
    free: VecDeque<u32>,
    opened: u32,
    /// Gives packets ports and TTLs, where routers read them.
    steering: Option<Steering>,
    counters: HostCounters,
}

impl<E: Ends> Hosts<E> {
    pub(crate) fn new(config: E::Config, seed: u64, steering: Option<Steering>) -> Hosts<E> {
        Hosts {
            config,
            random: Random::new(seed, Stream::Keys),
            connections: Vec::new(),
            free: VecDeque::new(),
            opened: 0,
            steering,
            counters: HostCounters::default(),
        }
    }

    /// Their protocol's parameters.
    pub(crate) fn config(&self) -> &E::Config {
        &self.config
    }

    /// Makes a connection; it opens with its first flow.
    pub(crate) fn open(&mut self, client: u32, server: u32, lifetime: Lifetime) -> u32 {
        let id = self.free.pop_front().unwrap_or(self.connections.len() as u32);
        self.opened = self.opened.wrapping_add(1);
        let ends = E::new(&self.config, || self.random.bits64());
        let connection = Connection::new(ends, (client, server), self.opened, lifetime);
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
        self.connections[id as usize].carry(at.now, flow);
        self.pump(at, id);
    }

    /// A packet reaches its host.
    #[inline]
    pub(crate) fn receive(&mut self, at: &mut Site, packet: u32, finished: &mut Vec<Flow>) {
        // Its place is free from here on, but only the answer can take it.
        at.network.packets.remove(packet);
        self.counters.received += 1;
        let Hot { connection: id, kind, .. } = at.network.packets.hot[packet as usize];
        let body = &at.network.packets.body[packet as usize];
        let path = usize::from(body.path);
        let connection = &mut self.connections[id as usize];
        if connection.generation != body.generation || !connection.in_use {
            self.counters.strays += 1;
            return;
        }
        if kind == PacketKind::Reverse {
            connection.ends.on_answer(&self.config, at.now, path, &body.segment);
            return self.pump(at, id);
        }
        let answer = connection.ends.on_segment(&self.config, at.now, path, &body.segment);
        if connection.ends.delivered() >= connection.flow_end {
            connection.finish_flows(finished);
        }
        if let Some(segment) = answer {
            self.transmit(at, id, (path, segment), PacketKind::Reverse);
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
        if connection.ends.deadline() <= at.now {
            connection.ends.on_timer(&self.config, at.now);
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
        while let Some(answer) =
            self.connections[id as usize].ends.on_answer_timer(&self.config, at.now)
        {
            self.transmit(at, id, answer, PacketKind::Reverse);
        }
        self.arm_delayed_ack(at, id);
    }

    /// Sends what may be sent, keeps the timer, and lets a finished connection go.
    #[inline]
    fn pump(&mut self, at: &mut Site, id: u32) {
        while let Some(segment) =
            self.connections[id as usize].ends.next_segment(&self.config, at.now)
        {
            self.transmit(at, id, segment, PacketKind::Forward);
        }
        let connection = &mut self.connections[id as usize];
        let deadline = connection.ends.deadline();
        if deadline < connection.timeout_at {
            connection.timeout_at = deadline;
            at.network.events.schedule(deadline, Event::Timeout(id));
        }
        if connection.is_over() {
            self.close(id);
        }
    }

    fn arm_delayed_ack(&mut self, at: &mut Site, id: u32) {
        let connection = &mut self.connections[id as usize];
        let deadline = connection.ends.answer_deadline();
        if deadline < connection.delayed_ack_at {
            connection.delayed_ack_at = deadline;
            at.network.events.schedule(deadline, Event::DelayedAck(id));
        }
    }

    /// Puts a segment on the wire of the host that it is from.
    #[inline]
    fn transmit(
        &mut self,
        at: &mut Site,
        id: u32,
        (path, segment): (usize, Segment),
        kind: PacketKind,
    ) {
        let tuple = self.connections[id as usize].five_tuple(kind, path);
        let hot = Hot {
            arrival: at.now,
            next: NIL,
            connection: id,
            flow_hash: tuple.hash(),
            dst_host: tuple.to,
            dst_tor: at.fabric.host_tor[usize::from(tuple.to)],
            src_tor: at.fabric.host_tor[usize::from(tuple.from)],
            size: segment.wire_bytes() as u16,
            tag: 0,
            kind,
            is_handshake: is_handshake(&segment),
        };
        let body =
            Body { segment, generation: tuple.generation, from: tuple.from, path: tuple.path };
        let packet = at.network.packets.add(hot, body);
        if self.steering.is_some() {
            self.name(at, id, tuple, packet, kind);
        }
        self.counters.sent += 1;
        at.network.send(at.now, at.fabric.first_port[usize::from(tuple.from)], packet);
    }

    /// Gives a packet its ports and TTL.
    fn name(&mut self, at: &mut Site, id: u32, tuple: FiveTuple, packet: u32, kind: PacketKind) {
        let Some(steering) = &mut self.steering else { return };
        let name = if kind == PacketKind::Reverse {
            steering.answer(id, tuple.path)
        } else {
            let ends = &self.connections[id as usize].ends;
            let port = at.fabric.first_port[usize::from(tuple.from)];
            let link = at.fabric.graph.links[at.fabric.ports[port as usize].link as usize];
            let rate = Rate(link.rate.0 / E::paths(&self.config).max(1) as u64);
            steering.name(at, id, tuple, Sends { bytes: ends.written() - ends.acked(), rate })
        };
        at.network.packets.set_name(packet, name);
    }

    fn close(&mut self, id: u32) {
        if let Some(steering) = &mut self.steering {
            steering.forget(id);
        }
        let connection = &mut self.connections[id as usize];
        connection.in_use = false;
        (connection.timeout_at, connection.delayed_ack_at) = (Time::NEVER, Time::NEVER);
        self.counters.add(&connection.ends);
        self.free.push_back(id);
    }

    /// Subflows that were placed on paths.
    pub(crate) fn placed(&self) -> u64 {
        self.steering.as_ref().map_or(0, Steering::placed)
    }

    /// Sums over all connections, past and present.
    pub(crate) fn counters(&self) -> HostCounters {
        let mut sum = self.counters;
        for connection in self.connections.iter().filter(|connection| connection.in_use) {
            sum.add(&connection.ends);
        }
        sum
    }

    /// Flows that have started and not finished.
    pub(crate) fn unfinished(&self) -> impl Iterator<Item = &Flow> {
        self.connections.iter().flat_map(|c| c.flows.iter().map(|(_, flow)| flow))
    }
}

/// Whether a switch that reads handshakes is to see it.
#[inline]
fn is_handshake(segment: &Segment) -> bool {
    matches!(segment.kind, Kind::Syn | Kind::SynAck) || matches!(segment.options, Options::Mptcp(_))
}

/// Where and when a host acts.
pub(crate) struct Site<'a> {
    pub(crate) now: Time,
    pub(crate) network: &'a mut Network,
    pub(crate) fabric: &'a Fabric,
    pub(crate) routes: &'a Routes,
}
