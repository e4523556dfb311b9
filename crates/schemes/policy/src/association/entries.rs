//! The association table: an entry for each subflow of the ToR's hosts.

use alloc::{boxed::Box, vec};
use core::ops::Range;

use heddle_wire::{Key, MptcpId, Subflow, Token, Version};

use super::{
    AssociationConfig,
    sets::{check, places, set},
};
use crate::{Ingress, Nanos, mix};

/// Switch bytes per entry: check (2), tokens (4 each), count and number (1), last-seen time (6), FINs (1).
const BYTES_PER_ENTRY: usize = 18;

/// The number after the first.
const SECOND: u8 = 2;

/// A connection's tokens. `a` is that of the end that opened it.
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

    /// What names the connection in the fabric. The paper stores it beside the tokens; it need not be.
    pub const fn id(self) -> MptcpId {
        MptcpId((self.a.0 as u64) << 32 | self.b.0 as u64)
    }
}

/// Which ends have sent their last byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Fins {
    from_host: bool,
    to_host: bool,
}

/// A subflow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    check: u16,
    pub tokens: Tokens,
    /// The connection's subflows, counted in the first subflow's entry; another's keeps the count of its own beginning.
    pub subflows: u8,
    pub number: Subflow,
    pub seen: Nanos,
    fins: Fins,
}

impl Entry {
    /// Counts one more subflow, whose number the count is then. After 16 they start again at 2.
    const fn count_subflow(&mut self) {
        self.subflows = if self.subflows < Subflow::MOST { self.subflows + 1 } else { SECOND };
    }

    /// Whether an MP_JOIN with `token` made it.
    pub fn is_join_by(&self, token: Token) -> bool {
        self.number != Subflow::FIRST && self.tokens.contains(token)
    }

    #[inline]
    const fn is_live(&self, now: Nanos, idle_after: Nanos) -> bool {
        now.saturating_sub(self.seen) <= idle_after
    }

    /// Whether both ends have sent their last byte: it no longer holds its place.
    pub const fn is_closed(&self) -> bool {
        self.fins.from_host && self.fins.to_host
    }
}

/// The table.
#[derive(Clone, Debug)]
pub(super) struct Entries {
    places: Box<[Option<Entry>]>,
    idle_after: Nanos,
    salt: u32,
}

impl Entries {
    pub fn new(config: &AssociationConfig, salt: u32) -> Entries {
        let places = vec![None; places(config.slots)].into_boxed_slice();
        Entries { places, idle_after: config.idle_after, salt }
    }

    /// The live entry of `flow`.
    #[inline]
    pub fn find(&mut self, now: Nanos, flow: u32) -> Option<&mut Entry> {
        let (set, check) = self.spot(flow);
        let idle_after = self.idle_after;
        let mut entries = self.places[set].iter_mut().flatten();
        entries.find(|entry| entry.check == check && entry.is_live(now, idle_after))
    }

    /// The live entry of a first subflow in place number `slot`.
    pub fn first_at(&self, now: Nanos, slot: u32) -> Option<&Entry> {
        self.live(now, slot as usize).filter(|entry| entry.number == Subflow::FIRST)
    }

    /// Counts one more subflow of the connection whose first is in `slot`, and gives its number.
    pub fn count_subflow(&mut self, slot: u32) -> Option<Subflow> {
        let first = self.places.get_mut(slot as usize)?.as_mut()?;
        first.count_subflow();
        Subflow::new(first.subflows)
    }

    /// A place for `flow`: one that is empty or idle, or else one whose subflow is closed.
    pub fn room(&self, now: Nanos, flow: u32) -> Option<u32> {
        let mut set = self.spot(flow).0;
        let free = set.clone().find(|&place| self.live(now, place).is_none());
        let place =
            free.or_else(|| set.find(|&place| self.live(now, place).is_some_and(Entry::is_closed)));
        place.map(|place| place as u32)
    }

    /// Puts a subflow into `slot`, which [`Entries::room`] gave.
    pub fn put(&mut self, now: Nanos, slot: u32, flow: u32, tokens: Tokens, number: Subflow) {
        let (_, check) = self.spot(flow);
        let (subflows, fins) = (number.number(), Fins::default());
        let entry = Entry { check, tokens, subflows, number, seen: now, fins };
        self.places[slot as usize] = Some(entry);
    }

    /// Forgets `flow`.
    pub fn remove(&mut self, flow: u32) {
        let (set, check) = self.spot(flow);
        for place in &mut self.places[set] {
            place.take_if(|entry| entry.check == check);
        }
    }

    /// Notes a FIN of `flow` from its host or to it.
    pub fn close(&mut self, now: Nanos, flow: u32, from: Ingress) {
        if let Some(entry) = self.find(now, flow) {
            match from {
                Ingress::Host => entry.fins.from_host = true,
                Ingress::Fabric => entry.fins.to_host = true,
            }
        }
    }

    fn live(&self, now: Nanos, place: usize) -> Option<&Entry> {
        let entry = self.places.get(place)?.as_ref()?;
        entry.is_live(now, self.idle_after).then_some(entry)
    }

    #[inline]
    fn spot(&self, flow: u32) -> (Range<usize>, u16) {
        let hash = mix(flow, self.salt);
        (set(hash, self.places.len()), check(hash))
    }

    pub fn state_bytes(&self) -> usize {
        self.places.len() * BYTES_PER_ENTRY
    }
}
