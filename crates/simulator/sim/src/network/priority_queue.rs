//! Ports with two queues, of which the first is sent before the second, without preemption.
//!
//! **A host's own port** sends control packets (acknowledgements, handshakes) before the data that
//! waits. A host's acknowledgements do not wait behind its own data: its stack holds data back
//! while the port is busy (Linux: TCP small queues and fair queueing), so that an acknowledgement
//! waits for the packet in transmission and for other control packets only. In one FIFO queue they
//! would wait for a window of data, and the round-trip times of both directions would grow with
//! each other.
//!
//! **A switch's port** may send the first bytes of each flow before the rest, and control packets
//! and probes with them: PIAS (Bai et al., NSDI 2015) with two queues. Hosts mark these packets.
//! Both queues share the port's buffer, of which an eighth is for the first alone.
//!
//! Or it sends **control packets first**: acknowledgements, handshakes, probes, and the headers of
//! packets whose payload it has cut off. Each queue then has a buffer of the port's size, and data
//! is marked, cut and dropped by the data before it alone (NDP, SIGCOMM 2017, section 3.1; the
//! composite queue of the public uet-htsim).
//!
//! A port remains a list with one event at its head. A packet that goes first is linked in before
//! the first packet of the second queue that has not started, and all behind it are late by its
//! transmission time. This is one addition: packets of the second queue store their arrival less
//! [`PriorityQueue::shift`], to which the shift is added when the packet starts.

use heddle_units::Time;

use super::packet::Hot;
use super::port::{Priority, Slot};
use super::{NIL, Network};

/// The two queues of a port, beside what every port has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PriorityQueue {
    /// Transmission times of all packets that went before others, up to now.
    shift: Time,
    /// Packets of the first queue that have not started.
    first: u32,
    /// The last of them; if there are none, the packet that started last.
    last_first: u32,
    /// Transmission times of the packets of the second queue that have not started.
    pub(super) second_time: Time,
}

/// The queue in front of a packet at a port with two queues.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    /// Transmission times of the packets of its queue, and the rest of the packet in transmission.
    pub(super) waiting: Time,
    /// True if none of its queue waits.
    pub(super) is_empty: bool,
}

impl Default for PriorityQueue {
    fn default() -> PriorityQueue {
        PriorityQueue { shift: Time::ZERO, first: 0, last_first: NIL, second_time: Time::ZERO }
    }
}

impl PriorityQueue {
    /// Puts a packet at the end of the second queue; returns what it stores as its arrival.
    fn push(&mut self, (arrival, time): (Time, Time)) -> Time {
        self.second_time += time;
        arrival - self.shift
    }

    /// Puts the packet at a place among those that have not started there again after a change of
    /// rate, as [`PriorityQueue::push`].
    pub(super) fn requeue(&mut self, place: u32, (arrival, time): (Time, Time)) -> Time {
        if place < self.first { arrival } else { self.push((arrival, time)) }
    }

    /// The arrival of the last packet of a port, by what it stores.
    pub(super) fn last_arrival(&self, stored: Time) -> Time {
        if self.second_time > Time::ZERO { stored + self.shift } else { stored }
    }

    /// The arrival of the packet at a place among those that have not started, by what it stores.
    fn arrival(&self, place: u32, stored: Time) -> Time {
        if place < self.first { stored } else { stored + self.shift }
    }
}

impl Network {
    /// Accepts a packet at the end of the second queue; it is sent from `start` to `end`.
    #[inline]
    pub(super) fn accept_second(&mut self, now: Time, port_id: u32, packet: u32, slot: Slot) {
        self.update_started(port_id, now);
        let Slot { start, end } = slot;
        let class = &self.classes[usize::from(self.ports[port_id as usize].class)];
        let ahead = match class.priority {
            Priority::ControlFirst => self.ahead(now, port_id, false).waiting,
            _ => start - now,
        };
        let (arrival, is_marked) = (end + class.delay, ahead > class.mark_time);
        let queue = &mut self.priority_queues[port_id as usize];
        let hot = &mut self.packets.hot[packet as usize];
        (hot.arrival, hot.next) = (arrival, NIL);
        if start > now {
            hot.arrival = queue.push((arrival, end - start));
        } else {
            queue.last_first = packet;
            if class.is_managed {
                let is_first = self.packets.goes_first(packet, class.priority);
                self.note_start(port_id, is_first, end);
            }
        }
        self.append(now, port_id, packet, slot, arrival);
        if is_marked {
            self.mark(port_id, packet);
        }
    }

