//! Links that lose packets, or change their rates and delays, during a run.
//!
//! A port's packets have their arrivals from the moment that they are accepted ([`super::link`]). A
//! change of rate or delay computes those of the packets that wait anew; the packet in
//! transmission, and those on the way, are as they were.

use std::collections::BTreeMap;

use heddle_policy::mix;
use heddle_scenario::{Impairment, Share};
use heddle_units::{Rate, Time};

use super::port::{LinkClass, Slot};
use super::{NIL, Network};
use crate::random::Random;

/// Ports that lose packets, or whose delay has fallen.
pub(crate) struct Impairments {
    random: Random,
    ports: BTreeMap<u32, Losses>,
}

/// Losses of a port.
#[derive(Clone, Copy, Debug, Default)]
struct Losses {
    /// Of each packet.
    loss: Share,
    /// Of flows, by a hash.
    blackhole: Share,
    /// The link, so that each loses other flows.
    salt: u32,
}

impl Impairments {
    pub(crate) fn new(random: Random) -> Impairments {
        Impairments { random, ports: BTreeMap::new() }
    }

    /// True if a port loses packets, or may have some that arrive late.
    pub(super) fn is_lossy(&self, port: u32) -> bool {
        self.ports.contains_key(&port)
    }

    /// Draws whether a port loses a packet of a flow.
    fn draw(&mut self, port: u32, flow_hash: u32) -> bool {
        let Some(losses) = self.ports.get(&port) else { return false };
        let of_flow = mix(flow_hash, losses.salt);
        losses.blackhole.holds(of_flow) || losses.loss.holds(self.random.bits())
    }
}

impl Network {
    /// True if a port that is not clean loses a packet: it is down, or impaired.
    pub(super) fn is_lost(&mut self, port_id: u32, packet: u32) -> bool {
        let flow_hash = self.packets.hot[packet as usize].flow_hash;
        !self.ports[port_id as usize].up || self.impairments.draw(port_id, flow_hash)
    }

    /// Impairs a port of a link.
    pub(crate) fn degrade(&mut self, now: Time, port_id: u32, link: u32, impairment: &Impairment) {
        let class = &self.classes[usize::from(self.ports[port_id as usize].class)];
        let (rate, delay) = (class.rate, class.delay);
        let changed = (impairment.rate.unwrap_or(rate), impairment.delay.unwrap_or(delay));
        if changed != (rate, delay) {
            self.set_rate(now, port_id, changed);
        }
        if impairment.loss.is_some() || impairment.blackhole.is_some() {
            let losses = self.impairments.ports.entry(port_id).or_default();
            losses.loss = impairment.loss.unwrap_or(losses.loss);
            losses.blackhole = impairment.blackhole.unwrap_or(losses.blackhole);
            losses.salt = mix(link.wrapping_add(1), 0);
            let port = &mut self.ports[port_id as usize];
            port.set_up(port.up, true);
        }
    }

    /// Ends the impairments of a port whose link has a rate and a delay.
    pub(crate) fn repair(&mut self, now: Time, port_id: u32, whole: (Rate, Time)) {
        self.impairments.ports.remove(&port_id);
        let port = &mut self.ports[port_id as usize];
        port.set_up(port.up, false);
        let class = &self.classes[usize::from(port.class)];
        if (class.rate, class.delay) != whole {
            self.set_rate(now, port_id, whole);
        }
    }

    /// Sets the rate and delay of a switch's port. Packets do not overtake each other where the
    /// delay falls: from then on each takes a further look.
    fn set_rate(&mut self, now: Time, port_id: u32, (rate, delay): (Rate, Time)) {
        self.update_started(port_id, now);
        let port = self.ports[port_id as usize];
        let mut arrival = self.last_started_arrival(port_id);
        let mut end = if port.next_to_start == NIL { port.busy_until } else { port.next_start };
        let LinkClass { rate: rate_before, delay: delay_before, .. } =
            self.classes[usize::from(port.class)];
        self.management.change_rate(port_id, rate_before, rate);
        if delay < delay_before {
            self.impairments.ports.entry(port_id).or_default();
            self.ports[port_id as usize].set_up(port.up, true);
        }
        let class = self.class_of(port.class, rate, delay);
        self.ports[port_id as usize].class = class;
        // The head of the list has started, so that the one pending event of the port remains
        // right.
        let class = &self.classes[usize::from(class)];
        let mut queue = class.has_two_queues().then(|| &mut self.priority_queues[port_id as usize]);
        if let Some(queue) = &mut queue {
            queue.second_time = Time::ZERO;
        }
        let (mut packet, mut place) = (port.next_to_start, 0);
        while packet != NIL {
            let hot = &mut self.packets.hot[packet as usize];
            let time = class.time_for(u32::from(hot.size));
            end += time;
            arrival = arrival.max(end + class.delay);
            hot.arrival = arrival;
            if let Some(queue) = &mut queue {
                hot.arrival = queue.requeue(place, (arrival, time));
            }
            (packet, place) = (hot.next, place + 1);
        }
        self.ports[port_id as usize].busy_until = end;
    }

    /// Arrival of the last packet of a port; 0 if it has none.
    fn last_arrival(&self, port_id: u32) -> Time {
        let port = &self.ports[port_id as usize];
        if port.head == NIL {
            return Time::ZERO;
        }
        let stored = self.packets.hot[port.tail as usize].arrival;
        match self.priority_queues.get(port_id as usize) {
            Some(queue) => queue.last_arrival(stored),
            None => stored,
        }
    }

    /// Accepts a packet, which arrives after the one before it, also where that one has a longer
    /// delay.
    pub(super) fn accept_in_order(&mut self, now: Time, port_id: u32, packet: u32, slot: Slot) {
        let last = self.last_arrival(port_id);
        self.accept(now, port_id, packet, slot);
        if last > now {
            let early = last.saturating_sub(self.last_arrival(port_id));
            let hot = &mut self.packets.hot[packet as usize];
            hot.arrival += early;
        }
    }

    /// Arrival of the last packet of a port that has started; 0 if none is on its way.
    fn last_started_arrival(&self, port_id: u32) -> Time {
        let port = &self.ports[port_id as usize];
        let (mut packet, mut last) = (port.head, Time::ZERO);
        while packet != NIL && packet != port.next_to_start {
            last = self.packets.hot[packet as usize].arrival;
            packet = self.packets.hot[packet as usize].next;
        }
        last
    }

    /// The class of ports that are as those of another but for rate and delay.
    fn class_of(&mut self, like: u16, rate: Rate, delay: Time) -> u16 {
        let class = self.classes[usize::from(like)].with_rate(rate, delay);
        let known = self.classes.iter().position(|known| *known == class);
        if known.is_none() {
            self.classes.push(class);
        }
        known.unwrap_or(self.classes.len() - 1) as u16
    }
}
