//! The token table: from a token to the place of its connection's first subflow.
//!
//! A place holds no token: the entry that it leads to does, and is the check. So nothing need be taken out when an entry goes.

use alloc::{boxed::Box, vec};

use heddle_wire::Token;

use super::entries::Tokens;
use crate::mix;

/// The number of a place that no association table has.
const NOWHERE: u32 = u32::MAX;

/// The table.
#[derive(Clone, Debug)]
pub(super) struct TokenTable {
    places: Box<[u32]>,
    salt: u32,
}

impl TokenTable {
    /// A table for two tokens to each of `slots` entries.
    pub fn new(slots: usize, salt: u32) -> TokenTable {
        TokenTable { places: vec![NOWHERE; 2 * slots.next_power_of_two()].into_boxed_slice(), salt }
    }

    /// The place in the association table that `token` leads to, if any entry there has it.
    pub fn slot_of(&self, token: Token) -> u32 {
        self.places[self.index(token)]
    }

    /// Leads `token` to `slot`.
    pub fn put(&mut self, token: Token, slot: u32) {
        self.places[self.index(token)] = slot;
    }

    /// Whether one of `tokens` has the same place as `token`.
    pub fn shares_place(&self, token: Token, tokens: Tokens) -> bool {
        [tokens.a, tokens.b].iter().any(|&other| self.index(other) == self.index(token))
    }

    fn index(&self, token: Token) -> usize {
        mix(token.0, self.salt) as usize & (self.places.len() - 1)
    }

    pub fn state_bytes(&self) -> usize {
        self.places.len() * size_of::<u32>()
    }
}
