//! Maps of which the longest prefix matches.

use aya::Pod;
use aya::maps::lpm_trie::{Key, LpmTrie};
use aya::maps::{Map, MapData, MapError};

use super::hash::is_absence;
use crate::Error;

/// A key: the first bits of some data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Prefix<K> {
    /// Number of bits.
    pub bits: u32,
    /// The data; what is behind those bits is not looked at.
    pub data: K,
}

impl<K: Pod> From<Prefix<K>> for Key<K> {
    fn from(prefix: Prefix<K>) -> Key<K> {
        Key::new(prefix.bits, prefix.data)
    }
}

/// A trie in the kernel (`BPF_MAP_TYPE_LPM_TRIE`).
pub struct Prefixes<K: Pod, V: Pod> {
    map: LpmTrie<MapData, K, V>,
}

impl<K: Pod, V: Pod> Prefixes<K, V> {
    /// The trie `map`.
    ///
    /// # Errors
    /// [`Error::Map`] if it is a map of another type.
    pub fn new(map: Map) -> Result<Self, Error> {
        Ok(Self { map: map.try_into()? })
    }

    /// Gives a prefix this value.
    ///
    /// # Errors
    /// [`Error::Map`] if the map is full.
    pub fn insert(&mut self, prefix: Prefix<K>, value: &V) -> Result<(), Error> {
        Ok(self.map.insert(&prefix.into(), value, 0)?)
    }

    /// Takes a prefix out, if it is there.
    ///
    /// # Errors
    /// [`Error::Map`] if the kernel would not.
    pub fn remove(&mut self, prefix: Prefix<K>) -> Result<(), Error> {
        match self.map.remove(&prefix.into()) {
            Err(MapError::SyscallError(error)) if is_absence(&error.io_error) => Ok(()),
            other => Ok(other?),
        }
    }

    /// All prefixes and values.
    ///
    /// # Errors
    /// [`Error::Map`] if the kernel would not.
    pub fn entries(&self) -> Result<Vec<(Prefix<K>, V)>, Error> {
        let entries = self.map.iter().map(|entry| {
            entry.map(|(key, value)| (Prefix { bits: key.prefix_len(), data: key.data() }, value))
        });
        Ok(entries.collect::<Result<Vec<_>, MapError>>()?)
    }
}
