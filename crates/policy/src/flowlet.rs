//! The flowlet table: bursts of a flow, told apart by gaps (HULA section 4.3).
//!
//! The table is indexed by a hash of the 5-tuple and nothing checks the key: flows that collide share a flowlet, as in
//! hardware. Flows of one slot may go to different places, though, and at a switch in the middle one of them up and another
//! down; the papers are silent about it. To follow the slot blindly would send packets where they loop or are lost. Two rules
//! keep every packet on its own next hops:
//!
//! - A packet with one next hop takes it and leaves the table alone: on the way down a Clos fabric there is nothing to choose,
//!   and no slot to spend.
//! - A slot's port counts only if it is among the packet's own next hops; else the packet begins a flowlet. To a switch
//!   that is one AND of the port with the next-hop group's bit mask. Two live flows that collide so take the slot from each other
//!   until one is silent; they may be reordered, but never misrouted. A port that routing withdraws is left at once, too.

use alloc::{boxed::Box, vec};

use crate::{Counters, Nanos, Port};

/// Switch bytes per flowlet: a 48-bit time stamp and a 16-bit port.
const BYTES_PER_SLOT: usize = 8;

/// The port of a slot never used. No switch has it: port counts are 16 bits wide.
const NO_PORT: Port = Port(u16::MAX);

#[derive(Clone, Copy, Debug)]
struct Slot {
    last: Nanos,
    number: u32,
    port: Port,
}

/// What the table says of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flowlet {
    /// It goes where its flowlet goes.
    Running(Port),
    /// It begins a flowlet, to be given a port by [`FlowletTable::assign`].
    New {
        /// Counts the flowlets of this slot, from 1; it wraps.
        number: u32,
        /// The port of the slot's last flowlet.
        previous: Option<Port>,
    },
}

/// A table of flowlets.
#[derive(Clone, Debug)]
pub struct FlowletTable {
    slots: Box<[Slot]>,
    gap: Nanos,
    started: u64,
    moved: u64,
}

impl FlowletTable {
    /// A table of `slots` (rounded up to a power of two, at least 1) where silence longer than `gap` ends a flowlet.
    pub fn new(slots: usize, gap: Nanos) -> FlowletTable {
        let empty = Slot { last: 0, number: 0, port: NO_PORT };
        let slots = vec![empty; slots.next_power_of_two()].into_boxed_slice();
        FlowletTable { slots, gap, started: 0, moved: 0 }
    }

    /// Sees a packet of the flow with `hash`, which prolongs the flowlet. Time that goes backwards counts as none gone by.
    #[inline]
    pub fn touch(&mut self, hash: u32, now: Nanos, next_hops: &[Port]) -> Flowlet {
        if let [only] = next_hops {
            return Flowlet::Running(*only);
        }
        let gap = self.gap;
        let slot = self.slot(hash);
        let live = now.saturating_sub(slot.last) <= gap;
        slot.last = now;
        if live && next_hops.contains(&slot.port) {
            return Flowlet::Running(slot.port);
        }
        slot.number = slot.number.wrapping_add(1);
        let previous = (slot.port != NO_PORT).then_some(slot.port);
        Flowlet::New { number: slot.number, previous }
    }

    /// Gives the flowlet of `hash` its port.
    #[inline]
    pub fn assign(&mut self, hash: u32, port: Port) {
        let slot = self.slot(hash);
        let moved = slot.port != port && slot.port != NO_PORT;
        slot.port = port;
        self.started += 1;
        self.moved += u64::from(moved);
    }

    #[inline]
    fn slot(&mut self, hash: u32) -> &mut Slot {
        let index = hash as usize & (self.slots.len() - 1);
        &mut self.slots[index]
    }

    /// Flowlets started and moved so far, the other counts 0.
    pub fn counters(&self) -> Counters {
        Counters { flowlets: self.started, moves: self.moved, ..Counters::default() }
    }

    /// Slots in the table.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Bytes that a switch needs for the table: 8 per slot.
    pub fn state_bytes(&self) -> usize {
        self.slots.len() * BYTES_PER_SLOT
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Flowlet::{New, Running};

    const UP: [Port; 2] = [Port(2), Port(3)];
    const GAP: Nanos = 100_000;

    fn table() -> FlowletTable {
        FlowletTable::new(16, GAP)
    }

    #[test]
    fn a_flowlet_runs_until_a_gap_longer_than_the_threshold() {
        let mut table = table();
        assert_eq!(table.touch(5, 0, &UP), New { number: 1, previous: None });
        table.assign(5, Port(2));
        assert_eq!(table.touch(5, GAP, &UP), Running(Port(2)), "a gap as long as the threshold");
        assert_eq!(table.touch(5, 2 * GAP, &UP), Running(Port(2)), "counted from the last packet");
        assert_eq!(table.touch(5, 3 * GAP + 1, &UP), New { number: 2, previous: Some(Port(2)) });
    }

    #[test]
    fn flows_that_collide_share_a_flowlet() {
        let mut table = table();
        table.touch(5, 0, &UP);
        table.assign(5, Port(3));
        assert_eq!(table.touch(5 + 16, 10, &UP), Running(Port(3)));
        assert_eq!(table.touch(6, 10, &UP), New { number: 1, previous: None });
    }

    #[test]
    fn a_packet_that_cannot_take_the_slots_port_begins_a_flowlet() {
        let (pod_1, pod_2) = ([Port(0), Port(1)], [Port(2), Port(3)]);
        let mut table = table();
        table.touch(5, 0, &pod_1);
        table.assign(5, Port(0));
        assert_eq!(table.touch(5, 10, &pod_2), New { number: 2, previous: Some(Port(0)) });
        table.assign(5, Port(2));
        assert_eq!(table.touch(5, 20, &pod_2), Running(Port(2)));
        assert_eq!(table.touch(5, 30, &pod_1), New { number: 3, previous: Some(Port(2)) });
    }

    #[test]
    fn a_packet_with_one_next_hop_leaves_the_table_alone() {
        let mut table = table();
        table.touch(5, 0, &UP);
        table.assign(5, Port(2));
        assert_eq!(table.touch(5, GAP, &[Port(0)]), Running(Port(0)), "down, in the same slot");
        assert_eq!(table.touch(5, GAP + 1, &UP), New { number: 2, previous: Some(Port(2)) });
        assert_eq!(table.counters().flowlets, 1);
    }

    #[test]
    fn starts_and_moves_are_counted() {
        let mut table = table();
        for port in [2, 2, 3, 2] {
            table.assign(5, Port(port));
        }
        assert_eq!(table.counters(), Counters { flowlets: 4, moves: 2, ..Counters::default() });
    }

    #[test]
    fn a_clock_that_steps_back_ends_nothing() {
        let mut table = table();
        table.touch(5, 1_000_000, &UP);
        table.assign(5, Port(2));
        assert_eq!(table.touch(5, 0, &UP), Running(Port(2)));
    }

    #[test]
    fn sizes() {
        assert_eq!(size_of::<Slot>(), 16);
        assert_eq!([0, 1, 5, 64].map(|n| FlowletTable::new(n, GAP).slots()), [1, 1, 8, 64]);
        assert_eq!(FlowletTable::new(65_536, GAP).state_bytes(), 524_288);
    }
}
