//! The association table: an entry for each subflow of the ToR's hosts.

use alloc::{boxed::Box, vec};

use heddle_wire::{Key, MptcpId, Subflow, Token, Version};

use super::{AssociationConfig, Spot};
use crate::{Ingress, Nanos};

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
    /// The number of one more subflow, which is counted. After 16 they start again at 2.
    pub fn count_subflow(&mut self) -> Subflow {
        self.subflows = if self.subflows < Subflow::MOST { self.subflows + 1 } else { SECOND };
        Subflow::new(self.subflows).unwrap_or(Subflow::FIRST)
    }

    /// Whether an MP_JOIN with `token` made it.
    pub fn is_join_by(&self, token: Token) -> bool {
        self.number != Subflow::FIRST && self.tokens.contains(token)
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
        let places = vec![None; config.slots.next_power_of_two()].into_boxed_slice();
        Entries { places, idle_after: config.idle_after, salt }
    }

    /// The live entry of `flow`.
    #[inline]
    pub fn find(&mut self, now: Nanos, flow: u32) -> Option<&mut Entry> {
        let Spot { index, check } = self.spot(flow);
        self.live(now, index).filter(|entry| entry.check == check)
    }

    /// The live entry of a first subflow in place number `slot`.
    pub fn first_at(&mut self, now: Nanos, slot: u32) -> Option<&mut Entry> {
        self.live(now, slot as usize).filter(|entry| entry.number == Subflow::FIRST)
    }

    /// Whether another flow's entry keeps `flow` from its place.
    pub fn is_held(&mut self, now: Nanos, flow: u32) -> bool {
        let Spot { index, check } = self.spot(flow);
        self.live(now, index).is_some_and(|entry| entry.check != check && !entry.is_closed())
    }

    /// Puts a subflow into the place of `flow`, whatever is there, and returns the place's number.
    pub fn put(&mut self, now: Nanos, flow: u32, tokens: Tokens, number: Subflow) -> u32 {
        let Spot { index, check } = self.spot(flow);
        let (subflows, fins) = (number.number(), Fins::default());
        self.places[index] = Some(Entry { check, tokens, subflows, number, seen: now, fins });
        index as u32
    }

    /// Forgets `flow`.
    pub fn remove(&mut self, flow: u32) {
        let Spot { index, check } = self.spot(flow);
        self.places[index].take_if(|entry| entry.check == check);
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

    #[inline]
    fn live(&mut self, now: Nanos, index: usize) -> Option<&mut Entry> {
        let entry = self.places.get_mut(index)?.as_mut()?;
        (now.saturating_sub(entry.seen) <= self.idle_after).then_some(entry)
    }

    #[inline]
    fn spot(&self, flow: u32) -> Spot {
        Spot::of(flow, self.salt, self.places.len())
    }

    pub fn state_bytes(&self) -> usize {
        self.places.len() * BYTES_PER_ENTRY
    }
}
