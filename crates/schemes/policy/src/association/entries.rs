//! The association table: one entry for each subflow of the ToR's hosts.

use alloc::boxed::Box;
use core::ops::Range;

use bytemuck::{Zeroable, zeroed_slice_box};
use heddle_wire::{Key, MptcpId, Subflow, Token, Version};

use super::buckets::{bucket, fingerprint, slots};
use crate::{Digest, Ingress, MptcpTablesConfig, Nanos, mix};

/// Switch bytes per entry: fingerprint (2), tokens (4 each), count and number (1), last-seen time
/// (6), FINs (1).
const BYTES_PER_ENTRY: usize = 18;

/// Subflow number after the first.
const SECOND: u8 = 2;

/// Tokens of a connection. `a` is that of the end that opened it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tokens {
    pub a: Token,
    pub b: Token,
}

impl Tokens {
    pub fn of(version: Version, a: Key, b: Key) -> Tokens {
        Tokens { a: version.token(a), b: version.token(b) }
    }

    pub fn contains(self, token: Token) -> bool {
        token == self.a || token == self.b
    }

    /// MPTCP ID of the connection. The paper stores it beside the tokens; each follows from the
    /// other.
    pub const fn id(self) -> MptcpId {
        MptcpId((self.a.0 as u64) << 32 | self.b.0 as u64)
    }

    /// Tokens of the connection with an MPTCP ID.
    const fn of_id(MptcpId(id): MptcpId) -> Tokens {
        Tokens { a: Token((id >> 32) as u32), b: Token(id as u32) }
    }
}

/// FINs seen in each direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Zeroable)]
struct Fins {
    from_host: bool,
    to_host: bool,
}

/// A subflow. All zero in an empty slot.
#[derive(Clone, Copy, Debug, Zeroable)]
pub(super) struct Entry {
    id: u64,
    pub seen: Nanos,
    fingerprint: u16,
    /// The subflow's number; 0 in an empty slot.
    number: u8,
    /// Number of subflows of the connection, current in the first subflow's entry only.
    pub subflows: u8,
    fins: Fins,
}

impl Entry {
    /// The connection's MPTCP ID.
    #[inline]
    pub const fn id(&self) -> MptcpId {
        MptcpId(self.id)
    }

    /// The connection's tokens.
    pub const fn tokens(&self) -> Tokens {
        Tokens::of_id(self.id())
    }

    /// The subflow's number; `None` in an empty slot.
    #[inline]
    pub const fn number(&self) -> Option<Subflow> {
        Subflow::new(self.number)
    }

    const fn is_empty(&self) -> bool {
        self.number == 0
    }

    const fn is_first(&self) -> bool {
        self.number == Subflow::FIRST.number()
    }

    /// Increments the number of subflows, which is the number of the new one. After 16 it restarts
    /// at 2.
    const fn count_subflow(&mut self) {
        self.subflows = if self.subflows < Subflow::MAX { self.subflows + 1 } else { SECOND };
    }

    /// True if the entry was created by an MP_JOIN with `token`.
    pub fn is_join_by(&self, token: Token) -> bool {
        !self.is_first() && self.tokens().contains(token)
    }

    #[inline]
    const fn is_live(&self, now: Nanos, idle_after: Nanos) -> bool {
        !self.is_empty() && now.saturating_sub(self.seen) <= idle_after
    }

    /// True if both ends have sent a FIN: the entry may be replaced.
    pub const fn is_closed(&self) -> bool {
        self.fins.from_host && self.fins.to_host
    }
}

/// The table.
#[derive(Clone, Debug)]
pub(super) struct Entries {
    slots: Box<[Entry]>,
    idle_after: Nanos,
    salt: u32,
}

impl Entries {
    /// An empty table. Its slots take memory once they are used.
    pub fn new(config: &MptcpTablesConfig, salt: u32) -> Entries {
        let slots = zeroed_slice_box(slots(config.association_slots) as usize);
        Entries { slots, idle_after: config.association_idle.as_nanos(), salt }
    }

    /// The live entry of `flow`.
    #[inline]
    pub fn find(&mut self, now: Nanos, flow: u32) -> Option<&mut Entry> {
        let (bucket, fingerprint) = self.locate(flow);
        let idle_after = self.idle_after;
        let mut entries = self.slots[bucket].iter_mut();
        entries.find(|entry| entry.fingerprint == fingerprint && entry.is_live(now, idle_after))
    }

    /// The live entry of a first subflow in slot number `slot`.
    pub fn first_at(&self, now: Nanos, slot: u32) -> Option<&Entry> {
        self.live(now, slot as usize).filter(|entry| entry.is_first())
    }

    /// Adds a subflow to the connection whose first subflow is in `slot`, and returns its number.
    pub fn count_subflow(&mut self, slot: u32) -> Option<Subflow> {
        let first = self.slots.get_mut(slot as usize).filter(|first| !first.is_empty())?;
        first.count_subflow();
        Subflow::new(first.subflows)
    }

    /// Slot for `flow`: an empty or idle one, or else one whose subflow is closed.
    pub fn free_slot(&self, now: Nanos, flow: u32) -> Option<u32> {
        let mut bucket = self.locate(flow).0;
        let free = bucket.clone().find(|&slot| self.live(now, slot).is_none());
        let slot = free
            .or_else(|| bucket.find(|&slot| self.live(now, slot).is_some_and(Entry::is_closed)));
        slot.map(|slot| slot as u32)
    }

    /// Stores a subflow in `slot`, which [`Entries::free_slot`] returned.
    pub fn insert(&mut self, now: Nanos, slot: u32, flow: u32, tokens: Tokens, number: Subflow) {
        let (_, fingerprint) = self.locate(flow);
        let (id, number) = (tokens.id().0, number.number());
        let entry =
            Entry { id, seen: now, fingerprint, number, subflows: number, fins: Fins::default() };
        self.slots[slot as usize] = entry;
    }

    /// Removes `flow`.
    pub fn remove(&mut self, flow: u32) {
        let (bucket, fingerprint) = self.locate(flow);
        for entry in self.slots[bucket].iter_mut().filter(|entry| entry.fingerprint == fingerprint)
        {
            *entry = Entry::zeroed();
        }
    }

    /// Records a FIN of `flow` from its host or to it.
    pub fn close(&mut self, now: Nanos, flow: u32, from: Ingress) {
        if let Some(entry) = self.find(now, flow) {
            match from {
                Ingress::Host => entry.fins.from_host = true,
                Ingress::Fabric => entry.fins.to_host = true,
            }
        }
    }

    fn live(&self, now: Nanos, slot: usize) -> Option<&Entry> {
        self.slots.get(slot).filter(|entry| entry.is_live(now, self.idle_after))
    }

    #[inline]
    fn locate(&self, flow: u32) -> (Range<usize>, u16) {
        let hash = mix(flow, self.salt);
        (bucket(hash, self.slots.len()), fingerprint(hash))
    }

    /// Adds for each slot the subflow's number (0: empty), and of a subflow the rest of its entry.
    pub fn digest(&self, digest: &mut Digest) {
        for slot in &self.slots {
            if slot.is_empty() {
                digest.word(0u64);
                continue;
            }
            let Entry { id, seen, fingerprint, number, subflows, fins } = *slot;
            let fins = u64::from(fins.from_host) | u64::from(fins.to_host) << 1;
            digest.words(&[number.into(), fingerprint.into(), id]);
            digest.words(&[subflows.into(), seen, fins]);
        }
    }

    pub fn state_bytes(&self) -> usize {
        self.slots.len() * BYTES_PER_ENTRY
    }
}
