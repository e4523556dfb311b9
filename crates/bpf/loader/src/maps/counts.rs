//! Counters: the program has one of each per processor, here they are sums.

use aya::maps::{Map, MapData, PerCpuArray};

use crate::Error;
use crate::abi::Count;

/// An array of `struct count`, per processor.
pub struct Counts {
    map: PerCpuArray<MapData, Count>,
}

impl Counts {
    /// The counters in `map`.
    ///
    /// # Errors
    /// [`Error::Map`] if it is a map of another type.
    pub fn new(map: Map) -> Result<Self, Error> {
        Ok(Self { map: map.try_into()? })
    }

    /// One count over all processors.
    ///
    /// # Errors
    /// [`Error::Map`] if the index is too large.
    pub fn sum(&self, index: u32) -> Result<Count, Error> {
        let counts = self.map.get(&index, 0)?;
        Ok(counts.iter().fold(Count::default(), |all, one| Count {
            packets: all.packets.wrapping_add(one.packets),
            bytes: all.bytes.wrapping_add(one.bytes),
        }))
    }

    /// The number of counters.
    pub fn room(&self) -> u32 {
        self.map.len()
    }
}
