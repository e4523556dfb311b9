//! Transmission of packets over links: one event for each packet and link.
//!
//! A port is a FIFO queue, so the departure of a packet and its arrival at the far end are known
//! once it is accepted, and the occupancy of the port follows from the same figure. A packet
//! therefore costs one event for each link, its arrival. Only the packet at the head of each link
//! has an event pending; the others wait in the list of the link.

use heddle_policy::Util;
use heddle_transport::Kind;
use heddle_units::{Bytes, Time};

use super::packet::{Hot, PacketKind};
use super::port::Slot;
use super::priority_queue::PriorityQueue;
use super::{NIL, Network};
use crate::engine::Event;

impl Network {
    /// Enqueues a packet at a port, or drops and counts it.
    #[inline]
    pub(crate) fn send(&mut self, now: Time, port_id: u32, packet: u32) {
        let port = &mut self.ports[port_id as usize];
        let class = &self.classes[usize::from(port.class)];
        let size = u32::from(self.packets.hot[packet as usize].size);
        let start = port.busy_until.max(now);
        let end = start + class.time_for(size);
        if class.has_two_queues() && start > now && self.packets.goes_first(packet, class.priority)
        {
            return self.send_if_admitted(now, port_id, packet);
        }
        if end - now > class.accept_within || port.waiting >= class.max_waiting || !port.is_clean {
            return self.send_if_admitted(now, port_id, packet);
        }
        self.accept(now, port_id, packet, Slot { start, end });
    }

    #[inline]
    pub(super) fn accept(&mut self, now: Time, port_id: u32, packet: u32, slot: Slot) {
        if self.meter.is_some() {
            self.update_started(port_id, now);
        }
        let port = &mut self.ports[port_id as usize];
        let class = &self.classes[usize::from(port.class)];
        let (arrival, is_marked) = (slot.end + class.delay, slot.start - now > class.mark_time);
        if class.has_two_queues() {
            return self.accept_second(now, port_id, packet, slot);
        }
        let crosses = class.crosses;
        let hot = &mut self.packets.hot[packet as usize];
        (hot.arrival, hot.next) = (arrival, NIL);
        self.append(now, port_id, packet, slot, arrival);
        if is_marked {
            self.mark(port_id, packet);
        }
        if crosses {
            self.leave(port_id, packet);
        }
    }

    /// Appends an accepted packet to the list of its port.
    #[inline]
    pub(super) fn append(
        &mut self,
        now: Time,
        port_id: u32,
        packet: u32,
        Slot { start, end }: Slot,
        arrival: Time,
    ) {
        let port = &mut self.ports[port_id as usize];
        let size = u32::from(self.packets.hot[packet as usize].size);
        (port.busy_until, port.accepted_bytes) = (end, port.accepted_bytes + u64::from(size));
        self.hops += 1;
        if port.head == NIL {
            port.head = packet;
            self.events.schedule(arrival, Event::Arrival(port_id));
        } else {
            self.packets.hot[port.tail as usize].next = packet;
        }
        port.tail = packet;
        if start > now {
            port.waiting += 1;
            if port.next_to_start == NIL {
                (port.next_to_start, port.next_start) = (packet, start);
            }
        } else {
            // The port is idle, so all packets before this one have started.
            (port.next_to_start, port.waiting) = (NIL, 0);
            if let Some(shift) = self.meter {
                port.dre.add(now.as_nanos(), size, shift);
            }
        }
    }

    /// Sets CE on a data packet. Acknowledgements, SYNs and probes are not ECN-capable (RFC 3168
    /// sections 5.2 and 6.1.1); on an acknowledgement the bit would read as ECE.
    pub(super) fn mark(&mut self, port_id: u32, packet: u32) {
        let segment = &mut self.packets.body[packet as usize].segment;
        let kind = self.packets.hot[packet as usize].kind;
        if kind == PacketKind::Forward && segment.kind == Kind::Data {
            segment.ecn.mark();
            self.port_stats[port_id as usize].ecn_marks += 1;
        }
    }

