//! The ports of interfaces: an array for those with low numbers, which nearly all have, and a hash
//! table for the others.

use aya::Ebpf;
use aya::maps::{Array, MapData};
use heddle_bpf_loader::maps::Hash;

use crate::Error;
use crate::abi::SWITCH_NEAR_INTERFACES;

/// The number of each interface's port.
pub struct Interfaces {
    near: Array<MapData, u32>,
    far: Hash<u32, u32>,
}

impl Interfaces {
    pub(crate) fn take(object: &mut Ebpf) -> Result<Interfaces, Error> {
        let mut take = |name| object.take_map(name).ok_or(Error::Missing(name));
        let near = take("near_interfaces")?.try_into()?;
        Ok(Interfaces { near, far: Hash::new(take("far_interfaces")?)? })
    }

    /// Sets an interface's port.
    ///
    /// # Errors
    /// [`Error::Map`] if the kernel would not.
    pub fn insert(&mut self, interface: u32, port: u32) -> Result<(), Error> {
        if interface < SWITCH_NEAR_INTERFACES {
            return Ok(self.near.set(interface, port + 1, 0)?);
        }
        self.far.insert(&interface, &(port + 1))
    }

    /// Takes an interface out, if it is there.
    ///
    /// # Errors
    /// [`Error::Map`] if the kernel would not.
    pub fn remove(&mut self, interface: u32) -> Result<(), Error> {
        if interface < SWITCH_NEAR_INTERFACES {
            return Ok(self.near.set(interface, 0, 0)?);
        }
        self.far.remove(&interface)
    }
}
