//! Senders that wait for their host's link before each packet, in turn, as queues of a NIC do: a
//! packet is built when the link is free, so that neither its age nor the window counts the host's
//! own queue.
//!
//! Control packets are not held back: the host's port sends them before data.

use std::collections::VecDeque;

use heddle_units::Time;

use super::entropy::{At, Link};
use super::{HostContext, Hosts};
use crate::engine::Event;
use crate::network::PacketKind;

/// Connections that wait, for each interface.
#[derive(Default)]
pub(super) struct Turns {
    interfaces: Vec<Interface>,
    /// Of each connection the numbers of its interfaces in whose queues it is, as bits.
    waiting: Vec<u64>,
}

/// A connection in the queue of one of its interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) connection: u32,
    /// Number of the interface among those over which the connection spreads its packets; 0 if it
    /// keeps to one.
    pub(super) number: u32,
}

impl Waiting {
    /// A connection that keeps to one interface.
    pub(super) fn on_one(connection: u32) -> Waiting {
        Waiting { connection, number: 0 }
    }

    fn bit(self) -> u64 {
        1 << (self.number % u64::BITS)
    }
}

#[derive(Clone, Default)]
struct Interface {
    /// Connections that may send, the next one first.
    queue: VecDeque<Waiting>,
    /// Time of the pending event; in the past if there is none.
    event_at: Time,
}

impl Turns {
    /// Puts a connection behind the others of its interface, unless it waits already.
    pub(super) fn join(&mut self, interface: u32, waiting: Waiting) {
        let (interface, connection) = (interface as usize, waiting.connection as usize);
        if interface >= self.interfaces.len() {
            self.interfaces.resize(interface + 1, Interface::default());
        }
        if connection >= self.waiting.len() {
            self.waiting.resize(connection + 1, 0);
        }
        if self.waiting[connection] & waiting.bit() == 0 {
            self.waiting[connection] |= waiting.bit();
            self.interfaces[interface].queue.push_back(waiting);
        }
    }

    /// Takes the next connection of an interface.
    pub(super) fn next(&mut self, interface: u32) -> Option<Waiting> {
        let next = self.interfaces.get_mut(interface as usize)?.queue.pop_front()?;
        self.waiting[next.connection as usize] &= !next.bit();
        Some(next)
    }

    /// True if an event is to be scheduled for the next turn of an interface: a connection waits for
    /// it, and none is pending.
    pub(super) fn awaits_event(&mut self, interface: u32, now: Time, at: Time) -> bool {
        let Some(link) = self.interfaces.get_mut(interface as usize) else { return false };
        let is_awaited = !link.queue.is_empty() && link.event_at <= now;
        if is_awaited {
            link.event_at = at;
        }
        is_awaited
    }

    /// Forgets a connection that closes.
    pub(super) fn forget(&mut self, id: u32) {
        if let Some(waiting @ 1..) = self.waiting.get_mut(id as usize) {
            *waiting = 0;
            let is_other = |other: &Waiting| other.connection != id;
            self.interfaces.iter_mut().for_each(|one| one.queue.retain(is_other));
        }
    }
}

impl Hosts {
    /// Lets a connection send as far as it may, in its turn at each of its interfaces.
    pub(super) fn wait_for_link(&mut self, cx: &mut HostContext, id: u32) {
        let links = self.links_of(cx, id);
        for number in 0..links {
            if !self.connections[id as usize].transport.can_send(&self.groups) {
                break;
            }
            let at = At { now: cx.now, connection: id, path: 0 };
            let tuple = self.five_tuple(cx, at, PacketKind::Forward, Some(number));
            self.turns.join(tuple.from.into(), Waiting { connection: id, number });
            self.send_in_turn(cx, tuple.from.into());
        }
        self.after_sending(cx, id);
    }

    /// Handles the event of a link that is free.
    pub(crate) fn link_free(&mut self, cx: &mut HostContext, interface: u32) {
        self.send_in_turn(cx, interface);
    }

    /// Sends a packet of the next connection while the link is free.
    fn send_in_turn(&mut self, cx: &mut HostContext, interface: u32) {
        loop {
            // An interface has the number of its port.
            let free_at = cx.network.ports[interface as usize].busy_until;
            if free_at > cx.now {
                if self.turns.awaits_event(interface, cx.now, free_at) {
                    cx.network.events.schedule(free_at, Event::Link(interface));
                }
                return;
            }
            let Some(next) = self.turns.next(interface) else { return };
            let id = next.connection;
            let link = Link { number: next.number, count: self.links_of(cx, id) };
            let transport = &mut self.connections[id as usize].transport;
            let Some(segment) = transport.next_segment(&self.groups, cx.now) else { continue };
            if transport.can_send(&self.groups) {
                self.turns.join(interface, next);
            }
            self.transmit_on(cx, link, id, segment, PacketKind::Forward);
            self.after_sending(cx, id);
        }
    }
}
