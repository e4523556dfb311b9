//! Bytes of each subflow in its host's own queue, where a limit holds them back (Linux: TCP small
//! queues).
//!
//! A subflow whose data in the queue has come to the limit sends no new data until some has left.
//! Control packets that overtake data are not counted: they make it leave a little later.

use std::collections::VecDeque;

use heddle_units::{Bytes, Time};

/// All subflows with a limit.
#[derive(Default)]
pub(crate) struct OwnQueues {
    connections: Vec<Connection>,
}

#[derive(Clone)]
struct Connection {
    subflows: Vec<Subflow>,
    /// Time of the pending departure event; [`Time::NEVER`] if there is none.
    departure_at: Time,
}

#[derive(Clone, Default)]
struct Subflow {
    /// Packets in the queue, the first to leave first.
    packets: VecDeque<Queued>,
    bytes: u64,
    is_full: bool,
}

/// A packet in a host's own queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queued {
    /// End of its transmission.
    pub(super) departs: Time,
    pub(super) bytes: u64,
}

impl OwnQueues {
    /// Records a packet of a subflow; returns true if the subflow has come to its limit.
    pub(super) fn push(&mut self, id: u32, path: usize, packet: Queued, limit: Bytes) -> bool {
        let id = id as usize;
        if id >= self.connections.len() {
            let none = Connection { subflows: Vec::new(), departure_at: Time::NEVER };
            self.connections.resize(id + 1, none);
        }
        let subflows = &mut self.connections[id].subflows;
        if path >= subflows.len() {
            subflows.resize_with(path + 1, Subflow::default);
        }
        let subflow = &mut subflows[path];
        subflow.packets.push_back(packet);
        subflow.bytes += packet.bytes;
        subflow.is_full = subflow.bytes >= limit.0;
        subflow.is_full
    }

    /// Forgets the packets of a subflow that have left.
    pub(super) fn update(&mut self, id: u32, path: usize, now: Time) {
        let connection = self.connections.get_mut(id as usize);
        if let Some(subflow) = connection.and_then(|all| all.subflows.get_mut(path)) {
            subflow.update(now);
        }
    }

    /// True if the departure event of a connection is due; it is no longer pending then.
    pub(super) fn is_due(&mut self, id: u32, now: Time) -> bool {
        let due = self.connections.get_mut(id as usize).filter(|all| all.departure_at == now);
        due.map(|connection| connection.departure_at = Time::NEVER).is_some()
    }

    /// The subflows of a connection that had come to the limit and have room again.
    pub(super) fn with_room(&mut self, id: u32, now: Time, limit: Bytes) -> Vec<usize> {
        let Some(connection) = self.connections.get_mut(id as usize) else { return Vec::new() };
        let full =
            connection.subflows.iter_mut().enumerate().filter(|(_, subflow)| subflow.is_full);
        let room = full.filter_map(|(path, subflow)| {
            subflow.update(now);
            subflow.is_full = subflow.bytes >= limit.0;
            (!subflow.is_full).then_some(path)
        });
        room.collect()
    }

    /// The time of the next departure event of a connection, if one is to be scheduled: a subflow
    /// that has come to the limit has room then.
    pub(super) fn next_departure(&mut self, id: u32, limit: Bytes) -> Option<Time> {
        let connection = self.connections.get_mut(id as usize)?;
        let full = connection.subflows.iter().filter(|subflow| subflow.is_full);
        let at = full.filter_map(|subflow| subflow.room_at(limit)).min()?;
        (at < connection.departure_at).then(|| {
            connection.departure_at = at;
            at
        })
    }

    /// Forgets a connection that has closed.
    pub(super) fn release(&mut self, id: u32) {
        if let Some(connection) = self.connections.get_mut(id as usize) {
            connection.subflows.clear();
            connection.departure_at = Time::NEVER;
        }
    }
}

impl Subflow {
    fn update(&mut self, now: Time) {
        while let Some(first) = self.packets.front().filter(|first| first.departs <= now) {
            self.bytes -= first.bytes;
            self.packets.pop_front();
        }
    }

    /// Departure of the packet whose leaving makes room.
    fn room_at(&self, limit: Bytes) -> Option<Time> {
        let mut bytes = self.bytes;
        let makes_room = self.packets.iter().find(|packet| {
            bytes -= packet.bytes;
            bytes < limit.0
        });
        makes_room.map(|packet| packet.departs)
    }
}
