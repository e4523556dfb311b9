//! Allocation of ports.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use heddle_policy::cflb::Ports;

/// The ports allocated between pairs of hosts, so that no two flows are given the same ones, and
/// the source ports that hosts use for flows of their own ("taken" ports).
#[derive(Clone, Debug, Default)]
pub struct PortAllocator {
    /// Source, destination, ports as in a header.
    allocated: BTreeSet<(u32, u32, u32)>,
    /// Reference counts of taken ports, by source and port.
    taken: BTreeMap<(u32, u16), u32>,
    /// The sum of the reference counts.
    references: usize,
}

impl PortAllocator {
    /// True if a flow from `from` to `to` may use these ports.
    pub fn is_free(&self, from: u32, to: u32, ports: Ports) -> bool {
        !self.allocated.contains(&(from, to, ports.bits()))
            && !self.taken.contains_key(&(from, ports.source))
    }

    /// Allocates ports; `false` if they were allocated already.
    pub fn allocate(&mut self, from: u32, to: u32, ports: Ports) -> bool {
        self.allocated.insert((from, to, ports.bits()))
    }

    /// Releases ports; `false` if they were free.
    pub fn release(&mut self, from: u32, to: u32, ports: Ports) -> bool {
        self.allocated.remove(&(from, to, ports.bits()))
    }

    /// Marks source ports of a host as taken, for all destinations. A port marked twice has to be
    /// unmarked twice.
    pub fn mark_taken(&mut self, host: u32, ports: &BTreeSet<u16>) {
        for &port in ports {
            *self.taken.entry((host, port)).or_default() += 1;
            self.references += 1;
        }
    }

    /// Undoes [`PortAllocator::mark_taken`].
    pub fn unmark_taken(&mut self, host: u32, ports: &BTreeSet<u16>) {
        for &port in ports {
            if let Entry::Occupied(mut count) = self.taken.entry((host, port)) {
                *count.get_mut() -= 1;
                self.references -= 1;
                if *count.get() == 0 {
                    count.remove();
                }
            }
        }
    }

    /// The number of taken ports; a port that is marked twice counts twice.
    pub const fn taken(&self) -> usize {
        self.references
    }

    /// The number of flows with allocated ports.
    pub fn len(&self) -> usize {
        self.allocated.len()
    }

    /// True if no ports are allocated.
    pub fn is_empty(&self) -> bool {
        self.allocated.is_empty()
    }
}