    /// Removes the packet that reaches the far end of a port's link now; `None` if the event is
    /// stale because the link failed.
    #[inline]
    pub(crate) fn arrive(&mut self, now: Time, port_id: u32) -> Option<u32> {
        let class = &self.classes[usize::from(self.ports[port_id as usize].class)];
        let crosses = class.crosses;
        if class.has_two_queues() {
            self.update_started(port_id, now);
        }
        let port = &mut self.ports[port_id as usize];
        let packet = port.head;
        if packet == NIL || self.packets.hot[packet as usize].arrival != now {
            return None;
        }
        if port.next_to_start == packet {
            self.start_transmission(port_id, packet);
        }
        let port = &mut self.ports[port_id as usize];
        port.head = self.packets.hot[packet as usize].next;
        if port.head != NIL {
            let arrival = self.packets.hot[port.head as usize].arrival;
            self.events.schedule(arrival, Event::Arrival(port_id));
            if crosses {
                self.note_pending(port_id);
            }
        }
        Some(packet)
    }

    /// Records the packets of a port that have started transmission by `now`, also in the
    /// utilisation estimator.
    pub(crate) fn update_started(&mut self, port_id: u32, now: Time) {
        loop {
            let port = &self.ports[port_id as usize];
            if port.next_to_start == NIL || port.next_start > now {
                return;
            }
            self.start_transmission(port_id, port.next_to_start);
        }
    }

    /// Records the start of transmission of the first packet not known to have started.
    #[inline]
    fn start_transmission(&mut self, port_id: u32, packet: u32) {
        let Hot { next, size, .. } = self.packets.hot[packet as usize];
        let size = u32::from(size);
        let port = &mut self.ports[port_id as usize];
        let class = &self.classes[usize::from(port.class)];
        if let Some(shift) = self.meter {
            port.dre.add(port.next_start.as_nanos(), size, shift);
        }
        port.waiting -= 1;
        port.next_to_start = next;
        port.next_start += class.time_for(size);
        if class.has_two_queues() {
            self.start_first(port_id, packet);
        }
    }

    /// Transmit utilisation of a port at `now`.
    pub(crate) fn utilisation(&mut self, port_id: u32, now: Time) -> Util {
        let Some(shift) = self.meter else { return 0 };
        self.update_started(port_id, now);
        let port = &self.ports[port_id as usize];
        let full = self.classes[usize::from(port.class)].bytes_in_tau(shift);
        port.dre.util(now.as_nanos(), shift, full)
    }

    /// Bytes waiting at a port.
    pub(crate) fn backlog(&self, port_id: u32, now: Time) -> Bytes {
        let port = &self.ports[port_id as usize];
        port.backlog(&self.classes[usize::from(port.class)], now)
    }

    /// Takes a link direction down and drops every packet on it. Its pending event becomes stale.
    pub(crate) fn fail(&mut self, port_id: u32, now: Time) {
        let unsent = self.backlog(port_id, now).0;
        let port = &mut self.ports[port_id as usize];
        let mut packet = port.head;
        (port.head, port.tail, port.next_to_start, port.waiting) = (NIL, NIL, NIL, 0);
        port.set_up(false, false);
        port.busy_until = now;
        if let Some(queue) = self.priority_queues.get_mut(port_id as usize) {
            *queue = PriorityQueue::default();
        }
        port.accepted_bytes -= unsent;
        while packet != NIL {
            let next = self.packets.hot[packet as usize].next;
            self.port_stats[port_id as usize].failure_drops += 1;
            self.packets.remove(packet);
            packet = next;
        }
    }

    /// Brings a link direction up again.
    pub(crate) fn recover(&mut self, port_id: u32) {
        let is_lossy = self.impairments.is_lossy(port_id);
        self.ports[port_id as usize].set_up(true, is_lossy);
    }
}
