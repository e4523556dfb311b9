//! Admission of packets at ports: a packet that a port does not accept at first sight.
//!
//! [`Network::send`] accepts most packets by their transmission time alone. The rest is decided
//! here, and only here: packets at ports that are down, lossy, nearly full or managed, and packets
//! that go before others.

use heddle_units::Time;

use super::Network;
use super::port::{Priority, Slot};

/// The decision on a packet at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// It is sent behind all others.
    Last(Slot),
    /// It is sent before the packets of the second queue that have not started, the last of which
    /// ends then.
    First { end: Time },
    /// The port is down or its link loses it.
    Lost,
    /// The buffer has no room for it.
    Full,
}

impl Network {
    /// Enqueues a packet at a port if it is admitted; drops and counts it otherwise.
    // Not cold: acknowledgements at hosts that send take this way.
    #[inline(never)]
    pub(super) fn send_if_admitted(&mut self, now: Time, port_id: u32, packet: u32) {
        match self.admit(now, port_id, packet) {
            Verdict::First { end } => self.accept_first(now, port_id, packet, end),
            Verdict::Last(slot) => self.accept_in_order(now, port_id, packet, slot),
            Verdict::Lost => {
                self.port_stats[port_id as usize].failure_drops += 1;
                return self.packets.remove(packet);
            }
            Verdict::Full => {
                self.port_stats[port_id as usize].buffer_drops += 1;
                return self.packets.remove(packet);
            }
        }
        if self.is_managed(port_id) {
            self.mark_early(port_id, packet);
        }
    }

    /// Decides on a packet. Buffers do not limit the first queue of a host's port: the host would
    /// not send the packet otherwise.
    fn admit(&mut self, now: Time, port_id: u32, packet: u32) -> Verdict {
        self.update_started(port_id, now);
        if !self.ports[port_id as usize].is_clean && self.is_lost(port_id, packet) {
            return Verdict::Lost;
        }
        let port = &self.ports[port_id as usize];
        let class = &self.classes[usize::from(port.class)];
        let start = port.busy_until.max(now);
        let end = start + class.time_for(u32::from(self.packets.hot[packet as usize].size));
        let (is_busy, waiting) = (start > now, port.waiting);
        let goes_first = self.packets.goes_first(packet, class.priority);
        let (is_managed, averages) = (class.is_managed, class.manages(goes_first));
        if class.priority == Priority::ControlFirst && is_busy {
            return self.admit_apart(now, port_id, packet, Slot { start, end });
        }
        if is_busy && goes_first {
            let is_full = end - now > class.buffer_time || waiting >= class.max_waiting;
            let is_limited = class.priority == Priority::FirstBytes;
            if averages {
                self.average(now, port_id, goes_first);
            }
            return if is_limited && is_full { Verdict::Full } else { Verdict::First { end } };
        }
        let is_full =
            end - now > class.limit(goes_first) || (is_busy && waiting >= class.max_waiting);
        if averages {
            self.average(now, port_id, goes_first);
        }
        match is_full || (is_managed && !self.has_room(now, port_id, packet)) {
            true => Verdict::Full,
            false => Verdict::Last(Slot { start, end }),
        }
    }

    /// Decides on a packet at a busy port whose two queues have a buffer each, which holds the rest
    /// of the packet in transmission, too. Data above the threshold is cut to its header.
    fn admit_apart(&mut self, now: Time, port_id: u32, packet: u32, slot: Slot) -> Verdict {
        let class = self.classes[usize::from(self.ports[port_id as usize].class)];
        let time = slot.end - slot.start;
        if self.packets.goes_first(packet, class.priority) {
            let waiting = self.queued(port_id, false);
            let is_full = slot.end - now > class.buffer_time + waiting;
            return if is_full { Verdict::Full } else { Verdict::First { end: slot.end } };
        }
        let data = self.ahead(now, port_id, false).waiting + time;
        if class.is_managed {
            self.average(now, port_id, false);
        }
        if class.trims(data) {
            self.port_stats[port_id as usize].trims += 1;
            self.packets.trim(packet, self.ports[port_id as usize].to);
            let header = class.time_for(u32::from(self.packets.hot[packet as usize].size));
            let slot = Slot { end: slot.start + header, ..slot };
            return self.admit_apart(now, port_id, packet, slot);
        }
        let waiting = self.ports[port_id as usize].waiting;
        match data > class.buffer_time || waiting >= class.max_waiting {
            true => Verdict::Full,
            false => Verdict::Last(slot),
        }
    }

    fn is_managed(&self, port_id: u32) -> bool {
        self.classes[usize::from(self.ports[port_id as usize].class)].is_managed
    }
}
