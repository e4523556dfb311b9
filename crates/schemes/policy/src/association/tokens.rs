//! The token table: from a token to the place of its connection's first subflow.
//!
//! A place holds no token: the entry that it leads to does, and is the check. So nothing need be taken out when an entry goes, and
//! two tokens of one connection may share a place.

use alloc::{boxed::Box, vec};
use core::ops::Range;

use heddle_wire::Token;

use super::{
    entries::Tokens,
    sets::{places, set},
};
use crate::mix;

/// The number of a place that no association table has.
const NOWHERE: u32 = u32::MAX;

/// The table.
#[derive(Clone, Debug)]
pub(super) struct TokenTable {
    slots: Box<[u32]>,
    salt: u32,
}

impl TokenTable {
    /// A table for two tokens to each of `entries` entries.
    pub fn new(entries: usize, salt: u32) -> TokenTable {
        TokenTable { slots: vec![NOWHERE; 2 * places(entries)].into_boxed_slice(), salt }
    }

    /// The places where `token` may be.
    pub fn set(&self, token: Token) -> Range<usize> {
        set(mix(token.0, self.salt), self.slots.len())
    }

    /// Where in the association table a place leads.
    pub fn slot(&self, place: usize) -> u32 {
        self.slots[place]
    }

    /// Leads a place to `slot`.
    pub fn put(&mut self, place: usize, slot: u32) {
        self.slots[place] = slot;
    }

    /// Whether one of `tokens` may be in `place`.
    pub fn may_hold(&self, place: usize, tokens: Tokens) -> bool {
        [tokens.a, tokens.b].iter().any(|&token| self.set(token).contains(&place))
    }

    pub fn state_bytes(&self) -> usize {
        self.slots.len() * size_of::<u32>()
    }
}
