//! Arrays that are written now and then: targets and settings.

use aya::maps::{Array, Map, MapData};

use crate::Error;
use crate::abi::{HEDDLE_ABI, Settings, Target};

/// The targets of packets: backends and other balancers, by index from 1.
pub struct Targets {
    map: Array<MapData, Target>,
}

impl Targets {
    pub(super) fn new(map: Map) -> Result<Self, Error> {
        Ok(Self { map: map.try_into()? })
    }

    /// The target of this index; all zero if none was set.
    ///
    /// # Errors
    /// [`Error::Map`] if the index is too large.
    pub fn get(&self, index: u32) -> Result<Target, Error> {
        Ok(self.map.get(&index, 0)?)
    }

    /// Sets the target of this index. The program may meet it half written for a moment: set a new
    /// target before anything names it.
    ///
    /// # Errors
    /// [`Error::Map`] if the index is too large.
    pub fn set(&mut self, index: u32, target: &Target) -> Result<(), Error> {
        Ok(self.map.set(index, target, 0)?)
    }

    /// The capacity, index 0 included.
    pub fn room(&self) -> u32 {
        self.map.len()
    }
}

/// The settings.
pub struct SettingsMap {
    map: Array<MapData, Settings>,
}

impl SettingsMap {
    pub(super) fn new(map: Map) -> Result<Self, Error> {
        Ok(Self { map: map.try_into()? })
    }

    /// As they are; all zero before the first [`SettingsMap::set`].
    ///
    /// # Errors
    /// [`Error::Map`] if the kernel would not.
    pub fn get(&self) -> Result<Settings, Error> {
        Ok(self.map.get(&0, 0)?)
    }

    /// Writes them, with this version's [`HEDDLE_ABI`]. The program may meet them half written for
    /// a moment.
    ///
    /// # Errors
    /// [`Error::Map`] if the kernel would not.
    pub fn set(&mut self, settings: &Settings) -> Result<(), Error> {
        let settings = Settings { abi: HEDDLE_ABI, ..*settings };
        Ok(self.map.set(0, settings, 0)?)
    }

    /// Sets the time of a balancer with [`crate::Clock::Settings`], in ticks.
    ///
    /// # Errors
    /// [`Error::Map`] if the kernel would not.
    pub fn set_now(&mut self, now: u32) -> Result<(), Error> {
        let settings = self.get()?;
        self.set(&Settings { now, ..settings })
    }
}
