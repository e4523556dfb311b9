//! Switch ports at which a fixed buffer and a fixed threshold do not decide: a buffer that the
//! ports of a switch share, and marking by RED.
//!
//! Their classes accept no packet at first sight ([`LinkClass::accept_within`](super::LinkClass) is
//! 0), so that other ports pay nothing.
//!
//! **Shared buffers** have dynamic thresholds (Choudhury and Hahne, IEEE/ACM Transactions on
//! Networking 1998): a packet is accepted if its port holds less than alpha times the bytes that
//! are free. Ports hold what they have not sent, the rest of the packet in transmission included.
//! It follows from `busy_until`, so that a departure costs no event: each switch has a list of its
//! busy ports, and a packet adds up what they hold.
//!
//! **RED** (Floyd and Jacobson, IEEE/ACM Transactions on Networking 1993) averages the queue that
//! packets find, marks with a probability that grows with the average, and spaces marks evenly:
//! after n packets without a mark the next has p / (1 - n p). While a port is idle the average
//! decays as if packets of 1500 bytes found it empty; the packet that ends the idle time is
//! averaged, too, as in ns-2 (`RED::estimator`; the paper's listing leaves it out). Every packet is
//! averaged, only data is marked, and none is dropped.
//!
//! Ports with two queues have an average for each queue that may hold data, as WRED of switches has:
//! of the bytes in that queue and of the rest of the packet in transmission, which decays while the
//! queue is idle. Marks may be drawn as a packet departs, by what waits behind it in its queue.

use heddle_fabric::Fabric;
use heddle_scenario::{Red, SharedBuffer};
use heddle_units::{Rate, Time};

use super::packet::PacketKind;
use super::port::LinkClass;
use super::priority_queue::Ahead;
use super::{NIL, Network};
use crate::random::Random;

/// Packets that an idle port is taken to send while the average decays, in bytes.
const IDLE_PACKET: u32 = 1500;

/// Shared buffers and RED of a network's switch ports; none of either by default.
#[derive(Default)]
pub(crate) struct Management {
    buffers: Option<Buffers>,
    marking: Option<Marking>,
}

/// Buffers of switches.
struct Buffers {
    shared: SharedBuffer,
    /// The switch of each port; `NIL` for hosts' ports.
    switch_of: Vec<u32>,
    /// Ports of each switch that may hold bytes.
    busy: Vec<Vec<u32>>,
}

/// RED at ports.
struct Marking {
    red: Red,
    ports: Vec<Averages>,
    random: Random,
}

/// The averages of a port's queues.
#[derive(Clone, Copy, Debug, Default)]
struct Averages {
    first: Average,
    /// Of the second queue, or of the only one.
    second: Average,
}

/// The average of a queue, as waiting time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Average {
    /// In picoseconds at the port's rate.
    waiting: f64,
    /// Packets since the last mark, or since the average was below the threshold.
    unmarked: u32,
    /// End of the transmission of its last packet that has started, at a port with two queues.
    busy_until: Time,
}

impl Averages {
    fn of(&mut self, is_first: bool) -> &mut Average {
        if is_first { &mut self.first } else { &mut self.second }
    }
}

impl Management {
    /// Of the ports of a fabric's switches.
    pub(crate) fn new(
        fabric: &Fabric,
        shared: Option<SharedBuffer>,
        red: Option<Red>,
        random: Random,
    ) -> Management {
        let switch = |owner: u32| owner.checked_sub(fabric.hosts).unwrap_or(NIL);
        let switch_of = fabric.ports.iter().map(|info| switch(info.owner)).collect();
        Management::of_ports(switch_of, shared, red, random)
    }

    /// Of ports with their switches.
    pub(super) fn of_ports(
        switch_of: Vec<u32>,
        shared: Option<SharedBuffer>,
        red: Option<Red>,
        random: Random,
    ) -> Management {
        let switches = switch_of.iter().filter(|&&switch| switch != NIL).max();
        let switches = switches.map_or(0, |last| *last as usize + 1);
        let averages = vec![Averages::default(); switch_of.len()];
        let busy = vec![Vec::new(); switches];
        Management {
            marking: red.map(|red| Marking { red, ports: averages, random }),
            buffers: shared.map(|shared| Buffers { shared, switch_of, busy }),
        }
    }

    /// Keeps the averages of a port in bytes when its rate changes.
    pub(super) fn change_rate(&mut self, port: u32, before: Rate, after: Rate) {
        if let Some(marking) = &mut self.marking {
            let Averages { first, second } = &mut marking.ports[port as usize];
            let factor = before.0 as f64 / after.0 as f64;
            (first.waiting, second.waiting) = (first.waiting * factor, second.waiting * factor);
        }
    }
}

impl Average {
    /// Averages the queue that a packet finds after an idle time.
    pub(super) fn update(&mut self, red: &Red, waiting: Time, idle: Time, class: &LinkClass) {
        let weight = red.weight.get();
        if idle > Time::ZERO {
            let packets = idle.0 as f64 / class.time_for(IDLE_PACKET).0.max(1) as f64;
            self.waiting *= libm::pow(1.0 - weight, packets);
        }
        self.waiting += weight * (waiting.0 as f64 - self.waiting);
    }

