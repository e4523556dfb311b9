//! Counters: the program has one of each per processor, here they are sums.

use aya::maps::Map;
use heddle_bpf_loader::maps::Counts;

use crate::Error;
use crate::abi::{COUNTERS, Count, Counter};

/// The counters of verdicts and events, per service; service 0 stands for packets of none.
pub struct Counters {
    counts: Counts,
}

impl Counters {
    pub(super) fn new(map: Map) -> Result<Self, Error> {
        Ok(Self { counts: Counts::new(map)? })
    }

    /// One counter of one service.
    ///
    /// # Errors
    /// [`Error::Map`] if there is no such service.
    pub fn get(&self, service: u16, counter: Counter) -> Result<Count, Error> {
        self.counts.sum(u32::from(service) * COUNTERS + counter as u32)
    }

    /// Every counter of one service.
    ///
    /// # Errors
    /// [`Error::Map`] if there is no such service.
    pub fn of(&self, service: u16) -> Result<Vec<(Counter, Count)>, Error> {
        Counter::ALL.iter().map(|&counter| Ok((counter, self.get(service, counter)?))).collect()
    }

    /// The largest service number that has counters.
    pub fn last_service(&self) -> u16 {
        (self.counts.room() / COUNTERS).saturating_sub(1).try_into().unwrap_or(u16::MAX)
    }
}

/// Packets and bytes sent to each target, by index.
pub struct TargetCounts {
    counts: Counts,
}

impl TargetCounts {
    pub(super) fn new(map: Map) -> Result<Self, Error> {
        Ok(Self { counts: Counts::new(map)? })
    }

    /// Packets and bytes sent to this target.
    ///
    /// # Errors
    /// [`Error::Map`] if the index is too large.
    pub fn get(&self, target: u32) -> Result<Count, Error> {
        self.counts.sum(target)
    }
}
