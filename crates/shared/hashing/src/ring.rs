//! Owners of tokens among several balancers, and their seconds: consistent hashing of the token
//! space.
//!
//! The space is cut into [`RING_SIZE`] slots of equal width. Each slot belongs to the balancer
//! whose hash with it is highest (rendezvous hashing: Thaler and Ravishankar, "Using name-based
//! mappings to increase hit rates", 1998). RomanRoads (section III) proposes consistent hashing,
//! with points on a circle as its example. With both, only the slots of the balancer that leaves or
//! joins change their owner, and a slot's second owner is its owner when the first has left. Here
//! the shares are binomial over 4096 slots: with 8 balancers a share of 1/8 has a standard
//! deviation of 4 % of itself, for which a circle needs about 600 points for each balancer.

use alloc::vec::Vec;

use super::hash::{RING_SIZE, ring_slot_of_token};
use super::mix;

#[cfg(test)]
mod tests;

/// The two balancers of each slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ring {
    owners: Vec<u32>,
    seconds: Vec<u32>,
}

impl Ring {
    /// The ring of these balancers, by ids that are equal on all of them; their order does not
    /// matter. Without balancers no slot has an owner, with one alone none has a second.
    pub fn new(balancers: &[u32]) -> Ring {
        let mut ring = Ring { owners: Vec::new(), seconds: Vec::new() };
        for slot in 0..RING_SIZE as u32 {
            let rank = |&&id: &&u32| (mix(id, slot), id);
            let owner = balancers.iter().max_by_key(rank).copied();
            let others = balancers.iter().filter(|&&id| Some(id) != owner);
            ring.owners.extend(owner);
            ring.seconds.extend(others.max_by_key(rank).copied());
        }
        ring
    }

    /// The owner of `token`; `None` without balancers.
    pub fn owner(&self, token: u32) -> Option<u32> {
        self.owners.get(ring_slot_of_token(token)).copied()
    }

    /// The balancer that keeps `token` beside its owner; `None` if there are not two.
    pub fn second(&self, token: u32) -> Option<u32> {
        self.seconds.get(ring_slot_of_token(token)).copied()
    }

    /// The owners of all [`RING_SIZE`] slots; empty without balancers.
    pub fn owners(&self) -> &[u32] {
        &self.owners
    }

    /// The second balancers of all [`RING_SIZE`] slots: each would be the owner if the owner left.
    /// Empty without two balancers.
    pub fn seconds(&self) -> &[u32] {
        &self.seconds
    }
}
