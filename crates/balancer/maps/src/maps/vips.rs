//! The addresses that the program handles.

use aya::maps::{Array, Map, MapData};
use heddle_bpf_loader::maps::Hash;

use crate::Error;
use crate::abi::{Vip, VipKey};

/// Services and other addresses by address, port and protocol. The program keeps what it has read
/// of them until it sees that they changed (bpf/balancer/known_vips.h): each change is counted
/// behind it.
pub struct Vips {
    map: Hash<VipKey, Vip>,
    changes: Array<MapData, u32>,
}

impl Vips {
    /// Counts a change: the owner before may have ended between one and its count.
    pub(super) fn new(map: Map, changes: Map) -> Result<Self, Error> {
        let mut vips = Self { map: Hash::new(map)?, changes: changes.try_into()? };
        vips.count_change()?;
        Ok(vips)
    }

    /// The entry of `key`, if there is one.
    ///
    /// # Errors
    /// [`Error::Map`] if the kernel would not.
    pub fn get(&self, key: &VipKey) -> Result<Option<Vip>, Error> {
        self.map.get(key)
    }

    /// Gives `key` this value; the program sees the one before it or this one, nothing in between.
    ///
    /// # Errors
    /// [`Error::Map`] if the map is full.
    pub fn insert(&mut self, key: &VipKey, vip: &Vip) -> Result<(), Error> {
        self.map.insert(key, vip)?;
        self.count_change()
    }

    /// Takes `key` out, if it is there.
    ///
    /// # Errors
    /// [`Error::Map`] if the kernel would not.
    pub fn remove(&mut self, key: &VipKey) -> Result<(), Error> {
        self.map.remove(key)?;
        self.count_change()
    }

    /// All of them, in no order.
    ///
    /// # Errors
    /// [`Error::Map`] if the kernel would not.
    pub fn entries(&self) -> Result<Vec<(VipKey, Vip)>, Error> {
        self.map.entries()
    }

    fn count_change(&mut self) -> Result<(), Error> {
        let changes = self.changes.get(&0, 0)?;
        Ok(self.changes.set(0, changes.wrapping_add(1), 0)?)
    }
}
