//! The targets of packets of which first fragments came.

use aya::maps::Map;
use heddle_bpf_loader::maps::{Access, Memory, array};
use heddle_hashing::hash::{FragmentKey, fragment_place};

use crate::Error;
use crate::abi::FragmentBucket;

/// Both tables of fragments in memory shared with the program, to be read.
#[derive(Debug)]
pub struct Fragments {
    memory: Memory,
}

impl Fragments {
    pub(crate) fn new(map: Map) -> Result<Self, Error> {
        Ok(Self { memory: Memory::new("fragments", array(map)?, Access::Read)? })
    }

    /// True if a packet's first fragment came, and its entry was not taken by another since.
    pub fn has(&self, seed: [u64; 2], key: &FragmentKey) -> bool {
        let buckets = (self.memory.entries(size_of::<FragmentBucket>()) / 2) as u32;
        let place = fragment_place(seed, key, buckets);
        [place.bucket, buckets + place.bucket].into_iter().any(|bucket| {
            let found = self.memory.read::<FragmentBucket>(bucket as usize);
            found.is_some_and(|found| found.fragments.iter().any(|word| is_of(*word, place.tag)))
        })
    }

    /// The places that are not free, as words (bpf/balancer/fragment_table.h), those of settled
    /// flows last. Those that expired stay until another takes their place.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        let words =
            (0..self.memory.entries(size_of::<u64>())).filter_map(|at| self.memory.read(at));
        words.filter(|word| *word != 0)
    }
}

/// True if a word of the table (bpf/balancer/fragment_table.h) has this tag.
fn is_of(word: u64, tag: u32) -> bool {
    let [a, b, c, d, ..] = word.to_ne_bytes();
    word != 0 && u32::from_ne_bytes([a, b, c, d]) == tag
}
