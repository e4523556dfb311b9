//! The key table: key A of a version-0 handshake, from the SYN to the SYN/ACK.
//!
//! Direct-mapped: a key is stored for one round trip only, and the third packet of the handshake
//! replaces a missing one.

use alloc::boxed::Box;

use bytemuck::{Zeroable, zeroed_slice_box};
use heddle_wire::Key;

use super::buckets;
use crate::{Digest, MptcpTablesConfig, Nanos, mix};

/// Switch bytes per key: fingerprint (2), key (8), time (6).
const BYTES_PER_KEY: usize = 16;

/// All zero while empty.
#[derive(Clone, Copy, Debug, Zeroable)]
struct KeyEntry {
    since: Nanos,
    key: [u8; 8],
    fingerprint: u16,
    used: bool,
}

impl KeyEntry {
    const fn holds(&self, fingerprint: u16) -> bool {
        self.used && self.fingerprint == fingerprint
    }
}

/// The table.
#[derive(Clone, Debug)]
pub(super) struct KeyTable {
    slots: Box<[KeyEntry]>,
    idle_after: Nanos,
    salt: u32,
}

impl KeyTable {
    /// An empty table. Its slots take memory once they are used.
    pub fn new(config: &MptcpTablesConfig, salt: u32) -> KeyTable {
        let slots = zeroed_slice_box(buckets::slots(config.association_slots) as usize);
        KeyTable { slots, idle_after: config.association_idle.as_nanos(), salt }
    }

    /// Stores the key of `flow`. Returns false if the slot holds a key of another flow that has not
    /// expired.
    pub fn insert(&mut self, now: Nanos, flow: u32, key: Key) -> bool {
        let (slot, fingerprint) = self.locate(flow);
        let idle_after = self.idle_after;
        let entry = &mut self.slots[slot];
        let occupied = entry.used
            && entry.fingerprint != fingerprint
            && now.saturating_sub(entry.since) <= idle_after;
        if !occupied {
            *entry = KeyEntry { since: now, key: key.0, fingerprint, used: true };
        }
        !occupied
    }

    /// Removes and returns the key of `flow`.
    pub fn take(&mut self, flow: u32) -> Option<Key> {
        let (slot, fingerprint) = self.locate(flow);
        let entry = &mut self.slots[slot];
        let held = entry.holds(fingerprint).then_some(Key(entry.key));
        entry.used &= held.is_none();
        held
    }

    /// Removes the key of `flow`.
    pub fn remove(&mut self, flow: u32) {
        self.take(flow);
    }

    fn locate(&self, flow: u32) -> (usize, u16) {
        let hash = mix(flow, self.salt);
        (hash as usize & (self.slots.len() - 1), buckets::fingerprint(hash))
    }

    /// Adds for each slot 0 if it is empty, otherwise 1, the fingerprint, the key as a number in
    /// network order, and its time.
    pub fn digest(&self, digest: &mut Digest) {
        for slot in &self.slots {
            let KeyEntry { since, key, fingerprint, used } = *slot;
            match used {
                false => digest.word(0u64),
                true => {
                    digest.words(&[1, fingerprint.into(), u64::from_be_bytes(key), since]);
                }
            }
        }
    }

    pub fn state_bytes(&self) -> usize {
        self.slots.len() * BYTES_PER_KEY
    }
}
