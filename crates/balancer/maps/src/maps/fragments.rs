//! The targets of packets of which first fragments came.

use aya::maps::Map;
use heddle_bpf_loader::maps::{Access, Memory, array};

use crate::Error;

/// Both tables of fragments in memory shared with the program, to be read.
#[derive(Debug)]
pub struct Fragments {
    memory: Memory,
}

impl Fragments {
    pub(super) fn new(map: Map) -> Result<Self, Error> {
        Ok(Self { memory: Memory::new("fragments", array(map)?, Access::Read)? })
    }

    /// The places that are not free, as words (bpf/balancer/fragment_table.h), those of settled
    /// flows last. Those that expired stay until another takes their place.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        let words =
            (0..self.memory.entries(size_of::<u64>())).filter_map(|at| self.memory.read(at));
        words.filter(|word| *word != 0)
    }
}
