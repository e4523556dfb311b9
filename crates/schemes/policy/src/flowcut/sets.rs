//! A table of flows in sets of four slots.

use alloc::boxed::Box;

use bytemuck::{Zeroable, zeroed_slice_box};

use crate::{Nanos, mix, table_size};

/// Slots in which one flow can be.
const WAYS: usize = 4;

/// An entry for a flow. All zero while unused.
pub(super) trait Entry: Copy + Zeroable {
    /// Hash of its flow; `None` while unused.
    fn flow(&self) -> Option<u32>;

    /// Time of its last packet.
    fn last(&self) -> Nanos;
}

/// The table. Slots take memory once they are used.
#[derive(Clone, Debug)]
pub(super) struct Sets<E> {
    entries: Box<[E]>,
    salt: u32,
}

impl<E: Entry> Sets<E> {
    /// A table of `slots` slots, rounded up to a power of two, at least [`WAYS`].
    pub fn new(slots: u32, salt: u32) -> Sets<E> {
        let slots = (table_size(slots) as usize).max(WAYS);
        Sets { entries: zeroed_slice_box(slots), salt }
    }

    /// The entry of a flow.
    #[inline]
    pub fn find(&mut self, hash: u32) -> Option<&mut E> {
        self.set(hash).iter_mut().find(|entry| entry.flow() == Some(hash))
    }

    /// A slot for a flow without an entry: an unused one, else the longest silent of those that may
    /// be replaced.
    pub fn room(&mut self, hash: u32, may_go: impl Fn(&E) -> bool) -> Option<&mut E> {
        let free = |entry: &&mut E| entry.flow().is_none() || may_go(entry);
        let age = |entry: &&mut E| (entry.flow().is_some(), entry.last());
        self.set(hash).iter_mut().filter(free).min_by_key(age)
    }

    /// Slots in the table.
    pub fn slots(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    fn set(&mut self, hash: u32) -> &mut [E] {
        let sets = self.entries.len() / WAYS;
        let first = (mix(hash, self.salt) as usize & (sets - 1)) * WAYS;
        &mut self.entries[first..first + WAYS]
    }
}