    /// Accepts a packet at the end of the first queue of a busy port, whose packets are then sent
    /// until `end`.
    pub(super) fn accept_first(&mut self, now: Time, port_id: u32, packet: u32, end: Time) {
        let port = &mut self.ports[port_id as usize];
        let class = &self.classes[usize::from(port.class)];
        let size = u32::from(self.packets.hot[packet as usize].size);
        let queue = &mut self.priority_queues[port_id as usize];
        let before = queue.last_first;
        let start = (port.busy_until - queue.second_time).max(now);
        let is_marked = class.priority == Priority::FirstBytes && start - now > class.mark_time;
        let Hot { arrival: arrival_before, next, .. } = self.packets.hot[before as usize];
        let hot = &mut self.packets.hot[packet as usize];
        hot.arrival = (start + class.time_for(size) + class.delay).max(arrival_before);
        hot.next = next;
        self.packets.hot[before as usize].next = packet;
        if port.tail == before {
            port.tail = packet;
        }
        if queue.first == 0 {
            (port.next_to_start, port.next_start) = (packet, start);
        }
        queue.last_first = packet;
        queue.first += 1;
        queue.shift += class.time_for(size);
        port.waiting += 1;
        port.busy_until = end;
        port.accepted_bytes += u64::from(size);
        self.hops += 1;
        if is_marked {
            self.mark(port_id, packet);
        }
    }

    /// Transmission times of the packets of a queue that have not started.
    pub(super) fn queued(&self, port_id: u32, is_first: bool) -> Time {
        let second = self.priority_queues[port_id as usize].second_time;
        match is_first {
            true => self.ports[port_id as usize].busy_until - second - self.free_at(port_id),
            false => second,
        }
    }

    /// The packets of a queue, and the rest of the packet in transmission.
    pub(super) fn ahead(&self, now: Time, port_id: u32, is_first: bool) -> Ahead {
        let waiting = self.queued(port_id, is_first);
        let rest = self.free_at(port_id).saturating_sub(now);
        Ahead { waiting: rest + waiting, is_empty: waiting == Time::ZERO }
    }

    /// The end of the packet in transmission, or of the last one.
    fn free_at(&self, port_id: u32) -> Time {
        let port = &self.ports[port_id as usize];
        if port.next_to_start == NIL { port.busy_until } else { port.next_start }
    }

    /// Arrival of the first packet of a port that has not started.
    pub(super) fn first_arrival(&self, port_id: u32, packet: u32) -> Time {
        self.priority_queues[port_id as usize].arrival(0, self.packets.hot[packet as usize].arrival)
    }

    /// Arrival of the packet at a place among those that have not started.
    #[cfg(test)]
    pub(super) fn waiting_arrival(&self, port_id: u32, packet: u32, place: usize) -> Time {
        let hot = &self.packets.hot[packet as usize];
        self.priority_queues[port_id as usize].arrival(place as u32, hot.arrival)
    }

    /// Fixes the arrival of the first packet that has not started: it starts.
    pub(super) fn start_first(&mut self, port_id: u32, packet: u32) {
        self.packets.hot[packet as usize].arrival = self.first_arrival(port_id, packet);
        let class = &self.classes[usize::from(self.ports[port_id as usize].class)];
        let queue = &mut self.priority_queues[port_id as usize];
        let is_first = queue.first > 0;
        if !is_first {
            let time = class.time_for(self.packets.hot[packet as usize].size.into());
            queue.second_time = queue.second_time - time;
        }
        if queue.first <= 1 {
            queue.last_first = packet;
        }
        queue.first = queue.first.saturating_sub(1);
        if class.is_managed {
            self.note_start(port_id, is_first, self.ports[port_id as usize].next_start);
            self.mark_departing(port_id, packet, is_first);
        }
    }
}
