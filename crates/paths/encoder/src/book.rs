//! Which ports are in use.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use heddle_policy::cflb::Ports;

/// The ports in use between pairs of hosts, so that no two flows are given the same ones; and marks on source ports that hosts use
/// for flows that are not in the book.
#[derive(Clone, Debug, Default)]
pub struct PortBook {
    /// Source, destination, ports as in a header.
    used: BTreeSet<(u32, u32, u32)>,
    /// By source and port, how often it is marked.
    marks: BTreeMap<(u32, u16), u32>,
    /// All of them.
    marked: usize,
}

impl PortBook {
    /// Whether a flow from `from` to `to` may use these ports.
    pub fn is_free(&self, from: u32, to: u32, ports: Ports) -> bool {
        !self.used.contains(&(from, to, ports.bits()))
            && !self.marks.contains_key(&(from, ports.source))
    }

    /// Takes ports; `false` if they were taken.
    pub fn take(&mut self, from: u32, to: u32, ports: Ports) -> bool {
        self.used.insert((from, to, ports.bits()))
    }

    /// Gives ports back; `false` if they were free.
    pub fn release(&mut self, from: u32, to: u32, ports: Ports) -> bool {
        self.used.remove(&(from, to, ports.bits()))
    }

    /// Marks source ports of a host, to whomever it sends. What is marked twice is to be unmarked twice.
    pub fn mark(&mut self, host: u32, ports: &BTreeSet<u16>) {
        for &port in ports {
            *self.marks.entry((host, port)).or_default() += 1;
            self.marked += 1;
        }
    }

    /// Takes marks back.
    pub fn unmark(&mut self, host: u32, ports: &BTreeSet<u16>) {
        for &port in ports {
            if let Entry::Occupied(mut marks) = self.marks.entry((host, port)) {
                *marks.get_mut() -= 1;
                self.marked -= 1;
                if *marks.get() == 0 {
                    marks.remove();
                }
            }
        }
    }

    /// How many marks there are; a port that is marked twice has two.
    pub const fn marked(&self) -> usize {
        self.marked
    }

    /// How many are taken.
    pub fn len(&self) -> usize {
        self.used.len()
    }

    /// Whether none is taken.
    pub fn is_empty(&self) -> bool {
        self.used.is_empty()
    }
}
