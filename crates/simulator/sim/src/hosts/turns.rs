//! Senders that wait for their host's link before each packet, in turn, as queues of a NIC do: a
//! packet is built when the link is free, so that neither its age nor the window counts the host's
//! own queue.
//!
//! Control packets are not held back: the host's port sends them before data.

use std::collections::VecDeque;

use heddle_units::Time;

use super::entropy::At;
use super::{HostContext, Hosts};
use crate::engine::Event;
use crate::network::PacketKind;

/// Connections that wait, for each interface.
#[derive(Default)]
pub(super) struct Turns {
    links: Vec<Link>,
    /// True of each connection that is in a queue.
    is_waiting: Vec<bool>,
}

#[derive(Clone, Default)]
struct Link {
    /// Connections that may send, the next one first.
    queue: VecDeque<u32>,
    /// Time of the pending event; in the past if there is none.
    event_at: Time,
}

impl Turns {
    /// Puts a connection behind the others of its interface, unless it waits already.
    pub(super) fn join(&mut self, interface: u32, id: u32) {
        let (interface, connection) = (interface as usize, id as usize);
        if interface >= self.links.len() {
            self.links.resize(interface + 1, Link::default());
        }
        if connection >= self.is_waiting.len() {
            self.is_waiting.resize(connection + 1, false);
        }
        if !std::mem::replace(&mut self.is_waiting[connection], true) {
            self.links[interface].queue.push_back(id);
        }
    }

    /// Takes the next connection of an interface.
    pub(super) fn next(&mut self, interface: u32) -> Option<u32> {
        let id = self.links.get_mut(interface as usize)?.queue.pop_front()?;
        self.is_waiting[id as usize] = false;
        Some(id)
    }

    /// True if an event is to be scheduled for the next turn of an interface: a connection waits for
    /// it, and none is pending.
    pub(super) fn awaits_event(&mut self, interface: u32, now: Time, at: Time) -> bool {
        let Some(link) = self.links.get_mut(interface as usize) else { return false };
        let is_awaited = !link.queue.is_empty() && link.event_at <= now;
        if is_awaited {
            link.event_at = at;
        }
        is_awaited
    }

    /// Forgets a connection that closes.
    pub(super) fn forget(&mut self, id: u32) {
        if let Some(waits @ true) = self.is_waiting.get_mut(id as usize) {
            *waits = false;
            self.links.iter_mut().for_each(|link| link.queue.retain(|other| *other != id));
        }
    }
}

impl Hosts {
    /// Lets a connection send as far as it may, in its turn.
    pub(super) fn wait_for_link(&mut self, cx: &mut HostContext, id: u32) {
        let connection = &self.connections[id as usize];
        if connection.transport.can_send(&self.groups) {
            let at = At { now: cx.now, connection: id, path: 0 };
            let tuple = self.five_tuple(cx, at, PacketKind::Forward, None);
            self.turns.join(tuple.from.into(), id);
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
            let Some(id) = self.turns.next(interface) else { return };
            let transport = &mut self.connections[id as usize].transport;
            let Some(segment) = transport.next_segment(&self.groups, cx.now) else { continue };
            if transport.can_send(&self.groups) {
                self.turns.join(interface, id);
            }
            self.transmit(cx, id, segment, PacketKind::Forward);
            self.after_sending(cx, id);
        }
    }
}