    /// As waiting time in picoseconds.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> f64 {
        self.waiting
    }

    /// Draws whether a packet is marked.
    pub(super) fn draw(&mut self, red: &Red, class: &LinkClass, random: &mut Random) -> bool {
        let probability = self.probability(red, class);
        if probability <= 0.0 {
            self.unmarked = 0;
            return false;
        }
        let spaced = probability / (1.0 - f64::from(self.unmarked) * probability);
        // Below 0: the last of the packets among which a mark must be.
        let is_marked = probability >= 1.0 || spaced < 0.0 || random.unit() < spaced;
        self.unmarked = if is_marked { 0 } else { self.unmarked.saturating_add(1) };
        is_marked
    }

    /// The probability that the average stands for, before marks are spaced.
    fn probability(&self, red: &Red, class: &LinkClass) -> f64 {
        let [min, max] = [red.min, red.max].map(|bytes| class.limit_time(bytes).0 as f64);
        let most = red.probability.get();
        if self.waiting <= min {
            0.0
        } else if self.waiting <= max {
            most * (self.waiting - min) / (max - min)
        } else if red.gentle && self.waiting <= 2.0 * max {
            most + (1.0 - most) * (self.waiting - max) / max
        } else {
            1.0
        }
    }
}

impl Network {
    /// True if a shared buffer has room for a packet of a port.
    pub(super) fn has_room(&mut self, now: Time, port_id: u32, packet: u32) -> bool {
        let Some(buffers) = &mut self.management.buffers else { return true };
        let (ports, classes) = (&self.ports, &self.classes);
        let held_by = |port: u32| {
            let port = &ports[port as usize];
            port.backlog(&classes[usize::from(port.class)], now).0
        };
        let busy = &mut buffers.busy[buffers.switch_of[port_id as usize] as usize];
        let mut held = 0;
        busy.retain(|&port| {
            held += held_by(port);
            ports[port as usize].busy_until > now
        });
        let size = u64::from(self.packets.hot[packet as usize].size);
        let SharedBuffer { bytes, alpha } = buffers.shared;
        let free = bytes.0.saturating_sub(held);
        let has_room = size <= free && (held_by(port_id) as f64) < alpha * free as f64;
        if has_room && ports[port_id as usize].busy_until <= now {
            busy.push(port_id);
        }
        has_room
    }

    /// Averages the queue that a packet finds at a port.
    pub(super) fn average(&mut self, now: Time, port_id: u32, is_first: bool) {
        if !self.marks_on_arrival() {
            return;
        }
        let port = &self.ports[port_id as usize];
        let class = &self.classes[usize::from(port.class)];
        let ahead = class.has_two_queues().then(|| self.ahead(now, port_id, is_first));
        let Some(marking) = &mut self.management.marking else { return };
        let average = marking.ports[port_id as usize].of(is_first);
        let (waiting, idle) = match ahead {
            Some(Ahead { waiting, is_empty: true }) => {
                (waiting, now.saturating_sub(average.busy_until))
            }
            Some(Ahead { waiting, .. }) => (waiting, Time::ZERO),
            None => (port.busy_until.saturating_sub(now), now.saturating_sub(port.busy_until)),
        };
        average.update(&marking.red, waiting, idle, class);
    }

    /// Notes until when a packet is sent that starts at a port with two queues.
    pub(super) fn note_start(&mut self, port_id: u32, is_first: bool, end: Time) {
        if let Some(marking) = &mut self.management.marking {
            marking.ports[port_id as usize].of(is_first).busy_until = end;
        }
    }

    fn marks_on_arrival(&self) -> bool {
        self.management.marking.as_ref().is_some_and(|marking| !marking.red.on_departure)
    }

    /// Marks a data packet whose transmission starts as RED draws by what waits behind it in its
    /// queue.
    pub(super) fn mark_departing(&mut self, port_id: u32, packet: u32, is_first: bool) {
        if self.marks_on_arrival() || self.packets.is_control(packet) {
            return;
        }
        let waiting = self.queued(port_id, is_first);
        let class = &self.classes[usize::from(self.ports[port_id as usize].class)];
        let Some(marking) = &mut self.management.marking else { return };
        let average = marking.ports[port_id as usize].of(is_first);
        average.update(&marking.red, waiting, Time::ZERO, class);
        if average.draw(&marking.red, class, &mut marking.random) {
            self.mark(port_id, packet);
        }
    }

    /// Marks an accepted data packet as RED draws.
    pub(super) fn mark_early(&mut self, port_id: u32, packet: u32) {
        if !self.marks_on_arrival()
            || self.packets.hot[packet as usize].kind != PacketKind::Forward
            || self.packets.is_control(packet)
        {
            return;
        }
        let class = &self.classes[usize::from(self.ports[port_id as usize].class)];
        let is_first = self.packets.goes_first(packet, class.priority);
        let Some(marking) = &mut self.management.marking else { return };
        let average = marking.ports[port_id as usize].of(is_first);
        if average.draw(&marking.red, class, &mut marking.random) {
            self.mark(port_id, packet);
        }
    }
}
