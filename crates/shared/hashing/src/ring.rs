//! Who of several balancers owns which tokens: consistent hashing of the token space.
//!
//! The space is cut into [`RING_SIZE`] slots of equal width. Each slot belongs to the balancer whose hash with it is highest
//! (rendezvous hashing: Thaler and Ravishankar, "Using name-based mappings to increase hit rates", 1998). RomanRoads (section
//! III) asks for consistent hashing, with points on a circle as its example: both move only what the one who leaves had owned,
//! or the one who comes will own. Here shares are those of fair dice, 4096 of them: with 8 balancers a share of 1/8 has a standard
//! deviation of 4 % of itself, for which a circle needs about 600 points each.

use alloc::vec::Vec;

use super::hash::{RING_SIZE, ring_slot_of_token};
use super::mix;

#[cfg(test)]
mod tests;

/// The owner of each slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ring {
    owners: Vec<u32>,
}

impl Ring {
    /// The ring of these balancers, by the ids that all of them use; their order does not matter. Without any, nobody owns
    /// anything.
    pub fn new(balancers: &[u32]) -> Ring {
        let owner = |slot| {
            let rank = |&&id: &&u32| (mix(id, slot), id);
            balancers.iter().max_by_key(rank).copied()
        };
        Ring { owners: (0..RING_SIZE as u32).filter_map(owner).collect() }
    }

    /// Who owns `token`.
    pub fn owner(&self, token: u32) -> Option<u32> {
        self.owners.get(ring_slot_of_token(token)).copied()
    }

    /// The owners of all slots, [`RING_SIZE`] of them; none where there are no balancers.
    pub fn owners(&self) -> &[u32] {
        &self.owners
    }
}
