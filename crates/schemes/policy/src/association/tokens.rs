//! The token table: from a token to the slot of its connection's first subflow.
//!
//! An entry of this table does not store the token: the association entry that it refers to does.
//! So nothing is removed here with an association entry, and the two tokens of one connection may
//! share an index.

use alloc::boxed::Box;
use core::ops::Range;

use bytemuck::zeroed_slice_box;
use heddle_wire::Token;

use super::{
    buckets::{bucket, slots},
    entries::Tokens,
};
use crate::{Digest, mix};

/// The table.
#[derive(Clone, Debug)]
pub(super) struct TokenTable {
    /// Each slot's number and 1, or 0.
    entries: Box<[u32]>,
    salt: u32,
}

impl TokenTable {
    /// A table for two tokens to each of `entries` entries. They take memory once they are used.
    pub fn new(entries: u32, salt: u32) -> TokenTable {
        TokenTable { entries: zeroed_slice_box(2 * slots(entries) as usize), salt }
    }

    /// Indices at which `token` may be stored.
    pub fn bucket(&self, token: Token) -> Range<usize> {
        bucket(mix(token.0, self.salt), self.entries.len())
    }

    /// Slot of the association table that an entry refers to. Without one it is 0xffffffff, which
    /// no table has.
    pub fn slot(&self, index: usize) -> u32 {
        self.entries[index].wrapping_sub(1)
    }

    /// Stores `slot` at `index`.
    pub fn insert(&mut self, index: usize, slot: u32) {
        self.entries[index] = slot + 1;
    }

    /// True if one of `tokens` may be stored at `index`.
    pub fn may_hold(&self, index: usize, tokens: Tokens) -> bool {
        [tokens.a, tokens.b].iter().any(|&token| self.bucket(token).contains(&index))
    }

    /// Adds the slot of each entry, 0xffffffff where there is none.
    pub fn digest(&self, digest: &mut Digest) {
        (0..self.entries.len()).for_each(|index| digest.word(self.slot(index)));
    }

    pub fn state_bytes(&self) -> usize {
        self.entries.len() * size_of::<u32>()
    }
}
