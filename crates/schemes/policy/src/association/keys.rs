//! The key table: key A of a version-0 handshake, from the SYN to the SYN/ACK.
//!
//! One place for each hash: a key stays for one round trip only, and without it there is still the third ACK.

use alloc::{boxed::Box, vec};

use heddle_wire::Key;

use super::{AssociationConfig, sets};
use crate::{Nanos, mix};

/// Switch bytes per key: check (2), key (8), time (6).
const BYTES_PER_KEY: usize = 16;

#[derive(Clone, Copy, Debug)]
struct Kept {
    check: u16,
    key: Key,
    since: Nanos,
}

/// The table.
#[derive(Clone, Debug)]
pub(super) struct KeyTable {
    places: Box<[Option<Kept>]>,
    idle_after: Nanos,
    salt: u32,
}

impl KeyTable {
    pub fn new(config: &AssociationConfig, salt: u32) -> KeyTable {
        let places = vec![None; sets::places(config.slots)].into_boxed_slice();
        KeyTable { places, idle_after: config.idle_after, salt }
    }

    /// Keeps the key of `flow`; tells whether there was room, which a young key of another flow denies.
    pub fn keep(&mut self, now: Nanos, flow: u32, key: Key) -> bool {
        let (place, check) = self.spot(flow);
        let idle_after = self.idle_after;
        let held = self.places[place].is_some_and(|kept| {
            kept.check != check && now.saturating_sub(kept.since) <= idle_after
        });
        if !held {
            self.places[place] = Some(Kept { check, key, since: now });
        }
        !held
    }

    /// Takes the key of `flow` out.
    pub fn take(&mut self, flow: u32) -> Option<Key> {
        let (place, check) = self.spot(flow);
        self.places[place].take_if(|kept| kept.check == check).map(|kept| kept.key)
    }

    /// Forgets the key of `flow`.
    pub fn forget(&mut self, flow: u32) {
        self.take(flow);
    }

    fn spot(&self, flow: u32) -> (usize, u16) {
        let hash = mix(flow, self.salt);
        (hash as usize & (self.places.len() - 1), sets::check(hash))
    }

    pub fn state_bytes(&self) -> usize {
        self.places.len() * BYTES_PER_KEY
    }
}
