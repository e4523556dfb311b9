//! The queue of a host's own port, where control packets (acknowledgements, handshakes) go before the data that waits.
//!
//! A host's acknowledgements do not wait behind its own data: its stack holds data back while the port is busy (Linux: TCP small queues and
//! fair queueing), so that an acknowledgement waits for the packet in transmission and for other control packets only. In one FIFO queue
//! they would wait for a window of data, and the round-trip times of both directions would grow with each other.
//!
//! A port remains a list with one event at its head. A control packet is linked in before the first data packet that has not started, and
//! all data behind it is late by its transmission time. This is one addition: waiting data stores its arrival less
//! [`HostQueue::shift`], to which the shift is added when the packet starts.

use heddle_units::Time;

use super::link::Network;
use super::packet::NIL;

/// A host's own port, beside what every port has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostQueue {
    /// Transmission times of all control packets that went before waiting data, up to now.
    shift: Time,
    /// Control packets that have not started. They are the first of those that wait.
    controls: u32,
    last_control: u32,
    /// The packet that started last.
    last_started: u32,
}

impl Default for HostQueue {
    fn default() -> HostQueue {
        HostQueue { shift: Time::ZERO, controls: 0, last_control: NIL, last_started: NIL }
    }
}

impl Network {
    /// Accepts a packet at the end of a host's queue; it is sent from `start` to `end`.
    #[inline]
    pub(super) fn accept_at_host(
        &mut self,
        now: Time,
        port_id: u32,
        packet: u32,
        (start, end): (Time, Time),
    ) {
        self.update_started(port_id, now);
        let class = &self.classes[usize::from(self.ports[port_id as usize].class)];
        let (arrival, is_marked) = (end + class.delay, start - now > class.mark_time);
        let queue = &mut self.host_queues[port_id as usize];
        let hot = &mut self.packets.hot[packet as usize];
        (hot.arrival, hot.next) = (arrival, NIL);
        if start > now {
            hot.arrival = arrival - queue.shift;
        } else {
            queue.last_started = packet;
        }
        self.append(now, port_id, packet, (start, end, arrival));
        if is_marked {
            self.mark(port_id, packet);
        }
    }

    /// Enqueues a control packet at a busy port of a host, before the data that waits. Buffers do not limit it: its host would not send it
    /// otherwise.
    pub(super) fn send_control(&mut self, now: Time, port_id: u32, packet: u32) {
        if !self.ports[port_id as usize].is_clean && self.is_lost(port_id, packet) {
            self.port_stats[port_id as usize].failure_drops += 1;
            return self.packets.remove(packet);
        }
        self.update_started(port_id, now);
        let port = &mut self.ports[port_id as usize];
        let class = &self.classes[usize::from(port.class)];
        let queue = &mut self.host_queues[port_id as usize];
        let size = u32::from(self.packets.hot[packet as usize].size);
        let before = if queue.controls > 0 { queue.last_control } else { queue.last_started };
        let arrival = self.packets.hot[before as usize].arrival + class.time_for(size);
        let next = self.packets.hot[before as usize].next;
        let hot = &mut self.packets.hot[packet as usize];
        (hot.arrival, hot.next) = (arrival, next);
        self.packets.hot[before as usize].next = packet;
        if port.tail == before {
            port.tail = packet;
        }
        if queue.controls == 0 {
            port.next_to_start = packet;
        }
        queue.last_control = packet;
        queue.controls += 1;
        queue.shift += class.time_for(size);
        port.waiting += 1;
        port.busy_until += class.time_for(size);
        port.accepted_bytes += u64::from(size);
        self.hops += 1;
    }

    /// Arrival of the first packet of a host's queue that has not started.
    pub(super) fn arrival_at_host(&self, port_id: u32, packet: u32) -> Time {
        let (queue, hot) =
            (&self.host_queues[port_id as usize], &self.packets.hot[packet as usize]);
        if queue.controls > 0 { hot.arrival } else { hot.arrival + queue.shift }
    }

    /// Arrival of the packet at a place among those that have not started.
    #[cfg(test)]
    pub(super) fn waiting_arrival(&self, port_id: u32, packet: u32, place: usize) -> Time {
        let (queue, hot) =
            (&self.host_queues[port_id as usize], &self.packets.hot[packet as usize]);
        if place < queue.controls as usize { hot.arrival } else { hot.arrival + queue.shift }
    }

    /// Fixes the arrival of the first packet that has not started: it starts.
    pub(super) fn start_at_host(&mut self, port_id: u32, packet: u32) {
        self.packets.hot[packet as usize].arrival = self.arrival_at_host(port_id, packet);
        let queue = &mut self.host_queues[port_id as usize];
        queue.controls = queue.controls.saturating_sub(1);
        queue.last_started = packet;
    }
}
