//! The flowlet table: bursts of a flow, told apart by gaps (HULA section 4.3).

use alloc::{boxed::Box, vec};

use crate::{Nanos, Port};

/// Switch bytes per flowlet: a 48-bit time stamp and a 16-bit port.
pub const BYTES_PER_SLOT: usize = 8;

#[derive(Clone, Copy, Debug)]
struct Slot {
    last: Nanos,
    port: Option<Port>,
    number: u32,
}

/// A table of flowlets indexed by a hash of the 5-tuple. Nothing checks the key: flows that collide share a flowlet, as in hardware.
#[derive(Clone, Debug)]
pub struct FlowletTable {
    slots: Box<[Slot]>,
    gap: Nanos,
}

impl FlowletTable {
    /// A table of `slots` (rounded up to a power of two, at least 1) where silence longer than `gap` ends a flowlet.
    pub fn new(slots: usize, gap: Nanos) -> FlowletTable {
        let empty = Slot { last: 0, port: None, number: 0 };
        FlowletTable { slots: vec![empty; slots.next_power_of_two()].into_boxed_slice(), gap }
    }

    /// The port of the running flowlet, which this packet prolongs; or `Err` with the number of the new flowlet that begins
    /// here and must be given a port by [`FlowletTable::assign`].
    #[inline]
    pub fn touch(&mut self, hash: u32, now: Nanos) -> Result<Port, u32> {
        let gap = self.gap;
        let slot = self.slot(hash);
        let live = now.saturating_sub(slot.last) <= gap;
        slot.last = now;
        match slot.port {
            Some(port) if live => Ok(port),
            _ => {
                slot.number = slot.number.wrapping_add(1);
                Err(slot.number)
            }
        }
    }

    /// Gives the flowlet of `hash` its port; tells whether the slot's last flowlet had another one.
    #[inline]
    pub fn assign(&mut self, hash: u32, port: Port) -> bool {
        let before = self.slot(hash).port.replace(port);
        before.is_some_and(|before| before != port)
    }

    /// The port of the flowlet that last used this slot.
    pub fn previous(&mut self, hash: u32) -> Option<Port> {
        self.slot(hash).port
    }

    #[inline]
    fn slot(&mut self, hash: u32) -> &mut Slot {
        let index = hash as usize & (self.slots.len() - 1);
        &mut self.slots[index]
    }

    /// Bytes that a switch needs for the table.
    pub fn state_bytes(&self) -> usize {
        self.slots.len() * BYTES_PER_SLOT
    }
}
