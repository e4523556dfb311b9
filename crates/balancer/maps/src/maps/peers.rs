//! The program's state of the other balancers.

use aya::maps::Map;
use heddle_bpf_loader::maps::{Access, Memory, array};

use crate::Error;
use crate::abi::PeerState;

/// The states of the other balancers, by their targets' indices, in memory shared with the program.
#[derive(Debug)]
pub struct PeerStates {
    memory: Memory,
}

impl PeerStates {
    pub(crate) fn new(map: Map) -> Result<Self, Error> {
        Ok(Self { memory: Memory::new("peer_states", array(map)?, Access::Write)? })
    }

    /// The state of the balancer that is this target; all zero if nothing was heard of it.
    pub fn get(&self, target: u32) -> PeerState {
        self.memory.read(target as usize).unwrap_or_default()
    }

    /// Forgets what was known: the target is another balancer's from now on.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] if the index is too large.
    pub fn clear(&self, target: u32) -> Result<(), Error> {
        let words = size_of::<PeerState>() / 8;
        let start = target as usize * words;
        (start..start + words).try_for_each(|word| self.memory.write(word, 0))
    }
}
