//! The flowlet table: bursts of a flow, separated by gaps (HULA section 4.3).
//!
//! The table is indexed by a hash of the 5-tuple without a key check: flows that collide share a
//! flowlet, as in hardware. Flows of one slot may have different destinations, and at a switch in
//! the middle one of them may go up and another down; the papers do not discuss it. The port of the
//! slot could then cause a loop or a loss. Two rules keep every packet on its own next hops:
//!
//! - A packet with one next hop takes it and does not access the table: on the way down a Clos
//!   fabric there is no choice, and no slot is used.
//! - A slot's port is used only if it is among the packet's own next hops; otherwise the packet
//!   starts a flowlet. For a switch that is one AND of the port with the bit mask of the next-hop
//!   group. Two live flows that collide in this way replace each other's flowlet until one is idle;
//!   they may be reordered, but never misrouted. A port that routing withdraws is abandoned at
//!   once.

use alloc::boxed::Box;

use bytemuck::{Zeroable, zeroed_slice_box};

use heddle_units::Time;

use crate::{Counters, Digest, Nanos, Port, table_size};

/// Switch bytes per flowlet: a 48-bit timestamp and a 16-bit port.
const BYTES_PER_SLOT: usize = 8;

/// Port of an unused slot. No switch has it: port counts are 16 bits wide.
const NO_PORT: Port = Port(u16::MAX);

/// All zero while unused.
#[derive(Clone, Copy, Debug, Zeroable)]
struct Slot<O> {
    last: Nanos,
    number: u32,
    /// The port's bits inverted, so that zero is [`NO_PORT`].
    inverted_port: u16,
    owner: O,
}

impl<O: Default> Slot<O> {
    #[inline]
    const fn port(&self) -> Port {
        Port(!self.inverted_port)
    }

    #[inline]
    fn set(&mut self, port: Port, owner: O) {
        (self.inverted_port, self.owner) = (!port.0, owner);
    }
}

/// Result of a table lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flowlet {
    /// The packet belongs to a running flowlet with this port.
    Running(Port),
    /// The packet starts a flowlet, whose port is to be set by [`FlowletTable::assign`].
    New {
        /// Number of the flowlet in this slot, from 1; wraps.
        number: u32,
        /// Port of the slot's previous flowlet.
        previous: Option<Port>,
    },
}

/// A table of flowlets, each with an owner.
#[derive(Clone, Debug)]
pub struct FlowletTable<O = ()> {
    slots: Box<[Slot<O>]>,
    gap: Nanos,
    started: u64,
    moved: u64,
}

impl FlowletTable {
    /// Sets the port of the flowlet of `hash`.
    #[inline]
    pub fn assign(&mut self, hash: u32, port: Port) {
        self.assign_to(hash, port, ());
    }
}

impl<O: Copy + Default + PartialEq + Zeroable> FlowletTable<O> {
    /// A table of `slots` slots (rounded up to a power of two, at least 1) where an idle time
    /// longer than `gap` ends a flowlet. Slots take memory once they are used; an owner's default
    /// must be all zero.
    pub fn new(slots: u32, gap: Time) -> FlowletTable<O> {
        let slots = zeroed_slice_box(table_size(slots) as usize);
        FlowletTable { slots, gap: gap.as_nanos(), started: 0, moved: 0 }
    }

    /// Looks up the flowlet of a packet with `hash`, and restarts its idle time. Time that goes
    /// backwards counts as no time.
    #[inline]
    pub fn touch(&mut self, hash: u32, now: Nanos, next_hops: &[Port]) -> Flowlet {
        if let [only] = next_hops {
            return Flowlet::Running(*only);
        }
        let gap = self.gap;
        let slot = self.slot(hash);
        let live = now.saturating_sub(slot.last) <= gap;
        slot.last = now;
        let port = slot.port();
        if live && next_hops.contains(&port) {
            return Flowlet::Running(port);
        }
        slot.number = slot.number.wrapping_add(1);
        slot.owner = O::default();
        let previous = (port != NO_PORT).then_some(port);
        Flowlet::New { number: slot.number, previous }
    }

