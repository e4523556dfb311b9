//! Links from one partition of a run to another.
//!
//! A port is with its owner, whose partition decides on its packets. As the arrival of a packet is
//! known once it is accepted, and is at least the link's delay later, the packet is copied to the
//! partition at the far end at the end of the window. There the packets on the link form the list
//! of the same port, with one event pending, as in the partition of the owner: the same event of a
//! run that is not divided takes place in both, and each does its part.

use heddle_units::Time;

use super::packet::{Body, Hot};
use super::{NIL, Network};
use crate::engine::Event;

/// Links to other partitions.
#[derive(Default)]
pub(crate) struct Crossing {
    /// Of each port, the order of its pending arrival's scheduling.
    pending: Vec<u32>,
    /// Packets that ports have accepted in this window: port and packet.
    left: Vec<(u32, u32)>,
}

/// A packet on a link to another partition.
#[derive(Clone, Copy)]
pub(crate) struct Crossed {
    pub(crate) port: u32,
    /// The order of its arrival's scheduling in its own partition; `None` if the packet before it
    /// on the link has not arrived, whose arrival schedules it.
    pub(crate) order: Option<u32>,
    pub(crate) hot: Hot,
    body: Body,
}

impl Network {
    /// Makes this the network of a partition, between which the ports lead of which `crosses`
    /// holds.
    pub(crate) fn divide(&mut self, crosses: impl Fn(u32) -> bool) {
        for id in 0..self.ports.len() as u32 {
            if crosses(id) {
                let port = &mut self.ports[id as usize];
                let class = self.classes[usize::from(port.class)].crossing();
                let known = self.classes.iter().position(|known| *known == class);
                port.class = known.unwrap_or(self.classes.len()) as u16;
                if known.is_none() {
                    self.classes.push(class);
                }
            }
        }
        self.crossing.pending = vec![0; self.ports.len()];
        self.events.take_notes();
    }

    /// Notes a packet that a port has accepted.
    #[inline(never)]
    pub(super) fn leave(&mut self, port_id: u32, packet: u32) {
        self.crossing.left.push((port_id, packet));
        if self.ports[port_id as usize].head == packet {
            self.note_pending(port_id);
        }
    }

    /// Notes that the last event to be scheduled was the arrival of a port.
    pub(super) fn note_pending(&mut self, port_id: u32) {
        self.crossing.pending[port_id as usize] = self.events.scheduled().wrapping_sub(1);
    }

    /// Removes a packet that has arrived in another partition.
    pub(crate) fn hand_over(&mut self, packet: u32) {
        self.packets.hand_over(packet);
    }

    /// Appends the packets that have left to `to`.
    pub(crate) fn take_left(&mut self, to: &mut Vec<Crossed>) {
        let (ports, packets, pending) = (&self.ports, &self.packets, &self.crossing.pending);
        to.extend(self.crossing.left.drain(..).map(|(port, packet)| Crossed {
            port,
            order: (ports[port as usize].head == packet).then(|| pending[port as usize]),
            hot: packets.hot[packet as usize],
            body: packets.body[packet as usize],
        }));
    }

    /// Takes in a packet of another partition. `is_later` tells of the order of an event of its
    /// time whether that was scheduled later.
    pub(crate) fn enter(&mut self, crossed: &Crossed, is_later: impl Fn(u32) -> bool) {
        let arrival: Time = crossed.hot.arrival;
        let packet = self.packets.place(Hot { next: NIL, ..crossed.hot }, crossed.body);
        let port = &mut self.ports[crossed.port as usize];
        let tail = std::mem::replace(&mut port.tail, packet);
        if port.head == NIL {
            port.head = packet;
            self.events.schedule_among(arrival, Event::Arrival(crossed.port), is_later);
        } else {
            self.packets.hot[tail as usize].next = packet;
        }
    }
}
