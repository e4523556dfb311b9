//! The trace that the explaining variant of the program writes of its last frame.

use aya::maps::{Map, MapData, MapError, PerCpuArray, PerCpuValues};
use aya::util::nr_cpus;

use crate::Error;
use crate::abi::Trace;

/// The trace, of which each processor has one.
pub(crate) struct Traces {
    map: PerCpuArray<MapData, Trace>,
}

impl Traces {
    pub fn new(map: Map) -> Result<Self, Error> {
        Ok(Self { map: map.try_into()? })
    }

    /// The trace that was written since the last [`Traces::clear`], by whichever processor.
    pub fn get(&self) -> Result<Option<Trace>, Error> {
        let traces = self.map.get(&0, 0)?;
        Ok(traces.iter().copied().find(|trace| *trace != Trace::default()))
    }

    /// Forgets it.
    pub fn clear(&mut self) -> Result<(), Error> {
        let processors = nr_cpus().map_err(|(_, error)| MapError::IoError(error))?;
        let empty = PerCpuValues::try_from(vec![Trace::default(); processors])
            .map_err(MapError::IoError)?;
        Ok(self.map.set(0, empty, 0)?)
    }
}