    /// Number of the flowlet of a packet with `hash`, from 1, whatever its next hops; restarts its
    /// idle time. Wraps.
    pub fn count(&mut self, hash: u32, now: Nanos) -> u32 {
        let gap = self.gap;
        let slot = self.slot(hash);
        let live = slot.number > 0 && now.saturating_sub(slot.last) <= gap;
        slot.last = now;
        if !live {
            slot.number = slot.number.wrapping_add(1).max(1);
            let number = slot.number;
            self.started += 1;
            return number;
        }
        slot.number
    }

    /// Sets the port and the owner of the flowlet of `hash`.
    #[inline]
    pub fn assign_to(&mut self, hash: u32, port: Port, owner: O) {
        let slot = self.slot(hash);
        let moved = slot.port() != port && slot.port() != NO_PORT;
        slot.set(port, owner);
        self.started += 1;
        self.moved += u64::from(moved);
    }

    /// Sets the owner of a running flowlet without one. Returns true if it had none.
    #[inline]
    pub fn adopt(&mut self, hash: u32, owner: O) -> bool {
        let slot = self.slot(hash);
        let unowned = slot.owner == O::default();
        if unowned {
            slot.owner = owner;
        }
        unowned
    }

    /// Ends the flowlet in slot number `slot`: the next packet there starts one.
    pub fn end(&mut self, slot: u32) {
        if let Some(slot) = self.slots.get_mut(slot as usize) {
            slot.set(NO_PORT, O::default());
        }
    }

    /// Port of the flowlet in slot number `slot`, if it is live and belongs to `owner`.
    pub fn port_of(&self, slot: u32, owner: O, now: Nanos) -> Option<Port> {
        let slot = self.slots.get(slot as usize)?;
        let live = now.saturating_sub(slot.last) <= self.gap;
        (live && slot.owner == owner).then_some(slot.port())
    }

    /// Slot number of flows with `hash`.
    #[inline]
    pub fn slot_number(&self, hash: u32) -> u32 {
        hash & (self.slots.len() - 1) as u32
    }

    #[inline]
    fn slot(&mut self, hash: u32) -> &mut Slot<O> {
        let index = hash as usize & (self.slots.len() - 1);
        &mut self.slots[index]
    }

    /// Adds each slot to a digest: time of the last packet, port, and the words that `owner` makes
    /// of the owner.
    pub(crate) fn digest<const N: usize>(
        &self,
        digest: &mut Digest,
        owner: impl Fn(O) -> [u64; N],
    ) {
        for slot in &self.slots {
            digest.words(&[slot.last, slot.port().0.into()]);
            digest.words(&owner(slot.owner));
        }
    }

    /// Counters of flowlets started and moved; the others are 0.
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
        FlowletTable::new(16, Time::nanos(GAP))
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
    fn an_owner_is_found_until_the_gap_or_the_next_owner() {
        let mut table = FlowletTable::<u8>::new(16, Time::nanos(GAP));
        table.touch(5, 0, &UP);
        table.assign_to(5, Port(3), 7);
        assert_eq!(table.port_of(5, 7, GAP), Some(Port(3)));
        assert_eq!(table.port_of(5, 8, GAP), None, "of another owner");
        assert_eq!(table.port_of(5, 7, GAP + 1), None, "silent for longer than the gap");
        table.touch(5 + 16, GAP + 1, &UP);
        assert_eq!(table.port_of(5, 7, GAP + 1), None, "a new flowlet has no owner yet");
        table.assign_to(5 + 16, Port(2), 8);
        assert_eq!(table.port_of(5, 8, GAP + 1), Some(Port(2)));
    }

    #[test]
    fn a_flowlet_without_an_owner_is_adopted_once() {
        let mut table = FlowletTable::<u8>::new(16, Time::nanos(GAP));
        table.touch(5, 0, &UP);
        table.assign_to(5, Port(3), 0);
        assert!(table.adopt(5, 7));
        assert!(!table.adopt(5, 8));
        assert_eq!(table.port_of(5, 7, 0), Some(Port(3)));
    }

    #[test]
    fn sizes() {
        assert_eq!(size_of::<Slot<()>>(), 16);
        let sizes =
            [0, 1, 5, 64].map(|slots| FlowletTable::<()>::new(slots, Time::nanos(GAP)).slots());
        assert_eq!(sizes, [1, 1, 8, 64]);
        assert_eq!(FlowletTable::<()>::new(65_536, Time::nanos(GAP)).state_bytes(), 524_288);
    }
}
